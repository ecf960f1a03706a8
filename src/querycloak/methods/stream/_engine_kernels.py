"""The machine of the stream anonymizers: Algorithm 1 of Pàmies-Estrems & Garcia-Alfaro (2023) at O(depth) a record.

U[v], Q[v] = the own set of a node; BU[v], BQ[v] = a branch, the set of a node with all below it; the chain of a node =
its sets from the branch of depth 1 down to its own (at the cut depth its last branch is its own). A *record* is a
waiting query, a *token* a waiting user. A bag is an array with swap-removal, and its items know their positions:
nothing is searched, and no draw depends on k. A set has a bag of records and a bag with one item per *distinct* user:
an entry. An entry belongs to one (set, user), is found by hashing the two, and has a bag of the user's tokens in it.

A set with k tokens or fewer cannot let anything out. It is only counted, and what lies below it is not even counted. It
is indexed, from the bags of the set above, when it grows past k, and forgotten when it shrinks below half of that. The
sets of depth 1 are always indexed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of nodes; a bag takes three: where, size, capacity
LENGTH, RECORDS, TOKENS, CHAIN = 0, 1, 4, 7
# columns of tally, of sets and of entries
COUNT, INDEXED, QUERIES, USERS = 0, 1, 0, 3
SET, USER, SLOT, NEXT, PLACES = 0, 1, 2, 3, 4
# columns of waits; those of the token come after the record's positions, and are given without them
NODE, ASKER, ID_LOW, ID_HIGH, OWN, FIRST = 0, 1, 2, 3, 4, 5
TOKEN_NODE, TOKEN_USER, TOKEN_OWN, TOKEN_FIRST = 5, 6, 7, 8
# cells of counts
ARENA_TOP, LARGEST, ENTRY_TOP, ENTRY_FREE, ENTRIES, SLOT_TOP, RECORD_FREE, TOKEN_FREE, WAITING, SEEN = range(10)
CURSOR, PENDING, K, HOLD = 10, 11, 12, 13  # next random word; node that has not yet let out all it may, -1 = none
CLASSES, COUNTS = 14, 42  # free lists of blocks of 4 << c items begin at CLASSES
RECORD, NEW_USER, CANDIDATES, DELAY = range(4)  # columns of what left
SPARE_DRAWS = 128  # a record takes at most 8; each is drawn again with a probability below 1/2 (in practice 2^-10)


class Machine(NamedTuple):
    """The state, as flat arrays."""

    nodes: Int32s  # [nodes, 7 + width]: length of the chain, bag of records, bag of tokens, the chain of sets
    tally: Int32s  # [sets, 2]: tokens in the set, 1 = it is indexed
    sets: Int32s  # [sets, 6]: bag of records, bag of entries
    entries: Int32s  # [power of 2, 8]: set, user, slot in the set's bag, next of the hash chain, bag of tokens
    buckets: Int32s  # [power of 2, as many]: first entry of each hash chain, -1 = none
    waits: Int32s  # [slots, 8 + 3 width]: a record (node, asker, running number in two halves, position in its node's
    # bag and in each set) and, a stranger to it, a token (node, user, position in its node's bag, entry, position)
    arena: Int32s  # blocks of the bags that hold more than one item
    counts: Int64s  # tops, free lists, and what is counted
    draws: npt.NDArray[np.uint32]  # random words, used up one after the other


@inlined_kernel
def _draw(m: Machine, bound: int) -> int:
    """Draw one of 0..bound-1 without bias (Lemire 2019); bound < 2^31, so that no product leaves 63 bits."""
    while True:
        at = m.counts[CURSOR]
        m.counts[CURSOR] = at + 1
        product = np.int64(m.draws[at]) * bound
        low = product & 0xFFFFFFFF
        if low >= bound or low >= 4294967296 % bound:
            return int(product >> 32)


@inlined_kernel
def _give_back(m: Machine, block: int, capacity: int) -> None:
    cell = CLASSES
    while (4 << (cell - CLASSES)) < capacity:
        cell += 1
    if capacity > 0:  # 0 = there is no block
        m.arena[block], m.counts[cell] = m.counts[cell], block


@inlined_kernel
def _enlarge(m: Machine, bags: Int32s, row: int, column: int) -> None:
    """Return a full bag a block of twice the size, or its first one, of 4."""
    old, capacity = bags[row, column], bags[row, column + 2]
    wanted, cell = max(2 * capacity, 4), CLASSES
    while (4 << (cell - CLASSES)) < wanted:
        cell += 1
    block = m.counts[cell]
    if block >= 0:
        m.counts[cell] = m.arena[block]
    else:
        block = m.counts[ARENA_TOP]
        m.counts[ARENA_TOP] = block + wanted
        m.counts[LARGEST] = max(m.counts[LARGEST], wanted)
    if capacity == 0:
        m.arena[block] = old
    for i in range(capacity):
        m.arena[block + i] = m.arena[old + i]
    _give_back(m, old, capacity)
    bags[row, column], bags[row, column + 2] = block, wanted


@inlined_kernel
def _push(m: Machine, bags: Int32s, row: int, column: int, item: int) -> int:
    """Put an item into a bag and give its position. A bag of one item keeps it in place of the block's start."""
    size, capacity = bags[row, column + 1], bags[row, column + 2]
    bags[row, column + 1] = size + 1
    if capacity == 0 and size == 0:
        bags[row, column] = item
        return 0
    if size >= capacity:
        _enlarge(m, bags, row, column)
    m.arena[bags[row, column] + size] = item
    return int(size)


