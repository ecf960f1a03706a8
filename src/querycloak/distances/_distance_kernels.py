"""Kernels of the semantic distance between users, in whole numbers.

A distance is an integer in units of 1 / SCALE. Sums of integers do not depend on their order, so results are the same
on any number of threads, sums can be kept up to date by subtraction without drift, and ties are exact.

The memory. `UserConcepts` is made by the caller (the trees by `user_trees`) and read only. For one user u:

    node, times    [start[u] : start[u + 1]]             2 3 7      the concepts, ascending, and how often each
    tree_node      [tree_start[u] : tree_start[u + 1]]   0 1 2 3 7  the same with all ancestors, depth-first
    tree_least     next to tree_node: the smallest depth of a concept at or below the node
    tree_skip      next to tree_node: entries of the node's subtree here, itself included: p + tree_skip[p] leaves it

Scratch, one per thread:

    index   int32[a], where a node is in the tree of u, counted from tree_start[u]; -1 = u has nothing at or below it
    near    int32[a, LANES], distance of every node to the nearest concept of LANES users at once
    stamp   int32[tree of u], the user v whose tree was last seen to hold the node: never cleared
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

if TYPE_CHECKING:
    from querycloak.distances.user_concepts import UserConcepts

__all__ = ["MOST_CONCEPTS", "SCALE", "matrix", "row", "user_trees"]

SCALE: Final = 1 << 30
"""The distance 1."""

CHUNK: Final = 128
"""users that one thread takes at a time"""

LANES: Final = 16
"""users whose distances are summed at once: 16 x 4 bytes are one line of the cache"""

MOST_CONCEPTS: Final = 1 << 22
"""bound on a user's concepts, counted with repetitions: SCALE x MOST_CONCEPTS stays below 2^53"""

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def user_trees(start: Int64s, node: Int32s, parent: Int32s, depth: Int32s) -> tuple[Int64s, Int32s, Int32s, Int32s]:
    """Return tree_start, tree_node, tree_least, tree_skip: for each user the concepts and their ancestors.

    `stamp` is the user that met a node last: a path is climbed only up to where an earlier one of the user joined it.
    """
    n = len(start) - 1
    stamp = np.full(len(parent), -1, dtype=np.int64)
    tree_start = np.zeros(n + 1, dtype=np.int64)
    for u in range(n):
        size = 0
        for i in range(start[u], start[u + 1]):
            x = node[i]
            while x >= 0 and stamp[x] != u:
                stamp[x] = u
                size += 1
                x = parent[x]
        tree_start[u + 1] = tree_start[u] + size
    tree_node = np.empty(tree_start[n], dtype=np.int32)
    tree_least = np.empty(tree_start[n], dtype=np.int32)
    tree_skip = np.ones(tree_start[n], dtype=np.int32)
    index = np.zeros(len(parent), dtype=np.int64)  # where in tree_node; valid for nodes of the current user only
    far = depth.max() + 1
    stamp[:] = -1
    for u in range(n):
        end = tree_start[u]
        for i in range(start[u], start[u + 1]):
            x = node[i]
            while x >= 0 and stamp[x] != u:
                stamp[x] = u
                tree_node[end] = x
                end += 1
                x = parent[x]
        tree_node[tree_start[u] : end] = np.sort(tree_node[tree_start[u] : end])
        for p in range(tree_start[u], end):
            index[tree_node[p]] = p
            tree_least[p] = far
        for i in range(start[u], start[u + 1]):
            tree_least[index[node[i]]] = depth[node[i]]
        for p in range(end - 1, tree_start[u], -1):  # backwards: every node comes before its parent
            above = index[parent[tree_node[p]]]
            tree_least[above] = min(tree_least[above], tree_least[p])
            tree_skip[above] += tree_skip[p]
    return tree_start, tree_node, tree_least, tree_skip


@kernel
def _nearest(users: UserConcepts, u: int, index: Int32s, near: Int32s) -> None:
    """Fill index: int32[a], see above; and near: int32[a], distance of each node to u's nearest concept."""
    parent, depth, delta = users.parent, users.depth, users.delta
    tree_node, tree_least = users.tree_node, users.tree_least
    first = users.tree_start[u]
    index[:] = -1
    for p in range(first, users.tree_start[u + 1]):
        index[tree_node[p]] = p - first
    lowest = np.empty(len(parent), dtype=np.int32)  # lowest ancestor that is in u's tree: the walk starts there
    for x in range(len(parent)):
        y = np.int32(x) if index[x] >= 0 or x == 0 else lowest[parent[x]]
        lowest[x] = y
        best = np.int32(SCALE)
        while y >= 0 and index[y] >= 0:
            shared = depth[y]
            best = min(best, delta[shared, depth[x] + tree_least[first + index[y]] - shared])
            y = parent[y]
        near[x] = best  # over all shared ancestors: a deep one shares more, but its concepts may be deeper, too


