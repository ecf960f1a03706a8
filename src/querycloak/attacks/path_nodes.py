"""A taxonomy as a reader of a release sees it: where paths alone are published, concepts with one path are one node.

A release of items has a key for each concept, and each concept is a node. One of an earlier version, or of
`histogram-dp`, names concepts by their paths. In WordNet 1,742 of 82,115 concepts share their path with another one
(two senses of `region` under `location`). Who takes such a path for the first of them finds that one person in twelve
never asked what is published under that person's id.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["PathNodes", "path_nodes", "release_nodes"]

if TYPE_CHECKING:
    from querycloak.releases.release import ItemRelease, Release

    Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class PathNodes:
    """The tree of what can be told apart of a taxonomy, in depth-first order."""

    tree: Taxonomy
    of: npt.NDArray[np.int32]
    """int32[concepts + 1], node of each concept; the last is -1, so that of[-1] of no concept is no node"""
    several: npt.NDArray[np.bool_]
    """bool[nodes], more than one concept is this node"""

    def published(self, release: Release, taxonomy: Taxonomy) -> npt.NDArray[np.int32]:
        """int32[rows of a release of items]: the node of each row, -1 where the taxonomy does not have its concept."""
        return self.of[cast("ItemRelease", release).concept_of_row(taxonomy)]

    def above(self, nodes: Ints) -> Ragged:
        """Return each node with all its ancestors, upwards, the root last; a row for each of the nodes."""
        lengths = self.tree.depth[nodes].astype(np.int64) + 1
        start = np.concatenate([[0], np.cumsum(lengths)])
        out = np.empty(start[-1], dtype=np.int32)
        row, at = np.arange(len(nodes)), np.asarray(nodes, dtype=np.int32)
        for step in range(int(lengths.max(initial=0))):
            out[start[row] + step] = at
            further = at > 0  # the root is node 0
            row, at = row[further], self.tree.parent[at[further]]
        return Ragged(start, out)


def release_nodes(release: Release, taxonomy: Taxonomy) -> PathNodes:
    """Return the nodes that a reader of this release of items can tell apart."""
    if not cast("ItemRelease", release).has_keys:
        return path_nodes(taxonomy)
    of = np.append(np.arange(len(taxonomy), dtype=np.int32), np.int32(-1))
    return PathNodes(taxonomy, of, np.zeros(len(taxonomy), dtype=np.bool_))


@lru_cache(maxsize=4)
def path_nodes(taxonomy: Taxonomy) -> PathNodes:
    """Return the tree of the distinct paths of a taxonomy.

    >>> region = Taxonomy.from_parents([-1, 0, 1, 0], [["location"], ["region"], ["spot"], ["region"]])
    >>> found = path_nodes(region)
    >>> found.tree.labels, found.of.tolist(), found.several.tolist()
    ([['location'], ['region'], ['spot']], [0, 1, 2, 1, -1], [False, True, False])
    """
    label = np.unique([taxonomy.label(c) for c in range(len(taxonomy))], return_inverse=True)[1].astype(np.int64)
    first = np.arange(len(taxonomy))  # the first concept with the path of each
    for depth in range(1, taxonomy.height + 1):
        here = np.flatnonzero(taxonomy.depth == depth)
        key = first[taxonomy.parent[here]] * (int(label.max()) + 1) + label[here]
        _, index, of = np.unique(key, return_index=True, return_inverse=True)
        first[here] = here[index[of]]
    kept, node, count = np.unique(first, return_inverse=True, return_counts=True)
    above = np.append(node[taxonomy.parent[kept[1:]]], -1)[np.arange(len(kept)) - 1]
    tree, order = Taxonomy.from_parents_with_order(above, [[taxonomy.label(c)] for c in kept.tolist()])
    new = np.empty(len(order), dtype=np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    return PathNodes(tree, np.append(new[node], np.int32(-1)), count[order] > 1)
