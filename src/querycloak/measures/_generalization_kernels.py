"""Kernel of the measure `generalization`: how many published items stand for an item of their user."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["standing_kernel"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def standing_kernel(
    parent: Int32s,
    size: Int32s,
    height: int,
    original_start: Int64s,
    original: Int32s,
    published_start: Int64s,
    published: Int32s,
) -> int:
    """Size of the largest matching of published items to distinct items below them, summed over users.

    Subtrees are nested or disjoint, so greedy from the bottom up is the largest: a node matches as many of its
    published copies as items are left below it. Bags are slices in ascending order; the walk keeps a stack of open
    nodes with the items not yet matched and closes a node when it leaves its subtree.
    """
    matched = 0
    nodes, left, copies = np.empty(height + 1, np.int64), np.empty(height + 1, np.int64), np.empty(height + 1, np.int64)
    for user in range(len(published_start) - 1):
        i, end_i = original_start[user], original_start[user + 1]
        j, end_j = published_start[user], published_start[user + 1]
        top = -1
        while True:
            done = i == end_i and j == end_j
            asked = not done and (j == end_j or (i < end_i and original[i] <= published[j]))
            item = -1 if done else (original[i] if asked else published[j])
            while top >= 0 and (done or item >= nodes[top] + size[nodes[top]]):
                node, rest = nodes[top], left[top]
                stands = min(rest, copies[top])
                matched += stands
                rest -= stands
                top -= 1
                above = parent[node]
                if rest == 0 or above < 0:
                    continue
                if top < 0 or nodes[top] != above:
                    top += 1
                    nodes[top], left[top], copies[top] = above, 0, 0
                left[top] += rest
            if done:
                break
            if top < 0 or nodes[top] != item:
                top += 1
                nodes[top], left[top], copies[top] = item, 0, 0
            if asked:
                left[top] += 1
                i += 1
            else:
                copies[top] += 1
                j += 1
    return matched
