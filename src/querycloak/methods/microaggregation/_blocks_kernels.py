"""Kernel of the topical blocks: where in the taxonomy each user's weight sits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.distances.user_bags import Bags

__all__ = ["topics"]


@kernel
def topics(bags: Bags) -> npt.NDArray[np.int32]:
    """Return each user's topic: int32[n], the node reached; ties go to the child that comes first."""
    n = len(bags.weight)
    parent, tree_node, tree_skip = bags.parent, bags.tree_node, bags.tree_skip
    below = np.zeros(len(parent), dtype=np.int64)
    topic = np.empty(n, dtype=np.int32)
    for u in range(n):
        first, last = bags.tree_start[u], bags.tree_start[u + 1]
        for p in range(first, last):
            below[tree_node[p]] = 0
        for i in range(bags.start[u], bags.start[u + 1]):
            below[bags.node[i]] = bags.times[i]
        for p in range(last - 1, first, -1):
            below[parent[tree_node[p]]] += below[tree_node[p]]
        at = first
        while tree_skip[at] > 1:
            best = at + 1
            child = at + 1
            while child < at + tree_skip[at]:
                if below[tree_node[child]] > below[tree_node[best]]:
                    best = child
                child += tree_skip[child]
            at = best
        topic[u] = tree_node[at]
    return topic
