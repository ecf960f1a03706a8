"""The machine of the stream anonymizers: Algorithm 1 of Pàmies-Estrems & Garcia-Alfaro (2023) at O(depth) per record.

The paper's words: U[v], Q[v] = users and queries that wait in node v itself, its *own set*; BU[v], BQ[v] = a *branch*,
the set of v with all nodes below it. The *chain* of a node = its sets from the branch of depth 1 down to its own (at
the cut depth the last branch is its own set). A *record* is a waiting query; a *token* is a waiting user.

The memory. Every array is int32 unless it says otherwise; the owner of all is `StreamEngine`, which alone replaces them
with longer ones, between two calls of `run`. A "bag" is a list of items, in three columns: START, SIZE, CAPACITY.

    nodes    [node]    LENGTH of the chain | RECORDS bag | TOKENS bag | CHAIN: set, set, … (-1 past LENGTH)
    tally    [set]     COUNT of tokens | INDEXED, 0 or 1
    sets     [set]     QUERIES bag of records | USERS bag of entries
    entries  [entry]   SET | USER | SLOT in USERS of its set | NEXT in its bucket, or free list | PLACES bag of tokens
    buckets  [hash]    first entry with this hash of (set, user), -1 = none; as long as `entries`, a power of 2
    waits    [slot]    record: NODE (or next free) | ASKER | ID_LOW | ID_HIGH | OWN | FIRST + level …
                       token, after FIRST + width: TOKEN_NODE (or next free) | TOKEN_USER | TOKEN_OWN
                                                   | TOKEN_FIRST + 2 level: entry, position …
    arena    [cell]    blocks of 4, 8, 16, … items; the first cell of a free block is the next free one of its size
    counts   [cell]    int64: tops, heads of free lists, and numbers; named below
    draws    [word]    uint32: random words; those before counts[CURSOR] are used up
    ring     [number]  where records may wait for N others at most: a power of 2 above N; the cell of a record's running
                       number, modulo that, is its slot of `waits`, plus 1. Empty where they may wait for ever

    nodes[v] ──CHAIN──> sets[s] ──USERS──> entries[e] ──PLACES──> tokens: one entry for each *distinct* user of a set,
                                └─QUERIES─> records               with one token for each time that the user waits

A record and a token in one row of `waits` have nothing to do with each other: two unrelated things share this slot.
There are as many of one as of the other, so one array, one top and one bound serve both; the free lists are separate.

Items know their positions, so that any of them leaves its bag by swapping with the last, and nothing is searched: OWN
and TOKEN_OWN are positions in the bags of the node, FIRST + level in QUERIES of that set of the chain, "position" in
PLACES of the entry, SLOT in USERS of the set.

What holds between two calls (n of a bag = its SIZE):
 1. nodes: n of RECORDS summed over all nodes = n of TOKENS = counts[WAITING]; node by node they are equal, too.
 2. A set of level 0 is always INDEXED. A set that is INDEXED has its COUNT as n of QUERIES and as sum of n of PLACES
    over its USERS, and the set above it in the chain is INDEXED.
 3. A set below one that is INDEXED is counted: COUNT is its number of tokens. Any other has COUNT = 0.
 4. A set that is counted only has COUNT <= k. With k tokens or fewer there are at most k distinct users and nothing
    can leave: its bags would never be read, so it is not indexed. It is indexed from the bags of the set above when it
    grows past k, and forgotten below k / 2, so that a set that goes back and forth around k is not built each time.
 5. An entry is in use where n of PLACES > 0; then it is in exactly one bucket and in USERS of its set. The others below
    ENTRY_TOP are in the free list ENTRY_FREE; ENTRIES counts those in use.
 6. A bag with CAPACITY = 0 has no block: with n = 1 it keeps its one item in START. Most bags never hold two, and so
    cost neither a block nor a second line of the cache. Else START is the first of CAPACITY cells of `arena`.
 7. A record in use has OWN >= 0, and a free one OWN = -1. A cell of `ring` may name a slot that its record has left:
    whoever looks compares OWN and the number.

This file is longer than others: kernels never call across files, since a cached kernel does not notice edits elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, instruction, lean_kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of a bag, counted from the column that names it
START, SIZE, CAPACITY, BAG = 0, 1, 2, 3
# columns of nodes, tally, sets, entries
LENGTH, RECORDS, TOKENS, CHAIN = 0, 1, 1 + BAG, 1 + 2 * BAG
COUNT, INDEXED = 0, 1
QUERIES, USERS, SET_COLUMNS = 0, BAG, 2 * BAG
SET, USER, SLOT, NEXT, PLACES, ENTRY_COLUMNS = 0, 1, 2, 3, 4, 4 + BAG + 1  # one spare column: half a line of the cache
# columns of waits; those of a token are counted without the `width` positions of the record before them
NODE, ASKER, ID_LOW, ID_HIGH, OWN, FIRST = 0, 1, 2, 3, 4, 5
TOKEN_NODE, TOKEN_USER, TOKEN_OWN, TOKEN_FIRST = 5, 6, 7, 8
# cells of counts: the first cell never used of arena, entries, waits; the longest block so far; heads of free lists
ARENA_TOP, LARGEST, ENTRY_TOP, ENTRY_FREE, ENTRIES, SLOT_TOP, RECORD_FREE, TOKEN_FREE, WAITING, SEEN = range(10)
CURSOR, PENDING, K, HOLD = 10, 11, 12, 13  # next random word; node that has not yet let out all it may, -1 = none
CLASSES = 14  # counts[CLASSES + c] = first free block of SMALLEST << c cells, -1 = none
LIMIT, LATE, COUNTS = 42, 43, 44  # longest delay; 1 = a record that is overdue could not go yet, for want of room
SMALLEST = 4
AHEAD = 4  # records whose sets are asked for before they are needed; their nodes twice as early
RECORD, NEW_USER, CANDIDATES, DELAY, OUT_COLUMNS = range(5)  # columns of what left
DROPPED = -1  # CANDIDATES of a record that was dropped; NEW_USER is then the user that was dropped with it
# A record takes at most 8, and 3 more for one that is overdue; each is drawn again with a probability below 1/2 (in
# practice 2^-10).
SPARE_DRAWS = 128


class Machine(NamedTuple):
    """The state, as flat arrays: see the drawing above."""

    nodes: Int32s
    tally: Int32s
    sets: Int32s
    entries: Int32s
    buckets: Int32s
    waits: Int32s
    arena: Int32s
    counts: Int64s
    draws: npt.NDArray[np.uint32]
    ring: Int32s


@instruction("fetch")
def _fetch(table: Int32s, row: int) -> None:
    """Ask the memory for a row, and do not wait for it."""


@inlined_kernel
def _look_ahead(m: Machine, node: Int32s, i: int) -> None:
    """Ask for the rows of the records that enter soon: of their nodes, then of their sets."""
    if i + 2 * AHEAD < len(node):
        _fetch(m.nodes, node[i + 2 * AHEAD])
        v = node[i + AHEAD]
        last = m.nodes[v, LENGTH] - 1
        _fetch(m.tally, m.nodes[v, CHAIN + last])
        _fetch(m.tally, m.nodes[v, CHAIN + min(last, 1)])


# ---- names for columns that depend on the level ----


@inlined_kernel
def _set_at(m: Machine, node: int, level: int) -> int:
    """Return the set at a level of a node's chain."""
    return m.nodes[node, CHAIN + level]  # type: ignore[no-any-return]


