"""The machine of the stream anonymizers: Algorithm 1 of Pàmies-Estrems & Garcia-Alfaro (2023) at O(depth) a record.

Symbol → here: U[v] and Q[v] = the own set of a node; BU[v] and BQ[v] = a branch set; `distinct(X)` = size of the set's
bag of users. Every set has two bags, arrays with swap-removal in one arena:

- waiting records (the queries), one item each;
- users, one item per *distinct* user: an entry. An entry belongs to one (set, user), is found by hashing the two, and
  has a bag of its own with the user's places in the set: tokens. A token is one waiting user, put in by one record.

A record and a token know their position in the bag of every set they are in, so that nothing is searched and no draw
depends on k. A node's own set is the last of its chain of sets, the branch of depth 1 is the first. A node at the cut
depth has nothing below it, so that its own set and its branch are one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import numba
def kernel(f):
    return numba.njit(cache=True,nogil=True,_nrt=False)(f)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of sets and entries; a bag takes three: where, size, capacity
QUERIES, USERS = 0, 3
SET, USER, SLOT, NEXT, TOKENS, BUCKET = 0, 1, 2, 3, 4, 7
# columns of nodes before the chain; of waits before the positions of the record; of its token, after width positions
LENGTH, BRANCHES, CHAIN = 0, 1, 2
NODE, ASKER, ID_LOW, ID_HIGH, FIRST = 0, 1, 2, 3, 4
TOKEN_NODE, TOKEN_USER, TOKEN_FIRST = 4, 5, 6
# cells of counts
ARENA_TOP, LARGEST, ENTRY_TOP, ENTRY_FREE, ENTRIES, SLOT_TOP, RECORD_FREE, TOKEN_FREE, WAITING, SEEN = range(10)
CURSOR, PENDING = 10, 11  # next random word; node that has not yet let out all it may, -1 = none
CLASSES = 12  # free lists of blocks of 4 << c items begin here
COUNTS = CLASSES + 28
# columns of what left
RECORD, NEW_USER, CANDIDATES, DELAY = range(4)

SPARE_DRAWS = 128  # a record takes at most 8 draws; each is drawn again with a probability below 1/2 (in practice 2^-10)


class Machine(NamedTuple):
    """The state: flat arrays. The helpers take them one by one: taking an array out of a tuple costs more than its use."""

    nodes: Int32s
    """int32[nodes, 2 + width]: length of the node's chain of sets, how many of it are branches to borrow from, the chain"""
    sets: Int32s
    """int32[sets, 6]: bag of records, bag of entries"""
    entries: Int32s
    """int32[power of 2, 8]: set, user, slot in the set's bag, next of the hash chain, bag of tokens; and apart from these
    first entry of the hash chain of this row's number, -1 = none"""
    waits: Int32s
    """int32[slots, 6 + 3 width]: a record (node, asker, running number in two halves of 31 bits, position in the bag of each
    set of the chain) and a token (node, user, entry in each set, position in each entry's bag); the two are strangers"""
    arena: Int32s
    """int32: blocks of the bags that hold more than one item"""
    counts: Int64s
    """int64[COUNTS]: tops, free lists, and what is counted"""
    draws: npt.NDArray[np.uint32]
    """uint32: random words, used up one after the other"""


@kernel
def _draw(draws: npt.NDArray[np.uint32], counts: Int64s, bound: int) -> int:
    """Draw one of 0..bound-1 without bias (Lemire 2019); bound < 2^31, so that no product leaves 63 bits."""
    while True:
        at = counts[CURSOR]
        counts[CURSOR] = at + 1
        product = np.int64(draws[at]) * bound
        low = product & 0xFFFFFFFF
        if low >= bound or low >= 4294967296 % bound:
            return int(product >> 32)


@kernel
def _block(arena: Int32s, counts: Int64s, size_class: int) -> int:
    """Take a block of 4 << size_class items."""
    cell = CLASSES + size_class
    block = counts[cell]
    if block >= 0:
        counts[cell] = arena[block]
        return int(block)
    block = counts[ARENA_TOP]
    counts[ARENA_TOP] = block + (4 << size_class)
    counts[LARGEST] = max(counts[LARGEST], 4 << size_class)
    return int(block)


@kernel
def _give_back(arena: Int32s, counts: Int64s, block: int, capacity: int) -> None:
    size_class = 0
    while (4 << size_class) < capacity:
        size_class += 1
    arena[block] = counts[CLASSES + size_class]
    counts[CLASSES + size_class] = block