@inlined_kernel
def _get(m: Machine, bags: Int32s, row: int, column: int, position: int) -> int:
    where = bags[row, column]
    return int(where) if bags[row, column + 2] == 0 else int(m.arena[where + position])


@inlined_kernel
def _take_out(m: Machine, bags: Int32s, row: int, column: int, position: int, items: Int32s, place: int) -> None:
    """Remove the item at a position; the item that moves there from the end is told, in its own row of `items`."""
    last, capacity, where = bags[row, column + 1] - 1, bags[row, column + 2], bags[row, column]
    bags[row, column + 1] = last
    if last == 0:
        _give_back(m, where, capacity)
        bags[row, column + 2] = 0
    if position != last:
        moved = m.arena[where + last]
        m.arena[where + position] = moved
        items[moved, place] = position


@inlined_kernel
def _bucket(buckets: Int32s, where: int, user: int) -> int:
    word = (np.uint64(where) << np.uint64(32)) | np.uint64(user)
    word = (word ^ (word >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return int(np.int64(word >> np.uint64(33)) & (len(buckets) - 1))


@inlined_kernel
def _find(m: Machine, where: int, user: int) -> int:
    """Return the entry of a user in a set, or -1."""
    e = m.buckets[_bucket(m.buckets, where, user)]
    while e >= 0 and (m.entries[e, USER] != user or m.entries[e, SET] != where):
        e = m.entries[e, NEXT]
    return int(e)


@inlined_kernel
def _forget_entry(m: Machine, e: int) -> None:
    """Take an entry out of the hash table."""
    entries, buckets = m.entries, m.buckets
    bucket = _bucket(buckets, entries[e, SET], entries[e, USER])
    other = buckets[bucket]
    if other == e:
        buckets[bucket] = entries[e, NEXT]
    else:
        while entries[other, NEXT] != e:
            other = entries[other, NEXT]
        entries[other, NEXT] = entries[e, NEXT]
    entries[e, NEXT], entries[e, PLACES + 1] = m.counts[ENTRY_FREE], 0
    m.counts[ENTRY_FREE] = e
    m.counts[ENTRIES] -= 1


@inlined_kernel
def _index_token(m: Machine, token: int, where: int, level: int) -> None:
    """Put a token into a set, under the entry of its user."""
    width, entries = m.nodes.shape[1] - CHAIN, m.entries
    user = m.waits[token, TOKEN_USER + width]
    e = _find(m, where, user)
    if e < 0:
        e = m.counts[ENTRY_FREE]
        if e >= 0:
            m.counts[ENTRY_FREE] = entries[e, NEXT]
        else:
            e = m.counts[ENTRY_TOP]
            m.counts[ENTRY_TOP] = e + 1
        m.counts[ENTRIES] += 1
        bucket = _bucket(m.buckets, where, user)
        entries[e, SET], entries[e, USER], entries[e, NEXT] = where, user, m.buckets[bucket]
        entries[e, PLACES + 1] = entries[e, PLACES + 2] = 0
        m.buckets[bucket] = e
        entries[e, SLOT] = _push(m, m.sets, where, USERS, e)
    m.waits[token, TOKEN_FIRST + width + 2 * level] = e
    m.waits[token, TOKEN_FIRST + width + 2 * level + 1] = _push(m, entries, e, PLACES, token)


@lean_kernel
def _index_set(m: Machine, where: int, level: int, above: int) -> None:
    """Fill the bags of a set from those of the set above it in the chain, and count the sets below it."""
    m.tally[where, INDEXED] = 1
    width = m.nodes.shape[1] - CHAIN
    for i in range(m.sets[above, QUERIES + 1]):
        record = _get(m, m.sets, above, QUERIES, i)
        node = m.waits[record, NODE]
        if m.nodes[node, LENGTH] > level and m.nodes[node, CHAIN + level] == where:
            m.waits[record, FIRST + level] = _push(m, m.sets, where, QUERIES, record)
    for i in range(m.sets[above, USERS + 1]):
        e = _get(m, m.sets, above, USERS, i)
        for j in range(m.entries[e, PLACES + 1]):
            token = _get(m, m.entries, e, PLACES, j)
            node = m.waits[token, TOKEN_NODE + width]
            if m.nodes[node, LENGTH] > level and m.nodes[node, CHAIN + level] == where:
                _index_token(m, token, where, level)
                if m.nodes[node, LENGTH] > level + 1:
                    m.tally[m.nodes[node, CHAIN + level + 1], COUNT] += 1


@lean_kernel
def _forget_set(m: Machine, where: int, level: int) -> None:
    """Empty the bags of a set that is too small to let anything out; the sets below are no longer counted."""
    m.tally[where, INDEXED] = 0
    width = m.nodes.shape[1] - CHAIN
    for i in range(m.sets[where, USERS + 1]):
        e = _get(m, m.sets, where, USERS, i)
        for j in range(m.entries[e, PLACES + 1]):
            node = m.waits[_get(m, m.entries, e, PLACES, j), TOKEN_NODE + width]
            if m.nodes[node, LENGTH] > level + 1:
                m.tally[m.nodes[node, CHAIN + level + 1], COUNT] = 0
        _give_back(m, m.entries[e, PLACES], m.entries[e, PLACES + 2])
        _forget_entry(m, e)
    for column in (QUERIES, USERS):
        _give_back(m, m.sets[where, column], m.sets[where, column + 2])
        m.sets[where, column + 1] = m.sets[where, column + 2] = 0


@inlined_kernel
def _join(m: Machine, record: int, token: int, node: int, first: int) -> None:
    """Put a token, and a record unless it is -1, into the chain of a node from the given level down."""
    width = m.nodes.shape[1] - CHAIN
    m.waits[token, TOKEN_NODE + width] = node
    m.waits[token, TOKEN_OWN + width] = _push(m, m.nodes, node, TOKENS, token)
    if first > 0 and not m.tally[m.nodes[node, CHAIN + first - 1], INDEXED]:
        return
    counted = False
    for level in range(first, m.nodes[node, LENGTH]):
        where = m.nodes[node, CHAIN + level]
        if not counted:
            m.tally[where, COUNT] += 1
        if m.tally[where, INDEXED]:
            if record >= 0:
                m.waits[record, FIRST + level] = _push(m, m.sets, where, QUERIES, record)
            _index_token(m, token, where, level)
        elif m.tally[where, COUNT] > m.counts[K]:
            _index_set(m, where, level, m.nodes[node, CHAIN + level - 1])
            counted = True  # with the token, in the set below
        else:
            break


@inlined_kernel
def _lift(m: Machine, token: int, first: int) -> None:
    """Take a token out of the chain of its node from the given level down."""
    width = m.nodes.shape[1] - CHAIN
    node, position = m.waits[token, TOKEN_NODE + width], m.waits[token, TOKEN_OWN + width]
    _take_out(m, m.nodes, node, TOKENS, position, m.waits, TOKEN_OWN + width)
    end = first
    while end < m.nodes[node, LENGTH] and (end == 0 or m.tally[m.nodes[node, CHAIN + end - 1], INDEXED]):
        end += 1
    for level in range(end - 1, first - 1, -1):  # from below: no set is forgotten before those below it
        where = m.nodes[node, CHAIN + level]
        m.tally[where, COUNT] -= 1
        if not m.tally[where, INDEXED]:
            continue
        e, position = (
            m.waits[token, TOKEN_FIRST + width + 2 * level],
            m.waits[token, TOKEN_FIRST + width + 2 * level + 1],
        )
        _take_out(m, m.entries, e, PLACES, position, m.waits, TOKEN_FIRST + width + 2 * level + 1)
        if m.entries[e, PLACES + 1] == 0:
            _take_out(m, m.sets, where, USERS, m.entries[e, SLOT], m.entries, SLOT)
            _forget_entry(m, e)
        if level > 0 and 2 * m.tally[where, COUNT] < m.counts[K]:
            _forget_set(m, where, level)


@inlined_kernel
def _enter(m: Machine, user: int, node: int) -> None:
    """Lines 1.6 to 1.9: the record joins Q, its user joins U, of its node and of all branches above."""
    width, waits, counts = m.nodes.shape[1] - CHAIN, m.waits, m.counts
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
    waits[record, OWN] = _push(m, m.nodes, node, RECORDS, record)
    waits[token, TOKEN_USER + width] = user
    _join(m, record, token, node, 0)


@lean_kernel
def _generate(m: Machine, where: int, out: Int64s) -> tuple[int, int]:
    """Let one record of a set leave with a user of it, and give the nodes they came from (lines 1.44 to 1.51).

    The record is uniform over the set's records; the user is uniform over the set's distinct users other than the
    asker; the place it is taken from is uniform over the user's places in the set.
    """
    width, sets, entries, waits, counts = m.nodes.shape[1] - CHAIN, m.sets, m.entries, m.waits, m.counts
    record = _get(m, sets, where, QUERIES, _draw(m, sets[where, QUERIES + 1]))
    query_node = waits[record, NODE]
    candidates = int(sets[where, USERS + 1])
    own = _find(m, where, waits[record, ASKER])
    if own >= 0:
        candidates -= 1
    slot = _draw(m, candidates)
    if own >= 0 and slot >= entries[own, SLOT]:
        slot += 1
    e = _get(m, sets, where, USERS, slot)
    places = entries[e, PLACES + 1]
    token = _get(m, entries, e, PLACES, _draw(m, places) if places > 1 else 0)
    user_node = waits[token, TOKEN_NODE + width]
    number = np.int64(waits[record, ID_HIGH]) << 31 | waits[record, ID_LOW]
    out[RECORD], out[NEW_USER], out[CANDIDATES] = number, waits[token, TOKEN_USER + width], candidates
    out[DELAY] = counts[SEEN] - 1 - number
    _take_out(m, m.nodes, query_node, RECORDS, waits[record, OWN], waits, OWN)
    for level in range(m.nodes[query_node, LENGTH]):
        there = m.nodes[query_node, CHAIN + level]
        if not m.tally[there, INDEXED]:
            break
        _take_out(m, sets, there, QUERIES, waits[record, FIRST + level], waits, FIRST + level)
    _lift(m, token, 0)
    waits[record, NODE], waits[token, TOKEN_NODE + width] = counts[RECORD_FREE], counts[TOKEN_FREE]
    counts[RECORD_FREE], counts[TOKEN_FREE] = record, token
    counts[WAITING] -= 1
    return int(query_node), int(user_node)


@lean_kernel
def _balance(m: Machine, query_node: int, user_node: int) -> None:
    """Lines 1.33 to 1.35: a user that waits in the query's node moves to the user's node, uniform over the waiting."""
    nodes = m.nodes
    token = _get(m, nodes, query_node, TOKENS, _draw(m, nodes[query_node, TOKENS + 1]))
    shared, most = 0, min(nodes[query_node, LENGTH], nodes[user_node, LENGTH])
    while shared < most and nodes[query_node, CHAIN + shared] == nodes[user_node, CHAIN + shared]:
        shared += 1
    _lift(m, token, shared)
    _join(m, -1, token, user_node, shared)


@lean_kernel
def run(m: Machine, most: int, user: Int32s, node: Int32s, out: Int64s) -> tuple[int, int]:
    """Let records enter one after the other, and others leave; give how many entered and how many left.

    Stops before a record for which there may not be room, or random words, enough: the caller makes room and goes on.
    `most` = how many records may leave from a node for each that enters: 2, or any number for Algorithm 2.
    `out` int64[room, 4] = running number, new user, candidates, delay of each record that left.
    """
    nodes, tally, sets, counts, width = m.nodes, m.tally, m.sets, m.counts, m.nodes.shape[1] - CHAIN
    k, i, n, left, drain = counts[K], 0, 0, 0, counts[PENDING]
    while True:
        if drain >= 0:  # lines 1.18 to 1.25: let records out of one node
            own = nodes[drain, CHAIN + nodes[drain, LENGTH] - 1]
            while left < most and tally[own, INDEXED] and sets[own, USERS + 1] > k:
                if n == len(out) or len(m.draws) - counts[CURSOR] < SPARE_DRAWS:
                    counts[PENDING] = drain  # comes with `most` > 2 only
                    return i, n
                _generate(m, own, out[n])
                n += 1
                left += 1
            drain = counts[PENDING] = -1
        full = min(k, counts[WAITING]) + 2  # items of a set when it is indexed
        room = len(m.arena) - counts[ARENA_TOP] >= width * (10 * max(counts[LARGEST], 4) + 24 * full)
        room &= len(m.entries) - counts[ENTRIES] > 2 * width * full and len(m.waits) > counts[WAITING]
        room &= len(m.draws) - counts[CURSOR] >= 2 * SPARE_DRAWS and n + 2 <= len(out)
        if i == len(user) or not room:
            return i, n
        v = node[i]
        _enter(m, user[i], v)
        i += 1
        left, level = 0, 0
        while level < nodes[v, LENGTH]:  # the deepest set with users enough; every set above has them too
            there = nodes[v, CHAIN + level]
            if not tally[there, INDEXED] or sets[there, USERS + 1] <= k:
                break
            level += 1
        if level == nodes[v, LENGTH]:
            drain = v
        elif level > 0 and tally[nodes[v, CHAIN], COUNT] > counts[HOLD]:  # lines 1.26 to 1.40: borrow from a branch
            query_node, user_node = _generate(m, nodes[v, CHAIN + level - 1], out[n])
            n += 1
            if query_node != user_node:
                _balance(m, query_node, user_node)
                drain, left = user_node, most - 1


@lean_kernel
def rehash(entries: Int32s, buckets: Int32s, used: Int32s) -> None:
    """Put the entries in use into a table of buckets that has just been emptied."""
    for e in used:
        bucket = _bucket(buckets, entries[e, SET], entries[e, USER])
        entries[e, NEXT] = buckets[bucket]
        buckets[bucket] = e