@inlined_kernel
def _goes_through(m: Machine, node: int, level: int, where: int) -> bool:
    """Tell whether a set is in the chain of a node, at this level."""
    return m.nodes[node, LENGTH] > level and m.nodes[node, CHAIN + level] == where  # type: ignore[no-any-return]


@inlined_kernel
def _of_token(m: Machine, column: int) -> int:
    """Return the column of `waits` for one of TOKEN_NODE, TOKEN_USER, TOKEN_OWN."""
    return column + m.nodes.shape[1] - CHAIN  # type: ignore[no-any-return]


@inlined_kernel
def _entry_at(m: Machine, level: int) -> int:
    """Return the column of `waits` for a token's entry at a level."""
    return _of_token(m, TOKEN_FIRST) + 2 * level


@inlined_kernel
def _position_at(m: Machine, level: int) -> int:
    """Return the column of `waits` for a token's position among the PLACES of its entry at a level."""
    return _of_token(m, TOKEN_FIRST) + 2 * level + 1


@inlined_kernel
def _draw(m: Machine, bound: int) -> int:
    """Draw one of 0..bound-1 without bias (Lemire 2019); bound < 2^31, so that no product leaves 63 bits.

    Words are refilled outside the kernel, by Python: they come from the operating system or a seeded generator, and a
    kernel can call neither. `run` stops while SPARE_DRAWS are left, so that none runs out in the middle of a record.
    """
    while True:
        at = m.counts[CURSOR]
        m.counts[CURSOR] = at + 1
        product = np.int64(m.draws[at]) * bound
        low = product & 0xFFFFFFFF
        if low >= bound or low >= 4294967296 % bound:
            return int(product >> 32)


