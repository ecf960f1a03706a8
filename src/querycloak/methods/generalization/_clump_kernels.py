"""Kernels of `clump`: the least common generalization (LCG) of two bags, the greedy pass, and the refinement.

A bag is a slice of concepts in ascending (depth-first) order: the subtree of v is the concepts v .. v + size[v] - 1.
Costs are whole numbers: GGD times (all leaves - 1).

The memory:

    bags      Ragged, one row per transaction t; made by the caller, read only
    Clusters  one row per cluster c; made here, returned
                of[t] = c    size[c], total[c]: members, and items of all members
                items[start[c] : start[c] + length[c]] = LCG of its members, ascending
                start[c + 1] - start[c] = items of its seed: an LCG never grows, so this room is enough for good
    stack     int64[3, height + 2], scratch of `least_common`, one column for each node that the walk is inside of:
                NODE     the open node; each is an ancestor of the one above it on the stack
                LEFT_A   items of a at or below the node that no published item stands for yet
                LEFT_B   the same of b
    room      int32[2 clusters, 2, most members + 1, longest], scratch of `_best_exchange`: see `_without_each`

What holds between two admissions: size[c] <= k as long as there is an open cluster; cost[c] is the GGD of the cluster
as it is; the open clusters are a chain in ascending order, `first` and then after[c], up to `count`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["Clusters", "Tree", "clump_kernel", "generalize_kernel", "least_common", "refine_kernel"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

NODE, LEFT_A, LEFT_B = 0, 1, 2  # rows of the stack


class Tree(NamedTuple):
    """What kernels need of a taxonomy."""

    parent: Int32s
    """int32[n], -1 = the root, which is concept 0"""
    size: Int32s
    """int32[n], concepts in the subtree, the concept included"""
    loss: Int64s
    """int64[n], leaves below each concept less one"""
    divisor: int
    """all leaves less one: what a suppressed item costs"""
    height: int
    carry: bool
    """carry remainders upwards (True), or forget them as Algorithm 2 is printed (False)"""


class Clusters(NamedTuple):
    """Clusters and the bag each publishes."""

    of: Int32s
    """int32[n], cluster of each transaction"""
    size: Int32s
    """int32[c], transactions in each"""
    total: Int64s
    """int64[c], items of all its transactions"""
    start: Int64s
    """int64[c], where the room of its bag begins in `items`"""
    length: Int32s
    """int32[c], items of its bag"""
    items: Int32s
    cost: Int64s
    """int64[c], its GGD times the divisor"""


@kernel
def least_common(tree: Tree, a: Int32s, b: Int32s, stack: Int64s, out: Int32s) -> tuple[int, int]:
    """Write the items of the LCG of two bags to `out`, unordered; return their number and their loss.

    Walks the items of both in depth-first order with a stack of open nodes. A node closes when the walk leaves its
    subtree: it publishes min(items left of a, items left of b) copies of itself and hands the rest to its parent (or
    forgets it, in the printed form, once it published). What reaches the root is published as copies of the root, up
    to the length of the shorter bag (Property 2). Takes (|a| + |b|) * depth steps, whatever the size of the taxonomy.
    """
    top, published, loss = -1, 0, 0
    i, j = 0, 0
    while True:
        done = i == len(a) and j == len(b)
        from_a = not done and (j == len(b) or (i < len(a) and a[i] <= b[j]))
        item = -1 if done else (a[i] if from_a else b[j])
        while top >= 0 and (done or item >= stack[NODE, top] + tree.size[stack[NODE, top]]):
            node, left_a, left_b = stack[NODE, top], stack[LEFT_A, top], stack[LEFT_B, top]
            top -= 1
            copies = min(left_a, left_b)
            for c in range(published, published + copies):
                out[c] = node
            published += copies
            loss += copies * tree.loss[node]
            if copies and not tree.carry:
                continue
            if left_a == left_b or (done and top < 0):
                continue  # nothing is left to hand on, or nothing that it could meet below the root
            # What is left is of one side: it climbs to where it may meet the other, the nearest ancestor that is open
            # or that holds the next item. Ancestors in between would close with nothing to publish.
            above = tree.parent[node]
            while above and (top < 0 or above != stack[NODE, top]) and (done or item >= above + tree.size[above]):
                above = tree.parent[above]
            if above == 0:
                continue  # copies of the root are added at the end, up to the shorter bag
            if top < 0 or stack[NODE, top] != above:
                top += 1
                stack[NODE, top], stack[LEFT_A, top], stack[LEFT_B, top] = above, 0, 0
            stack[LEFT_A, top] += left_a - copies
            stack[LEFT_B, top] += left_b - copies
        if done:
            break
        if item > 0:
            if top < 0 or stack[NODE, top] != item:
                top += 1
                stack[NODE, top], stack[LEFT_A, top], stack[LEFT_B, top] = item, 0, 0
            stack[LEFT_A if from_a else LEFT_B, top] += 1
        if from_a:
            i += 1
        else:
            j += 1
    shorter = min(len(a), len(b))
    for c in range(published, shorter):
        out[c] = 0
    return shorter, loss + (shorter - published) * tree.loss[0]


@kernel
def _cost(tree: Tree, size: int, total: int, length: int, loss: int) -> int:
    """Return the GGD of a cluster times the divisor: |S| * sum of LM, and 1 for every item that is not published."""
    return size * loss + (total - size * length) * tree.divisor


@kernel
def _join(tree: Tree, bags: Ragged, clusters: Clusters, t: int, c: int, stack: Int64s, out: Int32s) -> tuple[int, int]:
    """Return the length and cost of cluster c with transaction t in it; its items are in `out`, unordered."""
    mine = clusters.items[clusters.start[c] : clusters.start[c] + clusters.length[c]]
    theirs = bags.values[bags.start[t] : bags.start[t + 1]]
    length, loss = least_common(tree, mine, theirs, stack, out)
    return length, _cost(tree, clusters.size[c] + 1, clusters.total[c] + len(theirs), length, loss)


@kernel
def _admit(tree: Tree, bags: Ragged, clusters: Clusters, t: int, c: int, stack: Int64s, out: Int32s) -> None:
    """Put transaction t into cluster c."""
    length, cost = _join(tree, bags, clusters, t, c, stack, out)
    out[:length].sort()
    clusters.items[clusters.start[c] : clusters.start[c] + length] = out[:length]
    clusters.length[c] = length
    clusters.cost[c] = cost
    clusters.size[c] += 1
    clusters.total[c] += bags.start[t + 1] - bags.start[t]
    clusters.of[t] = c


@kernel
def clump_kernel(
    tree: Tree, bags: Ragged, order: Int64s, k: int, search: int, all_leftovers: bool, rise: bool
) -> Clusters:
    """Algorithm 1: seeds, then each transaction, in the order given, to the best of `search` clusters with room.

    Every k-th transaction of `order` is a seed, so that seeds are as different as the order allows. The
    best is where GGD rises least, or where it is lowest with the transaction in it (`rise` False, as printed); ties go
    to the earlier cluster. The leftovers (fewer than k) go to the best of all clusters, or of the last `search`.
    """
    n = len(order)
    count = n // k
    start = np.zeros(count, np.int64)
    room = 0
    longest = 0
    for t in range(n):
        longest = max(longest, bags.start[t + 1] - bags.start[t])
    for c in range(count):
        seed = order[c * k]
        start[c] = room
        room += bags.start[seed + 1] - bags.start[seed]
    clusters = Clusters(
        np.full(n, -1, np.int32),
        np.ones(count, np.int32),
        np.zeros(count, np.int64),
        start,
        np.zeros(count, np.int32),
        np.empty(room, np.int32),
        np.zeros(count, np.int64),
    )
    for c in range(count):
        seed = order[c * k]
        mine = bags.values[bags.start[seed] : bags.start[seed + 1]]
        clusters.items[start[c] : start[c] + len(mine)] = mine
        clusters.length[c] = len(mine)
        clusters.total[c] = len(mine)
        clusters.cost[c] = tree.loss[mine].sum()
        clusters.of[seed] = c
    stack = np.empty((3, tree.height + 2), np.int64)
    out = np.empty(longest, np.int32)
    after = np.arange(1, count + 1)  # the open clusters as a chain, in order; `count` = end
    first = 0
    for at in range(n):
        t = order[at]
        if at < count * k and at % k == 0:
            continue  # a seed
        leftover = first == count  # all clusters are full: fewer than k transactions are left
        c, before, seen = first, -1, 0
        if leftover:
            c = 0 if all_leftovers else max(count - search, 0)
        best, best_before, best_cost = -1, -1, 0
        while c < count and (leftover or seen < search):
            _, cost = _join(tree, bags, clusters, t, c, stack, out)
            if rise:
                cost -= clusters.cost[c]
            if best < 0 or cost < best_cost:
                best, best_before, best_cost = c, before, cost
            before, seen = c, seen + 1
            c = c + 1 if leftover else after[c]
        _admit(tree, bags, clusters, t, best, stack, out)
        if not leftover and clusters.size[best] == k:
            if best_before < 0:
                first = after[best]
            else:
                after[best_before] = after[best]
    return clusters


@kernel
def _put(tree: Tree, a: Int32s, b: Int32s, stack: Int64s, into: Int32s) -> int:
    """Write the LCG of two bags in ascending order; return its length."""
    length, _ = least_common(tree, a, b, stack, into)
    into[:length].sort()
    return length


@kernel
def _without_each(tree: Tree, bags: Ragged, members: Int64s, stack: Int64s, room: Int32s) -> Int64s:
    """Write the LCG of a cluster without member i to room[0, i], and of the whole cluster to room[0, -1].

    From the left, the LCG of the members before i; from the right, of those after; both merged (Lemma 1): three
    merges per member instead of one for every pair. Returns the lengths.

        room[0, i]  without member i        room[1, i]  of members i .. n - 1        before  of members 0 .. i - 1
    """
    n = len(members)
    lengths = np.zeros(room.shape[1], np.int64)
    after = np.zeros(n, np.int64)  # length of room[1, i]
    for i in range(n - 1, -1, -1):
        mine = bags.values[bags.start[members[i]] : bags.start[members[i] + 1]]
        if i == n - 1:
            room[1, i, : len(mine)] = mine
            after[i] = len(mine)
        else:
            after[i] = _put(tree, mine, room[1, i + 1, : after[i + 1]], stack, room[1, i])
    lengths[-1] = after[0]
    room[0, -1, : after[0]] = room[1, 0, : after[0]]
    lengths[0] = after[1]
    room[0, 0, : after[1]] = room[1, 1, : after[1]]
    before = bags.values[bags.start[members[0]] : bags.start[members[0] + 1]].copy()
    spare = np.empty(room.shape[2], np.int32)
    for i in range(1, n):
        if i == n - 1:
            lengths[i] = len(before)
            room[0, i, : len(before)] = before
        else:
            lengths[i] = _put(tree, before, room[1, i + 1, : after[i + 1]], stack, room[0, i])
            mine = bags.values[bags.start[members[i]] : bags.start[members[i] + 1]]
            length = _put(tree, before, mine, stack, spare)
            before = before[:length]
            before[:] = spare[:length]
    return lengths


@kernel
def _cost_after(
    tree: Tree, bags: Ragged, rest: Int32s, t: int, size: int, total: int, stack: Int64s, out: Int32s
) -> int:
    """Return the cost of a cluster of `size` members and `total` items: LCG `rest`, and transaction t (-1 = none)."""
    if t < 0:
        loss = 0
        for item in rest:
            loss += tree.loss[item]
        return _cost(tree, size, total, len(rest), loss)
    length, loss = least_common(tree, rest, bags.values[bags.start[t] : bags.start[t + 1]], stack, out)
    return _cost(tree, size, total, length, loss)


@kernel
def _best_exchange(
    tree: Tree, bags: Ragged, in_a: Int64s, in_b: Int64s, k: int, stack: Int64s, room: Int32s
) -> tuple[int, int, int]:
    """Find the swap or move between two clusters that lowers their GGD most: (gain, index in a, index in b).

    An index of -1 is no transaction: the other one moves. Ties go to the first found. Clusters keep k members or more,
    and fewer than 2k.
    """
    lengths_a = _without_each(tree, bags, in_a, stack, room[0])
    lengths_b = _without_each(tree, bags, in_b, stack, room[1])
    out = np.empty(room.shape[3], np.int32)
    total_a, total_b = 0, 0
    for t in in_a:
        total_a += bags.start[t + 1] - bags.start[t]
    for t in in_b:
        total_b += bags.start[t + 1] - bags.start[t]
    best = _cost_after(tree, bags, room[0, 0, -1, : lengths_a[-1]], -1, len(in_a), total_a, stack, out)
    best += _cost_after(tree, bags, room[1, 0, -1, : lengths_b[-1]], -1, len(in_b), total_b, stack, out)
    gain, from_a, from_b = 0, -1, -1
    for i in range(-1, len(in_a)):
        for j in range(-1, len(in_b)):
            size_a = len(in_a) + (1 if j >= 0 else 0) - (1 if i >= 0 else 0)
            size_b = len(in_a) + len(in_b) - size_a
            if i == j == -1 or min(size_a, size_b) < min(k, len(in_a), len(in_b)) or max(size_a, size_b) >= 2 * k:
                continue
            t = -1 if i < 0 else in_a[i]
            u = -1 if j < 0 else in_b[j]
            shift = 0  # items that a wins and b loses
            if t >= 0:
                shift -= bags.start[t + 1] - bags.start[t]
            if u >= 0:
                shift += bags.start[u + 1] - bags.start[u]
            # i = -1 reads the last row, which is the LCG of the whole cluster: nobody leaves it
            cost = _cost_after(tree, bags, room[0, 0, i, : lengths_a[i]], u, size_a, total_a + shift, stack, out)
            if cost >= best:
                continue
            cost += _cost_after(tree, bags, room[1, 0, j, : lengths_b[j]], t, size_b, total_b - shift, stack, out)
            if cost < best:
                gain, from_a, from_b = gain + best - cost, i, j
                best = cost
    return gain, from_a, from_b


@kernel
def refine_kernel(tree: Tree, bags: Ragged, of: Int32s, k: int, search: int, passes: int) -> tuple[int, int]:
    """Swap and move transactions between clusters at most `search` apart while the sum of GGD falls.

    Each pass looks at every such pair once, makes its best exchange if that lowers the sum, and passes over pairs
    that did not change since they were last looked at. Needs the form that carries remainders: Lemma 1. Changes `of`
    in place; returns the gain in cost and the passes made.
    """
    count = of.max() + 1
    longest = 0
    for t in range(len(of)):
        longest = max(longest, bags.start[t + 1] - bags.start[t])
    size = np.zeros(count, np.int64)
    members = np.empty((count, 2 * k), np.int64)  # the first size[c] of row c: fewer than 2k, and one that moves in
    for t in range(len(of)):
        members[of[t], size[of[t]]] = t
        size[of[t]] += 1
    stack = np.empty((3, tree.height + 2), np.int64)
    room = np.empty((2, 2, 2 * k + 1, longest), np.int32)
    changed = np.zeros(count, np.int64)  # the pass that last changed it
    total, made = 0, 0
    while made < passes:
        made += 1
        any_gain = False
        for a in range(count):
            for b in range(a + 1, min(a + 1 + search, count)):
                if max(changed[a], changed[b]) < made - 1:
                    continue
                in_a, in_b = members[a, : size[a]], members[b, : size[b]]
                gain, i, j = _best_exchange(tree, bags, in_a, in_b, k, stack, room)
                if gain == 0:
                    continue
                any_gain = True
                total += gain
                changed[a] = changed[b] = made
                if i >= 0 and j >= 0:
                    in_a[i], in_b[j] = in_b[j], in_a[i]
                    of[in_a[i]], of[in_b[j]] = a, b
                elif i >= 0:
                    of[in_a[i]] = b
                    members[b, size[b]] = in_a[i]
                    in_a[i] = in_a[-1]
                    size[a], size[b] = size[a] - 1, size[b] + 1
                else:
                    of[in_b[j]] = a
                    members[a, size[a]] = in_b[j]
                    in_b[j] = in_b[-1]
                    size[a], size[b] = size[a] + 1, size[b] - 1
        if not any_gain:
            break
    return total, made


@kernel
def generalize_kernel(tree: Tree, bags: Ragged, of: Int32s) -> tuple[Int64s, Int32s]:
    """Return the LCG of every cluster from its members, in their order: (start int64[c + 1], items int32[start[c]])."""
    count = of.max() + 1
    lengths = np.full(count, np.iinfo(np.int64).max, np.int64)  # Property 2: that of the shortest transaction
    longest = 0
    for t in range(len(of)):
        length = bags.start[t + 1] - bags.start[t]
        lengths[of[t]] = min(lengths[of[t]], length)
        longest = max(longest, length)
    start = np.zeros(count + 1, np.int64)
    for c in range(count):
        start[c + 1] = start[c] + lengths[c]
    items = np.empty(start[count], np.int32)
    stack = np.empty((3, tree.height + 2), np.int64)
    held, spare, length = np.empty(longest, np.int32), np.empty(longest, np.int32), 0
    previous = -1
    for t in np.argsort(of, kind="mergesort"):
        mine = bags.values[bags.start[t] : bags.start[t + 1]]
        if of[t] != previous:
            previous, length = of[t], len(mine)
            held[:length] = mine
        else:
            length = _put(tree, held[:length], mine, stack, spare)
            held, spare = spare, held
        if length == lengths[previous]:  # from the shortest member on; the last member writes what stays
            items[start[previous] : start[previous + 1]] = held[:length]
    return start, items
