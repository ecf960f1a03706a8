"""Kernel of the representatives: which concepts are published for a group (Batet et al. 2013, section 4.3).

The memory:

    users     UserConcepts, read only: the concepts of u are start[u] .. start[u + 1] - 1 of node and times
    groups    Ragged, row g = the users of group g
    quota     int64[users], how many nodes each user gives
    out       int32, the nodes of group g are out_start[g] .. out_start[g + 1] - 1; a thread writes its groups only
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged
    from querycloak.distances.user_concepts import UserConcepts

__all__ = ["representatives"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def _delta(parent: Int32s, depth: Int32s, delta: npt.NDArray[np.int32], x: int, y: int) -> np.int32:
    """Return the distance of two nodes (eq. 1). In depth-first order the larger of two nodes is no ancestor."""
    union = depth[x] + depth[y]
    while x != y:
        if x > y:
            x = parent[x]
        else:
            y = parent[y]
    return delta[depth[x], union - depth[x]]  # type: ignore[no-any-return]


@kernel
def _centroid_node(users: UserConcepts, members: Int64s) -> np.int64:
    """Find the node with the smallest weighted distance to all nodes of the group (eq. 6); ties: the first."""
    _parent, _depth, _delta = users.parent, users.depth, users.delta
    size = 0
    for u in members:
        size += users.start[u + 1] - users.start[u]
    node = np.empty(size, dtype=np.int64)
    count = np.empty(size, dtype=np.int64)
    end = 0
    for u in members:
        for i in range(users.start[u], users.start[u + 1]):
            node[end] = users.node[i]
            count[end] = users.times[i]
            end += 1
    order = np.argsort(node, kind="mergesort")
    distinct = 0
    merged, weight = np.empty(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for at in order:
        if distinct == 0 or merged[distinct - 1] != node[at]:
            merged[distinct] = node[at]
            distinct += 1
        weight[distinct - 1] += count[at]
    return merged[_smallest_sum(users, merged[:distinct], weight[:distinct])]  # type: ignore[no-any-return]


@kernel
def _smallest_sum(users: UserConcepts, node: Int64s, weight: Int64s) -> int:
    """Find the node with the smallest weighted sum of distances to all: its index, the first of equals.

    A distance depends on three depths: those of the two nodes and of their lowest common ancestor. Nodes are in
    depth-first order, so those that share with node i an ancestor at some level are neighbours of i: a range that
    grows as the level falls. What one level adds to the range is at one depth of the ancestor, and `below`, the sums
    of weights by depth, says how much of it is at which depth. So a node costs levels times depths, not all nodes.

        shared    int64[nodes + 1], depth of the lowest common ancestor of nodes j - 1 and j; -1 at both ends
        below     int64[nodes + 1, depths], weight of the nodes before j at each depth
    """
    parent, depth, delta = users.parent, users.depth, users.delta
    n = len(node)
    deepest = 0
    for i in range(n):
        deepest = max(deepest, depth[node[i]])
    shared = np.full(n + 1, -1, dtype=np.int64)
    below = np.zeros((n + 1, deepest + 1), dtype=np.int64)
    for i in range(n):
        below[i + 1] = below[i]
        below[i + 1, depth[node[i]]] += weight[i]
        if i:
            x, y = node[i - 1], node[i]
            while x != y:
                if x > y:
                    x = parent[x]
                else:
                    y = parent[y]
            shared[i] = depth[x]
    best, smallest = 0, np.int64(-1)
    for i in range(n):
        mine = depth[node[i]]
        first = last = i  # the range of the level below: first .. last - 1; empty at first
        total = np.int64(0)
        for level in range(mine, -1, -1):
            low, high = first, max(last, i + 1)
            while shared[low] >= level:
                low -= 1
            while shared[high] >= level:
                high += 1
            if low == first and high == last:
                continue
            for d in range(deepest + 1):
                added = below[high, d] - below[low, d] - below[last, d] + below[first, d]
                if added:
                    total += added * delta[level, mine + d - level]
            first, last = low, high
            if smallest >= 0 and total >= smallest:
                break  # it cannot be the first of the smallest any more
        if smallest < 0 or total < smallest:
            best, smallest = i, total
    return best


@parallel_kernel
def representatives(users: UserConcepts, groups: Ragged, quota: Int64s, out_start: Int64s) -> Int32s:
    """Return the nodes that are published for each group, with repetitions: int32[out_start[-1]], by group.

    Each member gives as many nodes as its quota says: those nearest the group's centroid node first, then those the
    user repeats most, then in depth-first order. A quota is never more than the user's weight.
    """
    out = np.empty(out_start[-1], dtype=np.int32)
    for g in numba.prange(len(groups.start) - 1):
        members = groups.values[groups.start[g] : groups.start[g + 1]]
        centre = int(_centroid_node(users, members))
        end = out_start[g]
        for u in members:
            first, last = users.start[u], users.start[u + 1]
            far = np.empty(last - first, dtype=np.int64)
            often = np.empty(last - first, dtype=np.int64)
            for i in range(last - first):
                far[i] = _delta(users.parent, users.depth, users.delta, centre, users.node[first + i])
                often[i] = -users.times[first + i]
            # two stable sorts, the second key first: nodes are ascending, so that ties end in depth-first order
            by_count = np.argsort(often, kind="mergesort")
            order = by_count[np.argsort(far[by_count], kind="mergesort")]
            left = quota[u]
            for at in order:
                for _ in range(min(left, users.times[first + at])):
                    out[end] = users.node[first + at]
                    end += 1
                    left -= 1
                if left == 0:
                    break
    return out
