"""A taxonomy without the concepts that nobody asked about: what is left are those that occur and all above them.

The paper on `clump` took its tree from the nouns of its log: 25,645 items, where WordNet has 82,115. In a tree pruned
to the log a concept of the log with none of the log below it is a leaf, and losses (LM) are shares of the leaves of the
log. What such a tree looks like depends on the log; `docs/methods/clump.md` has figures of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.knowledge.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CostTree", "cost_tree"]

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CostTree:
    """The tree over which generalizing is costed: the taxonomy, or what is left of it."""

    tree: Taxonomy
    concept: Int32s
    """int32[nodes], concept of the taxonomy that each node is; ascending, so that orders are the same in both"""
    node: Int32s
    """int32[concepts + 1], node of each concept, -1 = pruned away; the last is -1, for concepts that are not known"""

    def nodes(self, rows: Ragged) -> Ragged:
        """Return rows of concepts as rows of nodes."""
        return Ragged(rows.start, self.node[rows.values])

    def concepts(self, rows: Ragged) -> Ragged:
        """Return rows of nodes as rows of concepts."""
        return Ragged(rows.start, self.concept[rows.values])


def cost_tree(taxonomy: Taxonomy, concepts: npt.NDArray[np.integer[Any]], settings: Mapping[str, Any]) -> CostTree:
    """Return the tree that a method with these settings takes: with `prune`, that of the log's concepts.

    `concepts` are those of the log, in any order; those below 0 are left out.

    >>> food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
    >>> found = cost_tree(food, np.array([3, 3, -1]), {"prune": True})
    >>> found.tree.labels, found.concept.tolist(), found.node.tolist()
    ([['food'], ['fruit'], ['pear']], [0, 1, 3], [0, 1, -1, 2, -1, -1])
    """
    kept = np.zeros(len(taxonomy), dtype=np.bool_)
    if settings.get("prune"):
        kept[0] = True
        kept[concepts[concepts >= 0]] = True
        for depth in range(taxonomy.height, 0, -1):
            kept[taxonomy.parent[kept & (taxonomy.depth == depth)]] = True
    else:
        kept[:] = True
    concept = np.flatnonzero(kept).astype(np.int32)
    node = np.full(len(taxonomy) + 1, -1, dtype=np.int32)
    node[concept] = np.arange(len(concept), dtype=np.int32)
    if len(concept) == len(taxonomy):
        return CostTree(taxonomy, concept, node)
    parent = node[taxonomy.parent[concept]]  # the root's -1 is the last of `node`
    labels = [taxonomy.labels[c] for c in concept.tolist()]
    return CostTree(Taxonomy.from_depth_first(parent, labels, name=taxonomy.name), concept, node)