# ---- bags; a bag is `table`, `row` and the column that names it ----


@inlined_kernel
def _give_back(m: Machine, block: int, capacity: int) -> None:
    """Put a block into the free list of its size."""
    cell = CLASSES
    while (SMALLEST << (cell - CLASSES)) < capacity:
        cell += 1
    if capacity > 0:  # 0 = there is no block
        m.arena[block], m.counts[cell] = m.counts[cell], block


@inlined_kernel
def _enlarge(m: Machine, table: Int32s, row: int, bag: int) -> None:
    """Move a full bag into a block of twice the size, or into its first block."""
    old, capacity = table[row, bag + START], table[row, bag + CAPACITY]
    wanted, cell = max(2 * capacity, SMALLEST), CLASSES
    while (SMALLEST << (cell - CLASSES)) < wanted:
        cell += 1
    block = m.counts[cell]
    if block >= 0:
        m.counts[cell] = m.arena[block]
    else:
        block = m.counts[ARENA_TOP]
        m.counts[ARENA_TOP] = block + wanted
        m.counts[LARGEST] = max(m.counts[LARGEST], wanted)
    if capacity == 0:
        m.arena[block] = old  # the one item was kept in place of the block's start
    for i in range(capacity):
        m.arena[block + i] = m.arena[old + i]
    _give_back(m, old, capacity)
    table[row, bag + START], table[row, bag + CAPACITY] = block, wanted


@inlined_kernel
def _push(m: Machine, table: Int32s, row: int, bag: int, item: int) -> int:
    """Put an item into a bag and return its position."""
    size, capacity = table[row, bag + SIZE], table[row, bag + CAPACITY]
    table[row, bag + SIZE] = size + 1
    if capacity == 0 and size == 0:
        table[row, bag + START] = item
        return 0
    if size >= capacity:
        _enlarge(m, table, row, bag)
    m.arena[table[row, bag + START] + size] = item
    return int(size)


@inlined_kernel
def _get(m: Machine, table: Int32s, row: int, bag: int, position: int) -> int:
    """Return the item at a position of a bag."""
    start = table[row, bag + START]
    return int(start) if table[row, bag + CAPACITY] == 0 else int(m.arena[start + position])


@inlined_kernel
def _take_out(m: Machine, table: Int32s, row: int, bag: int, position: int, items: Int32s, known: int) -> None:
    """Remove the item at a position; the last item takes its position, and notes it in items[item, known]."""
    start, last, capacity = table[row, bag + START], table[row, bag + SIZE] - 1, table[row, bag + CAPACITY]
    table[row, bag + SIZE] = last
    if last == 0:  # not at one: a bag between one item and two would lose its block and take it again each time
        _give_back(m, start, capacity)
        table[row, bag + CAPACITY] = 0
    if position != last:
        moved = m.arena[start + last]
        m.arena[start + position] = moved
        items[moved, known] = position


# ---- entries: a hash table (set, user) -> entry, chained, so that entries stay where they are ----


@inlined_kernel
@wraps_around
def _bucket(buckets: Int32s, where: int, user: int) -> int:
    """Return the bucket of a (set, user)."""
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
    """Take an entry out of the hash table and put it into the free list."""
    entries, buckets = m.entries, m.buckets
    bucket = _bucket(buckets, entries[e, SET], entries[e, USER])
    other = buckets[bucket]
    if other == e:
        buckets[bucket] = entries[e, NEXT]
    else:
        while entries[other, NEXT] != e:
            other = entries[other, NEXT]
        entries[other, NEXT] = entries[e, NEXT]
    entries[e, NEXT], entries[e, PLACES + SIZE] = m.counts[ENTRY_FREE], 0  # size 0 marks it as free
    m.counts[ENTRY_FREE] = e
    m.counts[ENTRIES] -= 1


