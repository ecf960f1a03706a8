"""Which label stands for each concept of a log."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import taxonomies

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.texts.phrases import shared_texts
from querycloak.texts.text_settings import TextRule


def labels_of(taxonomy, meant, rule, *, learned=False):
    """Return `SharedTexts.label` of a log in which each (person, concept) is a query of its own."""
    log = QueryLog.of([f"user {u}" for u, _ in meant], [f"q{i}" for i in range(len(meant))])
    concept = np.array([c for _, c in meant], np.int32)
    known = ConceptLog(np.arange(len(meant)), log.user, log.query, concept, learned=learned)
    return shared_texts(log, rule, concepts=known, taxonomy=taxonomy).label


@given(
    taxonomies(most=16),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 15)), min_size=1, max_size=20),
    st.integers(1, 4),
)
def test_it_is_the_nearest_that_enough_people_mean(taxonomy, meant, people) -> None:
    meant = [(u, c % len(taxonomy)) for u, c in meant]
    got = labels_of(taxonomy, meant, TextRule(people, "phrase", "drop"))
    for _, c in meant:
        found = [
            a
            for a in taxonomy.ancestors(c)
            if (a == c or taxonomy.depth[a] >= 5) and len({u for u, x in meant if a in taxonomy.ancestors(x)}) >= people
        ]
        assert got[c] == (found[0] if found else -1)


@pytest.mark.parametrize(("rare", "learned"), [("drop", False), ("keep", False), ("phrase", True), ("label", True)])
def test_there_is_none_where_none_may_be_published(rare, learned) -> None:
    taxonomy = Taxonomy.from_parents([-1, 0], [["top"], ["tea"]])
    rule = TextRule(1, rare, "drop")
    assert (labels_of(taxonomy, [(0, 1), (1, 1)], rule, learned=learned) == -1).all()


@pytest.mark.parametrize(("most", "expected"), [(None, 1), (3, 1), (2, -1)])
def test_ids_with_too_many_rows_are_nobody(most, expected) -> None:
    taxonomy = Taxonomy.from_parents([-1, 0], [["top"], ["tea"]])
    rule = TextRule(2, "phrase", "drop", most_rows=most)
    assert labels_of(taxonomy, [(0, 1), (1, 1), (1, 1), (1, 1)], rule)[1] == expected


def test_a_concept_without_a_clear_name_takes_the_label_above_it() -> None:
    """Concepts 1 to 6 are one below the other; "bank" means another concept first."""
    names = [["top"], ["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["bank"], ["bank"]]
    taxonomy = Taxonomy.from_parents([-1, 0, 1, 2, 3, 4, 5, 6, 0], names)
    first, other = taxonomy.find("bank")
    assert taxonomy.depth[first] == 1
    got = labels_of(taxonomy, [(0, other)], TextRule(1, "phrase", "drop"))
    assert taxonomy.label(int(got[other])) == "f"
    flat = Taxonomy.from_parents([-1, 0, 0, 2], [["top"], ["bank"], ["money"], ["bank"]])
    assert labels_of(flat, [(0, 3)], TextRule(1, "phrase", "drop"))[3] == 3  # nothing better is deep enough
