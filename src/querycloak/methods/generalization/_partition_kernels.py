"""Kernel of `partition`: top-down drilling into sub-partitions by the subset of children present.

A part is a slice of `order`, with the nodes its transactions publish; each node is open (it may be drilled into) or
closed. Gains are whole numbers: the fall in GGD times (all leaves - 1).

The memory:

    sets     Ragged, one row of distinct concepts per transaction, ascending; made by the caller, read only
    order    int64[n], transactions, the members of a part next to each other
    waiting  int64[n / k + 1, 3], stack of parts that may still be split
               LOW, HIGH    members are order[LOW:HIGH]
               NODES        its published nodes are nodes[NODES:], up to those of the next part on the stack
    nodes    int64, stack; v >= 0 is the open node v, v < 0 the closed node -1 - v (`_closed`)
    Groups   scratch of one call of `_group`; `of` and `size` are read until the next one

What holds between two steps: the parts on the stack and the finished ones are disjoint and hold every transaction;
each has k members or more; every member has an item under every node of its part, so that `nodes` of all waiting parts
together are never longer than all sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["Groups", "TopDown", "partition_kernel"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

LOW, HIGH, NODES = 0, 1, 2  # columns of `waiting`


class TopDown(NamedTuple):
    """What the kernel needs of a taxonomy."""

    size: Int32s
    depth: Int32s
    worth: Int64s
    """int64[n], 1 - LM times the divisor: what publishing a concept saves over suppressing it"""
    ancestor: Int32s
    """int32[n, height + 1], ancestor of each concept at each depth; itself below its own"""


class Groups(NamedTuple):
    """Room to sort the transactions of a part by the children of a node that they have."""

    of: Int32s
    """int32[n], group of order[i]; -1, or a group whose size is 0 = merged back"""
    size: Int64s
    """int64[n], transactions that stay in each group; 0 = merged back"""
    moved: Int64s
    """int64[n], transactions that each group hands over to what is merged back; `_move` says which"""
    worth: Int64s
    """int64[n], what a member gains by publishing the group's children instead of the node"""
    example: Int64s
    """int64[n], the first transaction of each group"""
    mark: Int64s
    """int64[n], hash of its children; equal ones are compared child by child"""
    table: Int32s
    """int32[power of 2 > 2n], open addressing: hash to group, -1 = free"""


@kernel
def _closed(node: int) -> int:
    """Return the code of a closed node, and the node of such a code."""
    return -1 - node


@kernel
def _child(tree: TopDown, node: int, item: int) -> int:
    """Return the child of the node that the item is under; the node itself where the item is the node."""
    return node if item == node else tree.ancestor[item, tree.depth[node] + 1]


@kernel
def _under(tree: TopDown, sets: Ragged, t: int, node: int) -> tuple[int, int]:
    """Return where the items of transaction t under the node begin and end: its subtree is a slice of concepts."""
    low, high = sets.start[t], sets.start[t + 1]
    mine = sets.values[low:high]
    return low + np.searchsorted(mine, node), low + np.searchsorted(mine, node + tree.size[node])


@kernel
def _same_children(tree: TopDown, sets: Ragged, t: int, u: int, node: int) -> bool:
    """Tell whether two transactions have items under the same children of the node."""
    i, end_i = _under(tree, sets, t, node)
    j, end_j = _under(tree, sets, u, node)
    while i < end_i and j < end_j:
        child = _child(tree, node, sets.values[i])
        if child != _child(tree, node, sets.values[j]):
            return False
        while i < end_i and _child(tree, node, sets.values[i]) == child:
            i += 1
        while j < end_j and _child(tree, node, sets.values[j]) == child:
            j += 1
    return i == end_i and j == end_j