@inlined_kernel
def _index_token(m: Machine, token: int, where: int, level: int) -> None:
    """Put a token into a set, under the entry of its user."""
    entries = m.entries
    user = m.waits[token, _of_token(m, TOKEN_USER)]
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
        entries[e, PLACES + SIZE] = entries[e, PLACES + CAPACITY] = 0
        m.buckets[bucket] = e
        entries[e, SLOT] = _push(m, m.sets, where, USERS, e)
    m.waits[token, _entry_at(m, level)] = e
    m.waits[token, _position_at(m, level)] = _push(m, entries, e, PLACES, token)


# ---- sets: counted only, or indexed ----


@lean_kernel
def _index_set(m: Machine, where: int, level: int, above: int) -> None:
    """Fill the bags of a set from those of the set above it in the chain, and count the sets below it."""
    m.tally[where, INDEXED] = 1
    for i in range(m.sets[above, QUERIES + SIZE]):
        record = _get(m, m.sets, above, QUERIES, i)
        if _goes_through(m, m.waits[record, NODE], level, where):
            m.waits[record, FIRST + level] = _push(m, m.sets, where, QUERIES, record)
    for i in range(m.sets[above, USERS + SIZE]):
        e = _get(m, m.sets, above, USERS, i)
        for j in range(m.entries[e, PLACES + SIZE]):
            token = _get(m, m.entries, e, PLACES, j)
            node = m.waits[token, _of_token(m, TOKEN_NODE)]
            if _goes_through(m, node, level, where):
                _index_token(m, token, where, level)
                if m.nodes[node, LENGTH] > level + 1:
                    m.tally[_set_at(m, node, level + 1), COUNT] += 1


@lean_kernel
def _forget_set(m: Machine, where: int, level: int) -> None:
    """Empty the bags of a set that is too small to let anything out; the sets below are no longer counted."""
    m.tally[where, INDEXED] = 0
    for i in range(m.sets[where, USERS + SIZE]):
        e = _get(m, m.sets, where, USERS, i)
        for j in range(m.entries[e, PLACES + SIZE]):
            node = m.waits[_get(m, m.entries, e, PLACES, j), _of_token(m, TOKEN_NODE)]
            if m.nodes[node, LENGTH] > level + 1:
                m.tally[_set_at(m, node, level + 1), COUNT] = 0
        _give_back(m, m.entries[e, PLACES + START], m.entries[e, PLACES + CAPACITY])
        _forget_entry(m, e)
    for bag in (QUERIES, USERS):
        _give_back(m, m.sets[where, bag + START], m.sets[where, bag + CAPACITY])
        m.sets[where, bag + SIZE] = m.sets[where, bag + CAPACITY] = 0


@inlined_kernel
def _join(m: Machine, record: int, token: int, node: int, first: int) -> None:
    """Put a token, and a record unless it is -1, into a node and into its chain from level `first` down."""
    m.waits[token, _of_token(m, TOKEN_NODE)] = node
    m.waits[token, _of_token(m, TOKEN_OWN)] = _push(m, m.nodes, node, TOKENS, token)
    if first > 0 and not m.tally[_set_at(m, node, first - 1), INDEXED]:
        return  # below a set that is not indexed nothing is counted
    counted = False
    for level in range(first, m.nodes[node, LENGTH]):
        where = _set_at(m, node, level)
        if not counted:
            m.tally[where, COUNT] += 1
        if m.tally[where, INDEXED]:
            if record >= 0:
                m.waits[record, FIRST + level] = _push(m, m.sets, where, QUERIES, record)
            _index_token(m, token, where, level)
        elif m.tally[where, COUNT] > m.counts[K]:
            # The bags above hold the new record and token already: they come in with the others. The set below is
            # counted on the way, this token included, and must not be counted twice.
            _index_set(m, where, level, _set_at(m, node, level - 1))
            counted = True
        else:
            break


