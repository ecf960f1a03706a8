"""Kernels of the refinement of groups: moves, swaps and circles of users between groups with fixed medoids.

The memory:

    near     int32[groups, n], distance of each user to the medoid of each group; made by the caller, read only
    group    int32[n], group of each user; changed in place, sizes stay k .. 2k - 1
    member   int32[groups, 2k - 1], the first size[g] of row g are the users of g, in any order
    cost     int64[groups, groups], what it costs to send the best member of g to h; NEVER = there is none
    who      int32[groups, groups], that member

What holds in `improve` between two users: group[member[g, i]] == g for i < size[g]. In `exchange` between two rounds:
cost and who are right for every g; only groups that lost or won a user are computed again.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["exchange", "improve"]

Int32s = npt.NDArray[np.int32]

NEVER: Final = 1 << 40
"""A cost that no sum of distances outweighs."""


@kernel
def improve(near: npt.NDArray[np.int32], medoid: Int32s, group: Int32s, k: int) -> int:
    """Move and swap users, each to its best group in turn; change `group` and return the number of changes.

    A user who gains nothing by leaving is not moved: of
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
        best, to, partner = np.int64(0), -1, -1
        for h in range(groups):
            gain = np.int64(near[g, u]) - near[h, u]  # 64 bits: the gain of a swap is a sum of four distances
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
        slot = 0
        while member[g, slot] != u:
            slot += 1
        group[u] = to
        if partner >= 0:
            v = member[to, partner]
            member[to, partner], member[g, slot] = u, v
            group[v] = g
        else:
            member[to, size[to]] = u
            size[to] += 1
            size[g] -= 1
            member[g, slot] = member[g, size[g]]
    return changes


@kernel
def _costs(near: npt.NDArray[np.int32], medoid: Int32s, group: Int32s, g: int, cost: Any, who: Any) -> None:
    """Fill row g of cost and who: what it costs to send a member of g to each group, and whom; medoids stay."""
    cost[g, :] = NEVER
    for u in range(len(group)):
        if group[u] == g and medoid[g] != u:
            for h in range(len(medoid)):
                if h != g and np.int64(near[h, u]) - near[g, u] < cost[g, h]:
                    cost[g, h] = np.int64(near[h, u]) - near[g, u]
                    who[g, h] = u


@kernel
def _on_cycles(before: Int32s) -> npt.NDArray[np.bool_]:
    """Mark the groups on cycles of the graph in which each group has one predecessor, -1 = none."""
    on = np.zeros(len(before), dtype=np.bool_)
    seen = np.full(len(before), -1, dtype=np.int32)  # the start of the walk that came here first
    for start in range(len(before)):
        at = start
        while at >= 0 and seen[at] < 0:
            seen[at] = start
            at = before[at]
        if at >= 0 and seen[at] == start and not on[at]:
            while not on[at]:
                on[at] = True
                at = before[at]
    return on


@kernel
def exchange(near: npt.NDArray[np.int32], medoid: Int32s, group: Int32s) -> int:
    """Send users round circles of groups as long as that pays; change `group` and return how many users moved.

    A circle g, h, … g in which each group sends one member to the next keeps all sizes. It pays if its edges' costs add
    up to less than 0: a negative cycle of the graph of groups, found by Bellman and Ford. Where there is none, no
    assignment of users to these medoids with these sizes is better. A group has at most one predecessor, so that
    circles found at once are disjoint, and all are taken.
    """
    groups = len(medoid)
    cost = np.empty((groups, groups), dtype=np.int64)
    who = np.full((groups, groups), -1, dtype=np.int32)
    for g in range(groups):
        _costs(near, medoid, group, g, cost, who)
    changes = 0
    while True:
        reached = np.zeros(groups, dtype=np.int64)
        before = np.full(groups, -1, dtype=np.int32)
        on = np.zeros(groups, dtype=np.bool_)
        lower = True
        while lower and not on.any():
            lower = False
            for h in range(groups):
                for g in range(groups):
                    if reached[g] + cost[g, h] < reached[h]:
                        reached[h] = reached[g] + cost[g, h]
                        before[h] = g
                        lower = True
            on = _on_cycles(before)
        if not on.any():
            return changes
        for h in range(groups):
            if on[h]:
                group[who[before[h], h]] = h
                changes += 1
        for g in range(groups):
            if on[g]:
                _costs(near, medoid, group, g, cost, who)
