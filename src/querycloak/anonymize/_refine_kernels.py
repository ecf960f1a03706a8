"""Kernel of the refinement of groups: moves and swaps of users between groups with fixed medoids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.jit import kernel

__all__ = ["improve"]

Int32s = npt.NDArray[np.int32]


@kernel
def improve(near: npt.NDArray[np.int32], medoid: Int32s, group: Int32s, k: int) -> int:
    """Move and swap users, each to its best place in turn; changes `group`, gives the number of changes.

    near: int32[groups, n], distance of each user to each medoid. A user who gains nothing by leaving is not moved: of
    a swap that pays, one of the two gains. Ties: the first group, a move before a swap, the first member. Medoids stay.
    """
    groups, n = near.shape
    member = np.empty((groups, 2 * k - 1), dtype=np.int32)
    size = np.zeros(groups, dtype=np.int32)
    for u in range(n):
        member[group[u], size[group[u]]] = u
        size[group[u]] += 1
    changes = 0
    for u in range(n):
        g = group[u]
        if medoid[g] == u:
            continue
        best, to, partner = 0, -1, -1
        for h in range(groups):
            gain = near[g, u] - near[h, u]
            if h == g or gain <= 0:
                continue
            if gain > best and size[g] > k and size[h] < 2 * k - 1:
                best, to, partner = gain, h, -1
            for i in range(size[h]):
                v = member[h, i]
                if v != medoid[h] and gain + near[h, v] - near[g, v] > best:
                    best, to, partner = gain + near[h, v] - near[g, v], h, i
        if to < 0:
            continue
        changes += 1
        place = 0
        while member[g, place] != u:
            place += 1
        group[u] = to
        if partner >= 0:
            v = member[to, partner]
            member[to, partner], member[g, place] = u, v
            group[v] = g
        else:
            member[to, size[to]] = u
            size[to] += 1
            size[g] -= 1
            member[g, place] = member[g, size[g]]
    return changes