@inlined_kernel
def _lift(m: Machine, token: int, first: int) -> None:
    """Take a token out of its node and out of its chain from level `first` down."""
    node, position = m.waits[token, _of_token(m, TOKEN_NODE)], m.waits[token, _of_token(m, TOKEN_OWN)]
    _take_out(m, m.nodes, node, TOKENS, position, m.waits, _of_token(m, TOKEN_OWN))
    end = first
    while end < m.nodes[node, LENGTH] and (end == 0 or m.tally[_set_at(m, node, end - 1), INDEXED]):
        end += 1
    for level in range(end - 1, first - 1, -1):  # from below: no set is forgotten before those below it
        where = _set_at(m, node, level)
        m.tally[where, COUNT] -= 1
        if not m.tally[where, INDEXED]:
            continue
        e, position = m.waits[token, _entry_at(m, level)], m.waits[token, _position_at(m, level)]
        _take_out(m, m.entries, e, PLACES, position, m.waits, _position_at(m, level))
        if m.entries[e, PLACES + SIZE] == 0:
            _take_out(m, m.sets, where, USERS, m.entries[e, SLOT], m.entries, SLOT)
            _forget_entry(m, e)
        if level > 0 and 2 * m.tally[where, COUNT] < m.counts[K]:
            _forget_set(m, where, level)


# ---- Algorithm 1 ----


@inlined_kernel
def _enter(m: Machine, user: int, node: int) -> None:
    """Lines 1.6 to 1.9: the record joins Q, its user joins U, of its node and of all branches above."""
    waits, counts = m.waits, m.counts
    record, token = counts[RECORD_FREE], counts[TOKEN_FREE]
    if record >= 0:  # as many tokens are free as records
        counts[RECORD_FREE], counts[TOKEN_FREE] = waits[record, NODE], waits[token, _of_token(m, TOKEN_NODE)]
    else:
        record = token = counts[SLOT_TOP]
        counts[SLOT_TOP] = record + 1
    number = counts[SEEN]
    counts[SEEN] = number + 1
    counts[WAITING] += 1
    waits[record, NODE], waits[record, ASKER] = node, user
    waits[record, ID_LOW], waits[record, ID_HIGH] = number & 0x7FFFFFFF, number >> 31
    waits[record, OWN] = _push(m, m.nodes, node, RECORDS, record)
    if len(m.ring) > 0:
        m.ring[number & (len(m.ring) - 1)] = record + 1
    waits[token, _of_token(m, TOKEN_USER)] = user
    _join(m, record, token, node, 0)


@inlined_kernel
def _number_of(m: Machine, record: int) -> int:
    """Return the running number of a waiting record."""
    return int(np.int64(m.waits[record, ID_HIGH]) << 31 | np.int64(m.waits[record, ID_LOW]))


@inlined_kernel
def _remove(m: Machine, record: int, token: int) -> tuple[int, int]:
    """Take a record and a token out of all bags, and free their slots; return the nodes they came from."""
    waits, counts = m.waits, m.counts
    query_node, user_node = waits[record, NODE], waits[token, _of_token(m, TOKEN_NODE)]
    _take_out(m, m.nodes, query_node, RECORDS, waits[record, OWN], waits, OWN)
    for level in range(m.nodes[query_node, LENGTH]):
        there = _set_at(m, query_node, level)
        if not m.tally[there, INDEXED]:
            break
        _take_out(m, m.sets, there, QUERIES, waits[record, FIRST + level], waits, FIRST + level)
    _lift(m, token, 0)
    waits[record, NODE], waits[token, _of_token(m, TOKEN_NODE)] = counts[RECORD_FREE], counts[TOKEN_FREE]
    waits[record, OWN] = -1
    counts[RECORD_FREE], counts[TOKEN_FREE] = record, token
    counts[WAITING] -= 1
    return int(query_node), int(user_node)


@inlined_kernel
def _let_out(m: Machine, where: int, record: int, out: Int64s) -> tuple[int, int]:
    """Let a record of a set leave with a user of it; return the nodes they came from (lines 1.46 to 1.51).

    The user is uniform over the set's distinct users other than the asker; the token that is used up is uniform over
    the user's tokens in the set.
    """
    sets, entries, waits = m.sets, m.entries, m.waits
    candidates = int(sets[where, USERS + SIZE])
    _fetch(m.nodes, waits[record, NODE])
    own = _find(m, where, waits[record, ASKER])
    if own >= 0:
        candidates -= 1
    slot = _draw(m, candidates)
    if own >= 0 and slot >= entries[own, SLOT]:
        slot += 1  # step over the asker: one draw, and no drawing again
    e = _get(m, sets, where, USERS, slot)
    tokens = entries[e, PLACES + SIZE]
    token = _get(m, entries, e, PLACES, _draw(m, tokens) if tokens > 1 else 0)
    _fetch(m.nodes, waits[token, _of_token(m, TOKEN_NODE)])
    number = _number_of(m, record)
    out[RECORD], out[NEW_USER], out[CANDIDATES] = number, waits[token, _of_token(m, TOKEN_USER)], candidates
    out[DELAY] = m.counts[SEEN] - 1 - number
    return _remove(m, record, token)


