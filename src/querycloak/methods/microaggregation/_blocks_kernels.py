"""Kernel of the topical blocks: where in the taxonomy most of each user's weight is.

The memory: `UserConcepts`, read only (tree_node, tree_skip: a user's subtree, depth-first, and how far to step over a
node's part of it). below: int64[a], the user's weight at or below a node; only the nodes of the current user's tree
are valid, and are set to 0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.distances.user_concepts import UserConcepts

__all__ = ["topics"]


@kernel
def topics(users: UserConcepts) -> npt.NDArray[np.int32]:
    """Return each user's topic: int32[n], the node reached; ties go to the child that comes first."""
    n = len(users.weight)
    parent, tree_node, tree_skip = users.parent, users.tree_node, users.tree_skip
    below = np.zeros(len(parent), dtype=np.int64)
    topic = np.empty(n, dtype=np.int32)
    for u in range(n):
        first, last = users.tree_start[u], users.tree_start[u + 1]
        for p in range(first, last):
            below[tree_node[p]] = 0
        for i in range(users.start[u], users.start[u + 1]):
            below[users.node[i]] = users.times[i]
        for p in range(last - 1, first, -1):  # backwards: every node is added up before its parent reads it
            below[parent[tree_node[p]]] += below[tree_node[p]]
        at = first
        while tree_skip[at] > 1:  # until a node with nothing below it
            best = at + 1
            child = at + 1
            while child < at + tree_skip[at]:
                if below[tree_node[child]] > below[tree_node[best]]:
                    best = child
                child += tree_skip[child]
            at = best
        topic[u] = tree_node[at]
    return topic