@kernel
def _enlarge(arena: Int32s, counts: Int64s, bags: Int32s, row: int, column: int) -> None:
    """Give a full bag a block of twice the size, or its first one."""
    capacity, old = bags[row, column + 2], bags[row, column]
    if capacity == 0:
        block = _block(arena, counts, 0)
        arena[block] = old
        bags[row, column + 2] = 4
    else:
        size_class = 0
        while (4 << size_class) <= capacity:
            size_class += 1
        block = _block(arena, counts, size_class)
        for i in range(capacity):
            arena[block + i] = arena[old + i]
        _give_back(arena, counts, old, capacity)
        bags[row, column + 2] = 2 * capacity
    bags[row, column] = block


@kernel
def _push(arena: Int32s, counts: Int64s, bags: Int32s, row: int, column: int, item: int) -> int:
    """Put an item into a bag and give its position. A bag of one item keeps it in place of the block's start."""
    size, capacity = bags[row, column + 1], bags[row, column + 2]
    bags[row, column + 1] = size + 1
    if capacity == 0 and size == 0:
        bags[row, column] = item
        return 0
    if size >= capacity:
        _enlarge(arena, counts, bags, row, column)
    arena[bags[row, column] + size] = item
    return int(size)


@kernel
def _get(arena: Int32s, bags: Int32s, row: int, column: int, position: int) -> int:
    where = bags[row, column]
    return int(where) if bags[row, column + 2] == 0 else int(arena[where + position])


@kernel
def _take_out(arena: Int32s, counts: Int64s, bags: Int32s, row: int, column: int, position: int) -> int:
    """Remove the item at a position; give the item that moved there from the end, or -1."""
    last = bags[row, column + 1] - 1
    bags[row, column + 1] = last
    if bags[row, column + 2] == 0:
        return -1
    where = bags[row, column]
    if last == 0:
        _give_back(arena, counts, where, bags[row, column + 2])
        bags[row, column + 2] = 0
        return -1
    if position == last:
        return -1
    moved = arena[where + last]
    arena[where + position] = moved
    return int(moved)