@inlined_kernel  # a call would hand over every field of every array: a tenth of the whole
def _generate(m: Machine, where: int, out: Int64s) -> tuple[int, int]:
    """Let one record of a set, uniform over its records, leave with a user of it (lines 1.44 to 1.51)."""
    record = _get(m, m.sets, where, QUERIES, _draw(m, m.sets[where, QUERIES + SIZE]))
    return _let_out(m, where, record, out)


@inlined_kernel  # a call would hand over every field of every array: a tenth of the whole
def _balance(m: Machine, query_node: int, user_node: int) -> None:
    """Lines 1.33 to 1.35: a user that waits in the query's node moves to the user's node, uniform over the waiting.

    Both nodes then have as many records as tokens again. Sets that the two chains share keep the token.
    """
    nodes = m.nodes
    token = _get(m, nodes, query_node, TOKENS, _draw(m, nodes[query_node, TOKENS + SIZE]))
    shared, most = 0, min(nodes[query_node, LENGTH], nodes[user_node, LENGTH])
    while shared < most and _set_at(m, query_node, shared) == _set_at(m, user_node, shared):
        shared += 1
    _lift(m, token, shared)
    _join(m, -1, token, user_node, shared)


# ---- records that have waited long enough: ours, not the paper's ----


@inlined_kernel
def _overdue(m: Machine) -> int:
    """Return the slot of the waiting record that may wait for no further one, or -1."""
    number = m.counts[SEEN] - 1 - m.counts[LIMIT]
    if number < 0:
        return -1
    record = m.ring[number & (len(m.ring) - 1)] - 1
    waits = record >= 0 and m.waits[record, OWN] >= 0 and _number_of(m, record) == number
    return int(record) if waits else -1


@inlined_kernel
def _drop(m: Machine, record: int, out: Int64s) -> tuple[int, int]:
    """Drop a record and a token, uniform over those of its top-level set; return the nodes they came from.

    Each node has as many tokens as records. The node of a uniform record is therefore that of a uniform token.
    """
    nodes, waits = m.nodes, m.waits
    top = _set_at(m, waits[record, NODE], 0)
    node = waits[_get(m, m.sets, top, QUERIES, _draw(m, m.sets[top, QUERIES + SIZE])), NODE]
    token = _get(m, nodes, node, TOKENS, _draw(m, nodes[node, TOKENS + SIZE]))
    number = _number_of(m, record)
    out[RECORD], out[NEW_USER], out[CANDIDATES] = number, waits[token, _of_token(m, TOKEN_USER)], DROPPED
    out[DELAY] = m.counts[SEEN] - 1 - number
    return _remove(m, record, token)


@lean_kernel
def _expel(m: Machine, record: int, out: Int64s) -> None:
    """Let a record leave from the smallest set of its chain with k users other than its asker; else drop it.

    Every set above such a set is one, too. A set with k tokens that is counted only may be one, where its asker waits
    in it no more: it is indexed to find out, and stays so by the usual rule. With fewer tokens it cannot.
    """
    nodes, tally, k = m.nodes, m.tally, m.counts[K]
    node, asker, smallest = m.waits[record, NODE], m.waits[record, ASKER], -1
    for level in range(nodes[node, LENGTH]):
        where = _set_at(m, node, level)
        if not tally[where, INDEXED]:
            if tally[where, COUNT] < k:
                break
            _index_set(m, where, level, _set_at(m, node, level - 1))
        if m.sets[where, USERS + SIZE] - (1 if _find(m, where, asker) >= 0 else 0) < k:
            break
        smallest = where
    if smallest >= 0:
        query_node, user_node = _let_out(m, smallest, record, out)
    else:
        query_node, user_node = _drop(m, record, out)
    if query_node != user_node:
        _balance(m, query_node, user_node)


