"""Small taxonomies and bags of their concepts, for tests of generalization."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from querycloak.arrays.ragged import Ragged
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog

FOOD = Taxonomy.from_parents(
    [-1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3],
    [
        *(["food"], ["fruit"], ["meat"], ["dairy"]),
        *(["apple"], ["orange"], ["banana"], ["beef"], ["chicken"], ["milk"], ["cheese"], ["butter"]),
    ],
)
"""Figure 1 of Milani Fard and Wang."""


def bag(words: str) -> list[int]:
    """Concepts of FOOD by label, ascending."""
    labels = [FOOD.label(c) for c in range(len(FOOD))]
    return sorted(labels.index(word) for word in words.split())


TABLE_II = [
    bag(line)
    for line in (
        "orange chicken beef",
        "banana beef cheese",
        "chicken milk butter",
        "apple chicken",
        "chicken beef",
    )
]
"""t1 to t5 of the paper's complete example."""


def words(items) -> list[str]:
    return sorted(FOOD.label(int(c)) for c in items)


def bags(lists) -> Ragged:
    """Return plain lists as rows, each ascending."""
    return Ragged.of_lists([sorted(one) for one in lists], np.int32)


def lists(found: Ragged) -> list[list[int]]:
    return found.to_lists()


def log_of(transactions, taxonomy=FOOD, *, unmapped=()):
    """A log in which user u asks for each of its concepts, and users of `unmapped` for something unknown."""
    rows = [(f"u{u}", taxonomy.label(c), c) for u, items in enumerate(transactions) for c in items]
    rows += [(name, "zzz", -1) for name in unmapped]
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows])
    return log, concept_log(log, [r[2] for r in rows])


def concept_log(log, concept):
    return ConceptLog(np.arange(len(log), dtype=np.int64), log.user, log.query, np.array(concept, dtype=np.int32))


def published(release):
    """Rows of each published id, in order: label and path."""
    log, out = release.log, {}
    for user, query, category in zip(log.user.tolist(), log.query.tolist(), log.category.tolist(), strict=True):
        out.setdefault(log.users[user], []).append((log.queries[query], log.categories[category]))
    return out


@st.composite
def trees(draw, most=12):
    """A random tree: the parent of each node is any earlier one."""
    n = draw(st.integers(1, most))
    parents = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, n)]
    return Taxonomy.from_parents(parents, [[f"c{i}"] for i in range(n)])


@st.composite
def trees_with_bags(draw, fewest=1, most=6, longest=6, *, distinct=False):
    """A random tree and bags of its concepts, inner ones included; no bag is empty."""
    tree = draw(trees())
    one = st.lists(st.integers(0, len(tree) - 1), min_size=1, max_size=longest, unique=distinct).map(sorted)
    return tree, draw(st.lists(one, min_size=fewest, max_size=most))
