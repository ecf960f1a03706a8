"""Kernel of the measure `generalization`: how many published items stand for an item of their user.

The memory: `original` and `published` are rows of concepts, ascending, row u of both is user u; made by the caller,
read only. The stack has one column for each node that the walk is inside of, each an ancestor of the next:

    nodes    the open node
    left     items asked at or below it that no published item stands for yet
    copies   how often the node itself was published
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["standing_kernel"]

Int32s = npt.NDArray[np.int32]


@kernel
def standing_kernel(parent: Int32s, size: Int32s, height: int, original: Ragged, published: Ragged) -> int:
    """Return the size of the largest matching of published items to distinct items below them, summed over users.

    Subtrees are nested or disjoint, so greedy from the bottom up is the largest: a node matches as many of its
    published copies as items are left below it. The walk goes through both rows in depth-first order, and closes a
    node when it leaves its subtree: what is left goes to the parent.
    """
    matched = 0
    nodes, left, copies = np.empty(height + 1, np.int64), np.empty(height + 1, np.int64), np.empty(height + 1, np.int64)
    asked_items, published_items = original.values, published.values
    for user in range(len(published.start) - 1):
        i, end_i = original.start[user], original.start[user + 1]
        j, end_j = published.start[user], published.start[user + 1]
        top = -1
        while True:
            done = i == end_i and j == end_j
            asked = not done and (j == end_j or (i < end_i and asked_items[i] <= published_items[j]))
            item = -1 if done else (asked_items[i] if asked else published_items[j])
            while top >= 0 and (done or item >= nodes[top] + size[nodes[top]]):
                node, rest = nodes[top], left[top]
                matches = min(rest, copies[top])
                matched += matches
                rest -= matches
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