@kernel
def _group(
    tree: TopDown, sets: Ragged, order: Int64s, part: tuple[int, int], node: int, k: int, groups: Groups
) -> tuple[int, int]:
    """Group the transactions part[0]..part[1] of `order` by the children of the node that they have.

    Groups below k are merged back, and so are transactions that have the node itself and nothing below it; `_balance`
    says who joins them where they are fewer than k. Returns the number of groups, those merged back included, and the
    gain: -1 where no group is left.
    """
    low, high = part
    room = 2
    while room < 2 * (high - low):
        room *= 2
    table = groups.table[:room]
    table[:] = -1
    count, back = 0, 0
    for at in range(low, high):
        t = order[at]
        i, end = _under(tree, sets, t, node)
        mark, worth, previous = 0, -tree.worth[node], -1
        for at_item in range(i, end):
            child = _child(tree, node, sets.values[at_item])
            if child != previous:
                # 31 bits, so that the product fits 63 and the hash is the same in every mode of running
                mark = (mark * 1_000_003 + int(child)) & 0x7FFF_FFFF
                mark ^= mark >> 15
                worth += tree.worth[child]
                previous = child
        groups.of[at] = -1
        if previous == node and _child(tree, node, sets.values[i]) == node and i + 1 == end:
            back += 1
            continue
        slot = mark & (room - 1)
        while table[slot] >= 0:
            g = table[slot]
            if groups.mark[g] == mark and _same_children(tree, sets, groups.example[g], t, node):
                break
            slot = (slot + 1) & (room - 1)
        if table[slot] < 0:
            table[slot] = count
            groups.size[count], groups.worth[count] = 0, worth
            groups.example[count], groups.mark[count] = t, mark
            count += 1
        groups.size[table[slot]] += 1
        groups.of[at] = table[slot]
    for g in range(count):
        groups.moved[g] = 0
        if groups.size[g] < k:
            back += groups.size[g]
            groups.size[g] = 0
    _balance(groups, count, back, k)
    gain, kept = 0, 0
    for g in range(count):
        gain += groups.size[g] * groups.worth[g]
        kept += groups.size[g] > 0
    return count, gain if kept else -1


@kernel
def _balance(groups: Groups, count: int, back: int, k: int) -> None:
    """Fill up what is merged back to k, where it is some and fewer: it is a part too.

    Groups of more than k hand over one transaction at a time, the group first whose members gain least by the split, so
    that the step gives up as little as it can; a group of k keeps all. Only where all groups together have too few to
    spare, the group that gains least joins as a whole: that is then fewer than 2k transactions.
    """
    spare = 0
    for g in range(count):
        spare += max(groups.size[g] - k, 0)
    missing = k - back if back else 0
    while missing > 0:
        least = -1
        whole = spare < missing
        for g in range(count):
            if groups.size[g] < k + (not whole):
                continue
            times, least_times = (groups.size[g], groups.size[least]) if whole else (1, 1)
            if least < 0 or times * groups.worth[g] < least_times * groups.worth[least]:
                least = g
        if least < 0:
            return
        if whole:
            groups.size[least] = 0
            return
        groups.size[least] -= 1
        groups.moved[least] += 1
        spare -= 1
        missing -= 1


@kernel
def _move(
    tree: TopDown, sets: Ragged, order: Int64s, part: tuple[int, int], node: int, count: int, groups: Groups
) -> None:
    """Merge back as many transactions of each group as `_balance` said: those with the fewest items under the node.

    They have the least to lose by keeping it. Of several with as few, the first of `order` goes.
    """
    for g in range(count):
        for _ in range(groups.moved[g]):
            who, fewest = -1, 0
            for at in range(part[0], part[1]):
                if groups.of[at] == g:
                    i, end = _under(tree, sets, order[at], node)
                    if who < 0 or end - i < fewest:
                        who, fewest = at, end - i
            groups.of[who] = -1


