"""Clump: clusters of k or more similar users, each user published as the least common generalization of its cluster.

Paper: Milani Fard and Wang, An Effective Clustering Approach to Web Query Log Anonymization, 2010. D = users with a
concept, r = `search`, T = the taxonomy.

Why the guarantee holds. Write n_t(v) for the items of t in the subtree of v. Going up, each node v publishes the
minimum over the cluster of what is left of n_t(v) after all that was published below, so by induction the subtree of
v publishes min over t of n_t(v) items in all. Three things follow. (1) The result depends on the cluster alone and
min is associative: Lemma 1, in any order. (2) At the root, the length is that of the shortest transaction: Property 2
without padding. (3) In every subtree there are no more published items than items of t; subtrees are nested or
disjoint, so by Hall's theorem each published item can be given an item of t of its own: Definition 1, for every t of
the cluster. Any other common generalization has at most as many items in every subtree, so this one is the least.

Departures from the paper, each an option: remainders are carried up (Algorithm 2 forgets them, and Lemma 1 then
fails; `lcg`), and the best cluster is where GGD rises least (Algorithm 1 takes the lowest GGD, which draws
transactions to clusters that are still small; `choose`). Transactions of one length are ordered by their concepts.
`docs/methods/clump.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.errors import ParameterError
from querycloak.knowledge.generalization import leaf_loss
from querycloak.knowledge.pruning import cost_tree
from querycloak.methods.generalization import _clump_kernels as kernels
from querycloak.methods.generalization._generalized_release import (
    GeneralizationSettings,
    release_generalized,
    transactions_of,
)
from querycloak.progress import QUIET, Progress
from querycloak.settings import setting

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["Clump", "clump", "clusters_of", "length_is"]


_PAPER: Final[dict[str, Any]] = {"choose": "total", "lcg": "printed", "refine": False, "prune": True}
_USUAL: Final[dict[str, Any]] = {"choose": "rise", "lcg": "least", "prune": False}


@dataclass(frozen=True)
class Clump(GeneralizationSettings):
    """Settings of `clump`."""

    search: int = setting(10, "clusters with room that are tried for each user (r in the paper)", minimum=1)
    order: str = setting(
        "decreasing",
        "order in which users are placed, by number of items",
        choices=("decreasing", "increasing", "random"),
    )
    duplicates: str = setting(
        "keep", "the same concept several times in a published transaction: keep, or drop", choices=("keep", "drop")
    )
    transactions: str = setting(
        "sets", "what a user brings: each concept once (sets), or as often as asked (bags)", choices=("sets", "bags")
    )
    choose: str | None = setting(
        None,
        "best cluster: where distortion rises least, or where its total is lowest",
        choices=("rise", "total"),
        shown="rise",
    )
    leftovers: str = setting(
        "all", "clusters tried for the last users, fewer than k: all, or the last `search`", choices=("all", "search")
    )
    lcg: str | None = setting(
        None,
        "generalization: the least one, or Algorithm 2 as printed, which is not",
        choices=("least", "printed"),
        shown="least",
    )
    refine: bool | None = setting(
        None,
        "afterwards swap and move users between clusters while distortion falls",
        shown="yes, but not with --lcg printed",
    )
    passes: int = setting(4, "most passes of --refine", minimum=1)
    as_in_paper: bool = setting(
        False, "as the paper: --choose total, --lcg printed, --no-refine, --prune; the same guarantee, more distortion"
    )

    def __post_init__(self) -> None:
        for name, value in (_PAPER if self.as_in_paper else _USUAL).items():
            given = getattr(self, name)
            if given is None:
                object.__setattr__(self, name, value)
            elif self.as_in_paper and given != value:
                expected = f"{value} with as_in_paper, which sets it"
                raise ParameterError.of(f"{type(self).__name__}.{name}", expected, given)
        if self.refine is None:
            object.__setattr__(self, "refine", self.lcg == "least")
        super().__post_init__()
        if self.refine and self.lcg == "printed":
            raise ParameterError("Clump.refine needs lcg = least: the printed form has no Lemma 1 to build on.")


def clump(
    log: QueryLog,
    settings: Clump,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Cluster the users of a log and publish each as its cluster's least common generalization (Section III)."""
    users, bags = transactions_of(log, concepts, settings.k, "clump", distinct=settings.transactions == "sets")
    progress.start("clustering")
    costs = cost_tree(taxonomy, concepts.concept, settings.to_json())
    of, shared = clusters_of(costs.nodes(bags), costs.tree, settings, random, progress)
    if settings.duplicates == "drop":
        shared = shared.distinct()
    progress.start("publishing")
    return release_generalized(
        log,
        concepts,
        taxonomy,
        random,
        settings,
        method="clump",
        users=users,
        transactions=bags,
        of=of,
        shared=costs.concepts(shared),
        length_is=length_is(settings),
    )


def length_is(settings: Clump) -> str:
    """Say what the length of a published transaction gives away."""
    dropped = ", less what was dropped as duplicate" if settings.duplicates == "drop" else ""
    return f"the number of rows of an id is the length of the shortest transaction in its cluster{dropped}"


def clusters_of(
    bags: Ragged, taxonomy: Taxonomy, settings: Clump, random: Randomness, progress: Progress = QUIET
) -> tuple[npt.NDArray[np.int32], Ragged]:
    """Cluster transactions: the cluster of each (int32[n]), and the least common generalization of each cluster.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> from querycloak.randomness import Randomness
    >>> food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
    >>> food.labels
    [['food'], ['fruit'], ['apple'], ['pear'], ['meat']]
    >>> bags = Ragged.of_lists([[2, 4], [3, 4]], np.int32)  # apple, meat; pear, meat
    >>> of, shared = clusters_of(bags, food, Clump(k=2), Randomness(seed=1))
    >>> of.tolist(), [food.label(c) for c in shared.values]
    ([0, 0], ['fruit', 'meat'])
    """
    loss, divisor = leaf_loss(taxonomy)
    tree = kernels.Tree(taxonomy.parent, taxonomy.size, loss, divisor, taxonomy.height, settings.lcg == "least")
    found = kernels.clump_kernel(
        tree,
        bags,
        _order(bags, settings, random),
        settings.k,
        settings.search,
        settings.leftovers == "all",
        settings.choose == "rise",
    )
    of: npt.NDArray[np.int32] = found.of
    if settings.refine:
        progress.start("refining")
        kernels.refine_kernel(tree, bags, of, settings.k, settings.search, settings.passes)
        return of, Ragged(*kernels.generalize_kernel(tree, bags, of))
    start = row_starts(found.length)  # each cluster has room for its seed; leave out what it did not need
    index = np.repeat(found.start - start[:-1], found.length) + np.arange(start[-1])
    return of, Ragged(start, found.items[index])


def _order(bags: Ragged, settings: Clump, random: Randomness) -> npt.NDArray[np.int64]:
    """Return the order of assignment (Step 1): int64[n].

    The paper leaves transactions of one length in any order. Here they go by their concepts, which lie depth-first:
    similar ones come near each other, and so near each other's clusters.
    """
    if settings.order == "random":
        return random.child("order").permutation(bags.rows)
    raw = bags.values.astype(">i4").tobytes()  # bytes, big end first, compare as the lists of concepts do
    keys = [raw[4 * a : 4 * b] for a, b in pairwise(bags.start.tolist())]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    lengths = bags.lengths[order]
    return order[np.argsort(-lengths if settings.order == "decreasing" else lengths, kind="stable")]
