"""Kernel of the representatives: which concepts stand for a group (Batet et al. 2013, section 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

if TYPE_CHECKING:
    from querycloak.distances.user_bags import Bags

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
def _centroid_node(bags: Bags, members: Int32s) -> np.int64:
    """Find the node with the smallest weighted distance to all nodes of the group (eq. 6); ties: the first."""
    parent, depth, delta = bags.parent, bags.depth, bags.delta
    size = 0
    for u in members:
        size += bags.start[u + 1] - bags.start[u]
    node = np.empty(size, dtype=np.int64)
    count = np.empty(size, dtype=np.int64)
    end = 0
    for u in members:
        for i in range(bags.start[u], bags.start[u + 1]):
            node[end] = bags.node[i]
            count[end] = bags.times[i]
            end += 1
    order = np.argsort(node, kind="mergesort")
    distinct = 0
    merged, weight = np.empty(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for at in order:
        if distinct == 0 or merged[distinct - 1] != node[at]:
            merged[distinct] = node[at]
            distinct += 1
        weight[distinct - 1] += count[at]
    best, smallest = 0, np.int64(-1)
    for i in range(distinct):
        total = np.int64(0)
        for j in range(distinct):
            total += weight[j] * _delta(parent, depth, delta, merged[i], merged[j])
            if smallest >= 0 and total >= smallest:
                break
        if smallest < 0 or total < smallest:
            best, smallest = i, total
    return merged[best]  # type: ignore[no-any-return]


@parallel_kernel
def representatives(bags: Bags, start: Int64s, member: Int32s, quota: Int64s, out_start: Int64s) -> Int32s:
    """Return the nodes that stand for each group, with repetitions: int32[out_start[-1]], slices by out_start.

    Group g has the users member[start[g]] .. member[start[g + 1] - 1]; each gives as many nodes as its quota says,
    those nearest the group's centroid node first, then those the user repeats most, then in depth-first order.
    """
    out = np.empty(out_start[-1], dtype=np.int32)
    for g in numba.prange(len(start) - 1):
        members = member[start[g] : start[g + 1]]
        centre = int(_centroid_node(bags, members))
        end = out_start[g]
        for u in members:
            first, last = bags.start[u], bags.start[u + 1]
            far = np.empty(last - first, dtype=np.int64)
            often = np.empty(last - first, dtype=np.int64)
            for i in range(last - first):
                far[i] = _delta(bags.parent, bags.depth, bags.delta, centre, bags.node[first + i])
                often[i] = -bags.times[first + i]
            by_count = np.argsort(often, kind="mergesort")
            order = by_count[np.argsort(far[by_count], kind="mergesort")]
            left = quota[u]
            for at in order:
                for _ in range(min(left, bags.times[first + at])):
                    out[end] = bags.node[first + at]
                    end += 1
                    left -= 1
                if left == 0:
                    break
    return out