@kernel
def partition_kernel(tree: TopDown, sets: Ragged, k: int, begin: Int64s) -> tuple[Int32s, Int64s, Int32s]:
    """Drill until nothing can be split: (part of each transaction, start, nodes of each part).

    `begin`: int64[m], the nodes that all transactions publish at first, open (v) or closed (-1 - v): the root alone, or
    those of a part that was split before. Parts have nothing to do with each other, and the order of transactions in a
    part is that of `sets`: to go on with one part alone gives what the whole run gives.

    At each step the part drills into the open node with the highest gain; ties go to the smaller concept. What is
    merged back keeps the node, closed: no k of its transactions agree on children of it, or (where a whole group had to
    join) those that do not would be left fewer than k.
    """
    n = len(sets.start) - 1
    order = np.arange(n)
    spare = np.empty(n, np.int64)
    room = 2
    while room < 2 * n:
        room *= 2
    groups = Groups(
        np.empty(n, np.int32),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(room, np.int32),
    )
    waiting = np.empty((n // k + 1, 3), np.int64)
    nodes = np.empty(len(sets.values) + 1, np.int64)  # every member has an item under each of its nodes
    waiting[0, LOW], waiting[0, HIGH], waiting[0, NODES] = 0, n, 0
    nodes[: len(begin)] = begin
    pending, filled = 1, len(begin)
    of = np.empty(n, np.int32)
    start = np.zeros(n // k + 1, np.int64)
    published = np.empty(len(sets.values) + 1, np.int32)
    done = 0
    while pending:
        pending -= 1
        low, high, first = waiting[pending, LOW], waiting[pending, HIGH], waiting[pending, NODES]
        mine = nodes[first:filled].copy()
        filled = first
        best, best_gain, best_node = -1, -1, -1
        for m in range(len(mine)):
            node = mine[m]
            if node < 0:
                continue
            if tree.size[node] == 1:
                mine[m] = _closed(node)  # a leaf: nothing to drill into
                continue
            _, gain = _group(tree, sets, order, (low, high), node, k, groups)
            if gain > best_gain or (gain == best_gain and gain >= 0 and node < best_node):
                best, best_gain, best_node = m, gain, node
        if best < 0:
            for m in range(len(mine)):
                published[start[done] + m] = mine[m] if mine[m] >= 0 else _closed(mine[m])
            start[done + 1] = start[done] + len(mine)
            published[start[done] : start[done + 1]] = np.sort(published[start[done] : start[done + 1]])
            of[order[low:high]] = done
            done += 1
            continue
        # The groups of the best node again (those of the last node tried are in `groups`), one after the other in
        # `order`; slot 0 is what is merged back, slot g + 1 is group g.
        count, _ = _group(tree, sets, order, (low, high), best_node, k, groups)
        _move(tree, sets, order, (low, high), best_node, count, groups)
        end = np.zeros(count + 1, np.int64)
        for at in range(low, high):
            g = groups.of[at]
            end[g + 1 if g >= 0 and groups.size[g] else 0] += 1
        begin = low + np.cumsum(end) - end
        end = begin.copy()
        for at in range(low, high):
            g = groups.of[at]
            slot = g + 1 if g >= 0 and groups.size[g] else 0
            spare[end[slot]] = order[at]
            end[slot] += 1
        order[low:high] = spare[low:high]
        for slot in range(count + 1):
            if begin[slot] == end[slot]:
                continue
            waiting[pending, LOW], waiting[pending, HIGH], waiting[pending, NODES] = begin[slot], end[slot], filled
            pending += 1
            for m in range(len(mine)):
                if m != best:
                    nodes[filled] = mine[m]
                    filled += 1
            if slot == 0:
                nodes[filled] = _closed(best_node)
                filled += 1
                continue
            example, previous = order[begin[slot]], -1
            i, stop = _under(tree, sets, example, best_node)
            for at in range(i, stop):
                child = _child(tree, best_node, sets.values[at])
                if child != previous:
                    nodes[filled] = _closed(child) if child == best_node else child
                    filled += 1
                    previous = child
    return of, start[: done + 1], published[: start[done]]