@kernel
def _directed(
    users: UserConcepts, first: int, last: int, near: npt.NDArray[np.int32], out: npt.NDArray[np.int32]
) -> None:
    """Fill out[j, first .. last - 1] with the mean distance of each user's concepts to the user of lane j.

    near: int32[a, LANES], so that one look-up serves all lanes. Sums are whole numbers below 2^53 (a user has fewer
    than MOST_CONCEPTS), so floating point adds them exactly, and several lanes at once.
    """
    start, node, count, weight = users.start, users.node, users.times, users.weight
    total = np.empty(LANES, dtype=np.float64)
    for v in range(first, last):
        total[:] = 0.0
        for i in range(start[v], start[v + 1]):
            times, x = np.float64(count[i]), node[i]
            for lane in range(LANES):
                total[lane] += times * near[x, lane]
        for lane in range(out.shape[0]):
            out[lane, v] = (np.int64(total[lane]) + weight[v] // 2) // weight[v]


@kernel
def _directed_back(users: UserConcepts, u: int, first: int, last: int, index: Int32s, out: Int32s) -> None:
    """Fill out[first .. last - 1] with the mean distance of u's concepts to each user.

    A user's tree is walked only where u's tree has it too: below a node that u lacks, the two share nothing.
    """
    tree_node, tree_least, tree_skip = users.tree_node, users.tree_least, users.tree_skip
    parent, depth, delta = users.parent, users.depth, users.delta
    node, count = users.node[users.start[u] : users.start[u + 1]], users.times[users.start[u] : users.start[u + 1]]
    weight = users.weight[u]
    path = np.empty((len(node), delta.shape[0]), dtype=np.int32)  # index of each ancestor, from the root down
    for i in range(len(node)):
        x = node[i]
        while x >= 0:
            path[i, depth[x]] = index[x]
            x = parent[x]
    size = users.tree_start[u + 1] - users.tree_start[u]
    stamp = np.full(size, -1, dtype=np.int32)
    least = np.empty(size, dtype=np.int32)
    for v in range(first, last):
        p, end = users.tree_start[v], users.tree_start[v + 1]
        while p < end:
            q = index[tree_node[p]]
            if q < 0:
                p += tree_skip[p]
            else:
                stamp[q] = v
                least[q] = tree_least[p]
                p += 1
        total = np.int64(0)
        for i in range(len(node)):
            deep = depth[node[i]]
            best = np.int32(SCALE)
            for shared in range(deep + 1):
                q = path[i, shared]
                if stamp[q] != v:
                    break
                best = min(best, delta[shared, deep + least[q] - shared])
            total += count[i] * best
        out[v] = (total + weight // 2) // weight


@parallel_kernel
def row(users: UserConcepts, u: int) -> Int32s:
    """Return the distances of user u to all users (eq. 4): int32[n]. Needs memory for one row only."""
    n = len(users.weight)
    index = np.empty(len(users.parent), dtype=np.int32)
    near = np.zeros((len(users.parent), LANES), dtype=np.int32)
    lane = np.empty(len(users.parent), dtype=np.int32)
    _nearest(users, u, index, lane)
    near[:, 0] = lane
    towards = np.empty((1, n), dtype=np.int32)
    back = np.empty(n, dtype=np.int32)
    out = np.empty(n, dtype=np.int32)
    weight = users.weight
    for chunk in numba.prange((n + CHUNK - 1) // CHUNK):
        first, last = chunk * CHUNK, min(n, chunk * CHUNK + CHUNK)
        _directed(users, first, last, near, towards)
        _directed_back(users, u, first, last, index, back)
        for v in range(first, last):
            both = weight[u] + weight[v]
            out[v] = (weight[u] * back[v] + weight[v] * towards[0, v] + both // 2) // both
    return out


@parallel_kernel
def matrix(users: UserConcepts) -> npt.NDArray[np.int32]:
    """Return all distances (eq. 4): int32[n, n].

    The directed distances first (row u: of each v to u), one look-up per concept; then, in place, the mean of each with
    its mirror, weighted by the users' concepts.
    """
    n = len(users.weight)
    weight = users.weight
    out = np.empty((n, n), dtype=np.int32)
    for strip in numba.prange((n + LANES - 1) // LANES):
        index = np.empty(len(users.parent), dtype=np.int32)
        near = np.zeros((len(users.parent), LANES), dtype=np.int32)
        lane = np.empty(len(users.parent), dtype=np.int32)
        first, last = strip * LANES, min(n, strip * LANES + LANES)
        for u in range(first, last):
            _nearest(users, u, index, lane)
            near[:, u - first] = lane
        _directed(users, 0, n, near, out[first:last])
    tiles = (n + CHUNK - 1) // CHUNK
    for i in numba.prange(tiles):
        # long strips and short ones in turn, so that threads finish together
        tile = i // 2 if i % 2 == 0 else tiles - 1 - i // 2
        for other in range(tile, tiles):
            for u in range(tile * CHUNK, min(n, tile * CHUNK + CHUNK)):
                for v in range(max(u + 1, other * CHUNK), min(n, other * CHUNK + CHUNK)):
                    both = weight[u] + weight[v]
                    mean = (weight[u] * out[v, u] + weight[v] * out[u, v] + both // 2) // both
                    out[u, v] = mean
                    out[v, u] = mean
    return out