@inlined_kernel
def _has_room(m: Machine) -> bool:
    """Tell whether all that one record can take is reserved, so that no array overflows in the middle of it.

    A record joins and leaves at most `width` sets a few times. In each it may double a bag (LARGEST), and may make the
    set grow past k, which then takes at most `full` records, entries and tokens in blocks of their own.
    `StreamEngine._make_room` reserves the same amounts.
    """
    counts, width = m.counts, m.nodes.shape[1] - CHAIN
    full = min(counts[K], counts[WAITING]) + 2  # items of a set when it is indexed
    room = len(m.arena) - counts[ARENA_TOP] >= width * (10 * max(counts[LARGEST], SMALLEST) + 24 * full)
    room &= len(m.entries) - counts[ENTRIES] > 2 * width * full and len(m.waits) > counts[WAITING]
    return room and len(m.draws) - counts[CURSOR] >= 2 * SPARE_DRAWS  # type: ignore[no-any-return]


@lean_kernel
def run(m: Machine, most: int, user: Int32s, node: Int32s, out: Int64s) -> tuple[int, int]:
    """Let records enter one after the other, and others leave; return how many entered and how many left.

    Stops before a record for which there may not be room, or random words, enough: the caller makes room and goes on.
    `most` = how many records may leave from a node for each that enters: 2, or any number for Algorithm 2.
    `out` int64[room, 4] = running number, new user, candidates, delay of each record that left, or was dropped.

    Where records may wait for N others only, the one that has is let out, or dropped, after all else that a record
    brings about, and brings nothing about itself.
    """
    nodes, tally, sets, counts = m.nodes, m.tally, m.sets, m.counts
    k, i, n, left, drain = counts[K], 0, 0, 0, counts[PENDING]
    while True:
        if drain >= 0:  # lines 1.18 to 1.25: let records out of one node
            own = _set_at(m, drain, nodes[drain, LENGTH] - 1)
            while left < most and tally[own, INDEXED] and sets[own, USERS + SIZE] > k:
                if n == len(out) or len(m.draws) - counts[CURSOR] < SPARE_DRAWS:
                    counts[PENDING] = drain  # happens with `most` > 2 only: two always fit
                    return i, n
                _generate(m, own, out[n])
                n += 1
                left += 1
            drain = counts[PENDING] = -1
        if len(m.ring) > 0:
            overdue = _overdue(m)
            if overdue >= 0:
                if n == len(out) or not _has_room(m):
                    counts[LATE] = 1
                    return i, n
                _expel(m, overdue, out[n])
                n += 1
            counts[LATE] = 0
        if i == len(user) or n + 2 > len(out) or not _has_room(m):
            return i, n
        v = node[i]
        _look_ahead(m, node, i)
        _enter(m, user[i], v)
        i += 1
        left, level = 0, 0
        while level < nodes[v, LENGTH]:  # the deepest set with users enough; every set above has them too
            there = _set_at(m, v, level)
            if not tally[there, INDEXED] or sets[there, USERS + SIZE] <= k:
                break
            level += 1
        if level == nodes[v, LENGTH]:
            drain = v
        elif level > 0 and tally[_set_at(m, v, 0), COUNT] > counts[HOLD]:  # lines 1.26 to 1.40: borrow from a branch
            query_node, user_node = _generate(m, _set_at(m, v, level - 1), out[n])
            n += 1
            if query_node != user_node:
                _balance(m, query_node, user_node)
                drain, left = user_node, most - 1


@lean_kernel
def expire(m: Machine, records: Int32s, out: Int64s) -> int:
    """Let out, or drop, waiting records, given by their slots, one after the other; return how many are gone.

    Stops before a record for which there may not be room, or random words, enough. `out` as in `run`, a row for each.
    """
    n = 0
    while n < len(records) and _has_room(m):
        _expel(m, records[n], out[n])
        n += 1
    return n


@lean_kernel
def rehash(entries: Int32s, buckets: Int32s, used: Int32s) -> None:
    """Put the entries in use into a table of buckets that has just been emptied."""
    for e in used:
        bucket = _bucket(buckets, entries[e, SET], entries[e, USER])
        entries[e, NEXT] = buckets[bucket]
        buckets[bucket] = e