@kernel
def _bucket(entries: Int32s, where: int, user: int) -> int:
    word = (np.uint64(where) << np.uint64(32)) | np.uint64(user)
    word = (word ^ (word >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return int(np.int64(word >> np.uint64(33)) & (len(entries) - 1))


@kernel
def _find(entries: Int32s, where: int, user: int) -> int:
    """Give the entry of a user in a set, or -1."""
    e = entries[_bucket(entries, where, user), BUCKET]
    while e >= 0 and (entries[e, USER] != user or entries[e, SET] != where):
        e = entries[e, NEXT]
    return int(e)


@kernel
def _new_entry(sets: Int32s, entries: Int32s, arena: Int32s, counts: Int64s, where: int, user: int) -> int:
    """Make the entry of a user that is new in a set."""
    e = counts[ENTRY_FREE]
    if e >= 0:
        counts[ENTRY_FREE] = entries[e, NEXT]
    else:
        e = counts[ENTRY_TOP]
        counts[ENTRY_TOP] = e + 1
    counts[ENTRIES] += 1
    bucket = _bucket(entries, where, user)
    entries[e, SET], entries[e, USER], entries[e, NEXT] = where, user, entries[bucket, BUCKET]
    entries[e, TOKENS + 1] = entries[e, TOKENS + 2] = 0
    entries[bucket, BUCKET] = e
    entries[e, SLOT] = _push(arena, counts, sets, where, USERS, e)
    return int(e)


@kernel
def _drop_entry(sets: Int32s, entries: Int32s, arena: Int32s, counts: Int64s, e: int) -> None:
    """Forget an entry whose user has left the set."""
    where, slot = entries[e, SET], entries[e, SLOT]
    moved = _take_out(arena, counts, sets, where, USERS, slot)
    if moved >= 0:
        entries[moved, SLOT] = slot
    bucket = _bucket(entries, where, entries[e, USER])
    other = entries[bucket, BUCKET]
    if other == e:
        entries[bucket, BUCKET] = entries[e, NEXT]
    else:
        while entries[other, NEXT] != e:
            other = entries[other, NEXT]
        entries[other, NEXT] = entries[e, NEXT]
    entries[e, NEXT] = counts[ENTRY_FREE]
    counts[ENTRY_FREE] = e
    counts[ENTRIES] -= 1


@kernel
def _place_token(
    nodes: Int32s,
    sets: Int32s,
    entries: Int32s,
    waits: Int32s,
    arena: Int32s,
    counts: Int64s,
    token: int,
    node: int,
    first: int,
) -> None:
    """Put a token into the sets of a node's chain, from the given level down."""
    width = nodes.shape[1] - CHAIN
    user, at = waits[token, TOKEN_USER + width], TOKEN_FIRST + width
    waits[token, TOKEN_NODE + width] = node
    for level in range(first, nodes[node, LENGTH]):
        where = nodes[node, CHAIN + level]
        e = _find(entries, where, user)
        if e < 0:
            e = _new_entry(sets, entries, arena, counts, where, user)
        waits[token, at + level] = e
        waits[token, at + width + level] = _push(arena, counts, entries, e, TOKENS, token)


@kernel
def _lift_token(
    nodes: Int32s,
    sets: Int32s,
    entries: Int32s,
    waits: Int32s,
    arena: Int32s,
    counts: Int64s,
    token: int,
    first: int,
) -> None:
    """Take a token out of the sets of its node's chain, from the given level down."""
    width = nodes.shape[1] - CHAIN
    at = TOKEN_FIRST + width
    for level in range(first, nodes[waits[token, TOKEN_NODE + width], LENGTH]):
        e, position = waits[token, at + level], waits[token, at + width + level]
        moved = _take_out(arena, counts, entries, e, TOKENS, position)
        if moved >= 0:
            waits[moved, at + width + level] = position
        elif entries[e, TOKENS + 1] == 0:
            _drop_entry(sets, entries, arena, counts, e)


@kernel
def _enter(
    nodes: Int32s,
    sets: Int32s,
    entries: Int32s,
    waits: Int32s,
    arena: Int32s,
    counts: Int64s,
    user: int,
    node: int,
) -> None:
    """Lines 1.6 to 1.9: the record joins Q, its user joins U, of its node and of all branches above."""
    width = nodes.shape[1] - CHAIN
    record, token = counts[RECORD_FREE], counts[TOKEN_FREE]
    if record >= 0:
        counts[RECORD_FREE], counts[TOKEN_FREE] = waits[record, NODE], waits[token, TOKEN_NODE + width]
    else:
        record = token = counts[SLOT_TOP]
        counts[SLOT_TOP] = record + 1
    number = counts[SEEN]
    counts[SEEN] = number + 1
    counts[WAITING] += 1
    waits[record, NODE], waits[record, ASKER] = node, user
    waits[record, ID_LOW], waits[record, ID_HIGH] = number & 0x7FFFFFFF, number >> 31
    for level in range(nodes[node, LENGTH]):
        waits[record, FIRST + level] = _push(arena, counts, sets, nodes[node, CHAIN + level], QUERIES, record)
    waits[token, TOKEN_USER + width] = user
    _place_token(nodes, sets, entries, waits, arena, counts, token, node, 0)


@kernel
def _generate(
    nodes: Int32s,
    sets: Int32s,
    entries: Int32s,
    waits: Int32s,
    arena: Int32s,
    counts: Int64s,
    draws: npt.NDArray[np.uint32],
    where: int,
    out: Int64s,
) -> tuple[int, int]:
    """Let one record of a set leave with a user of it, and give the nodes they came from (lines 1.44 to 1.51).

    The record is uniform over the set's records; the user is uniform over the set's distinct users other than the
    asker; the place it is taken from is uniform over the user's places in the set.
    """
    width = nodes.shape[1] - CHAIN
    record = _get(arena, sets, where, QUERIES, _draw(draws, counts, sets[where, QUERIES + 1]))
    query_node, asker = waits[record, NODE], waits[record, ASKER]
    candidates = int(sets[where, USERS + 1])
    own = _find(entries, where, asker)
    if own >= 0:
        candidates -= 1
    slot = _draw(draws, counts, candidates)
    if own >= 0 and slot >= entries[own, SLOT]:
        slot += 1
    e = _get(arena, sets, where, USERS, slot)
    places = entries[e, TOKENS + 1]
    token = _get(arena, entries, e, TOKENS, _draw(draws, counts, places) if places > 1 else 0)
    user_node = waits[token, TOKEN_NODE + width]
    number = np.int64(waits[record, ID_HIGH]) << 31 | waits[record, ID_LOW]
    out[RECORD], out[NEW_USER], out[CANDIDATES] = number, waits[token, TOKEN_USER + width], candidates
    out[DELAY] = counts[SEEN] - 1 - number
    for level in range(nodes[query_node, LENGTH]):
        position = waits[record, FIRST + level]
        moved = _take_out(arena, counts, sets, nodes[query_node, CHAIN + level], QUERIES, position)
        if moved >= 0:
            waits[moved, FIRST + level] = position
    _lift_token(nodes, sets, entries, waits, arena, counts, token, 0)
    waits[record, NODE], waits[token, TOKEN_NODE + width] = counts[RECORD_FREE], counts[TOKEN_FREE]
    counts[RECORD_FREE], counts[TOKEN_FREE] = record, token
    counts[WAITING] -= 1
    return int(query_node), int(user_node)


@kernel
def _balance(
    nodes: Int32s,
    sets: Int32s,
    entries: Int32s,
    waits: Int32s,
    arena: Int32s,
    counts: Int64s,
    draws: npt.NDArray[np.uint32],
    query_node: int,
    user_node: int,
) -> None:
    """Lines 1.33 to 1.35: a user of the query's node, uniform over its distinct users, moves to the user's node."""
    where = nodes[query_node, CHAIN + nodes[query_node, LENGTH] - 1]
    e = _get(arena, sets, where, USERS, _draw(draws, counts, sets[where, USERS + 1]))
    token = _get(arena, entries, e, TOKENS, entries[e, TOKENS + 1] - 1)
    shared = 0
    most = min(nodes[query_node, LENGTH], nodes[user_node, LENGTH])
    while shared < most and nodes[query_node, CHAIN + shared] == nodes[user_node, CHAIN + shared]:
        shared += 1
    _lift_token(nodes, sets, entries, waits, arena, counts, token, shared)
    _place_token(nodes, sets, entries, waits, arena, counts, token, user_node, shared)


@kernel
def run(m: Machine, k: int, most: int, user: Int32s, node: Int32s, out: Int64s) -> tuple[int, int]:
    """Let records enter one after the other, and others leave; give how many entered and how many left.

    Stops before a record for which there may not be room or random words enough: the caller makes room and goes on.
    `most` = how many records may leave from a node for each that enters: 2, or any number for Algorithm 2.
    `out` int64[room, 4] = running number, new user, candidates, delay of each record that left.
    """
    nodes, sets, entries, waits, arena, counts, draws = m
    width, n, drain, left = nodes.shape[1] - CHAIN, 0, counts[PENDING], 0
    i = 0
    while True:
        # lines 1.18 to 1.25: let records out of one node
        if drain >= 0:
            own = nodes[drain, CHAIN + nodes[drain, LENGTH] - 1]
            while left < most and sets[own, USERS + 1] > k:
                if n == len(out) or len(draws) - counts[CURSOR] < SPARE_DRAWS:
                    counts[PENDING] = drain
                    return i, n
                _generate(nodes, sets, entries, waits, arena, counts, draws, own, out[n])
                n += 1
                left += 1
            drain = counts[PENDING] = -1
        room = len(arena) - counts[ARENA_TOP] >= 10 * width * max(counts[LARGEST], 4)
        room &= len(entries) - counts[ENTRIES] > 2 * width and len(waits) > counts[WAITING]
        room &= len(draws) - counts[CURSOR] >= 2 * SPARE_DRAWS and n + 2 <= len(out)
        if i == len(user) or not room:
            return i, n
        v = node[i]
        _enter(nodes, sets, entries, waits, arena, counts, user[i], v)
        i += 1
        left = 0
        if sets[nodes[v, CHAIN + nodes[v, LENGTH] - 1], USERS + 1] > k:
            drain = v
            continue
        # lines 1.26 to 1.40: borrow from the deepest branch with users enough
        level = nodes[v, BRANCHES] - 1
        while level >= 0 and sets[nodes[v, CHAIN + level], USERS + 1] <= k:
            level -= 1
        if level >= 0:
            where = nodes[v, CHAIN + level]
            query_node, user_node = _generate(nodes, sets, entries, waits, arena, counts, draws, where, out[n])
            n += 1
            if query_node != user_node:
                _balance(nodes, sets, entries, waits, arena, counts, draws, query_node, user_node)
                drain, left = user_node, most - 1


@kernel
def rehash(entries: Int32s, used: Int32s) -> None:
    """Put the entries in use into a table of buckets that has just been emptied."""
    for e in used:
        bucket = _bucket(entries, entries[e, SET], entries[e, USER])
        entries[e, NEXT] = entries[bucket, BUCKET]
        entries[bucket, BUCKET] = e
