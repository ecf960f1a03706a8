"""The labels that stand for queries and for concepts: their own, or of one above them, that many people mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.texts._phrases_kernels import choose_labels, count_reached

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog

__all__ = ["LEAST_DEPTH", "SharedLabels", "clear_name", "labels_of_concepts", "no_labels", "shared_labels"]

LEAST_DEPTH: Final = 5
"""Labels nearer the root say too little: they are published only of a query's own concept."""


class SharedLabels(NamedTuple):
    """Which labels may be published."""

    of_query: npt.NDArray[np.int32]
    """int32[queries], the concept whose label stands for each, -1 = none"""
    of_concept: npt.NDArray[np.int64]
    """int64[concepts], the concept whose label stands for each that is in the log, -1 = none"""
    people: npt.NDArray[np.int64]
    """int64[concepts], how many people's queries reach each"""


def shared_labels(
    n_queries: int, people_of: Ragged, n_users: int, least: int, concepts: ConceptLog, taxonomy: Taxonomy
) -> SharedLabels:
    """Find which labels may be published; least: how many people must mean one.

    `people_of`: row q = the people who asked query q, each once. A query reaches its concepts and all above them. Only
    certain mappings count: what was learned from the log itself, from its clicks, says who clicked what, and gives no
    label.
    """
    if concepts.learned:
        return no_labels(n_queries, taxonomy)
    known = concepts.known()
    pairs, first = np.unique(known.query.astype(np.int64) * len(taxonomy) + known.concept, return_index=True)
    query, concept = (part.astype(np.int32) for part in np.divmod(pairs, len(taxonomy)))
    left_first = np.lexsort((first, query))  # units of a query come from left to right
    concepts_of = Ragged.of(query[left_first], concept[left_first], n_queries)
    queries_of = Ragged.of(concept, query, len(taxonomy))
    wanted = taxonomy.depth >= LEAST_DEPTH
    wanted[concept] = True
    reached = count_reached(queries_of, taxonomy.size, wanted, people_of, n_users)
    return SharedLabels(
        choose_labels(concepts_of, taxonomy.parent, taxonomy.depth, reached, least, LEAST_DEPTH),
        labels_of_concepts(reached >= least, taxonomy),
        reached,
    )


def no_labels(n_queries: int, taxonomy: Taxonomy) -> SharedLabels:
    """Return that there is no label for anything."""
    none = np.full(len(taxonomy), -1, dtype=np.int64)
    return SharedLabels(np.full(n_queries, -1, dtype=np.int32), none, np.zeros(len(taxonomy), dtype=np.int64))


def clear_name(taxonomy: Taxonomy, concept: int) -> str | None:
    """Return a label of a concept that means this concept first, not another one; None where there is none."""
    names = taxonomy.labels[concept]
    return next((name for name in names if taxonomy.first_sense[name.lower()] == concept), None)


def labels_of_concepts(enough: npt.NDArray[np.bool_], taxonomy: Taxonomy) -> npt.NDArray[np.int64]:
    """int64[concepts]: the nearest at or above each whose label enough people mean, one with a clear name first."""
    clear = np.zeros(len(enough), dtype=np.bool_)
    clear[[c for c in np.flatnonzero(enough).tolist() if clear_name(taxonomy, c) is not None]] = True
    best = _nearest(clear, taxonomy)
    return np.where(best >= 0, best, _nearest(enough, taxonomy))


def _nearest(good: npt.NDArray[np.bool_], taxonomy: Taxonomy) -> npt.NDArray[np.int64]:
    """int64[concepts]: each concept if it is good, else the nearest above it, at LEAST_DEPTH or deeper; -1 = none."""
    out = np.where(good, np.arange(len(good)), -1)
    for level in range(LEAST_DEPTH + 1, int(taxonomy.depth.max(initial=0)) + 1):  # parents first
        node = np.flatnonzero((taxonomy.depth == level) & ~good)
        out[node] = out[taxonomy.parent[node]]
    return out
