"""The machine of `nearest`: a pool for each top-level category, of which the deepest ready set lets out first.

What it does, and why, is said in `nearest.py`.

The words are those of `_engine_kernels`: a *record* is a waiting query, a *token* a waiting user; the *chain* of a node
= its sets from the branch of depth 1 down to its own. A set is *ready* while a record and more than k distinct users
wait in it. Every set is indexed, also one of a single record: which of them is the deepest ready one must be known at
any time, and the nearest k users may wait in sets that are not ready.

The memory. Every array is int32 unless it says otherwise; the owner of all is `Nearest`, which alone replaces them with
longer ones, between two calls. A "bag" is a list of items, in three columns: START, SIZE, CAPACITY.

    nodes    [node]    LENGTH of the chain | CHAIN: set, set, … (-1 past LENGTH)
    sets     [set]     QUERIES bag of records | USERS bag of entries | TOKENS bag of tokens, in sets of level 0 alone
                       | READY_AT position in its bag of `ready`, -1 = not ready | READY_ROW of `ready`, -1 = new set
                       | LEVEL in the chains | CATEGORY: first row of `ready` of its top-level category
    ready    [row]     bag of ready sets; a category has width + 1 rows: its branches of level 0, 1, …, its own sets
    entries  [entry]   SET | USER | SLOT in USERS of its set | NEXT in its bucket, or free list
                       | HEAD, TAIL: the first and the last token of the user in the set
    buckets  [hash]    first entry with this hash of (set, user), -1 = none; as long as `entries`, a power of 2
    records  [slot]    NODE (or next free) | ASKER, -1 = free | ID_LOW | ID_HIGH | OLDER | YOUNGER
                       | FIRST + level: position in QUERIES of that set of the chain …
    tokens   [slot]    NODE (or next free) | HOLDER, -1 = free | ID_LOW | ID_HIGH of the record it came with | IN_TOP
                       position in TOKENS | LINKS + 3 level: entry, token before, token after …
    arena    [cell]    blocks of 4, 8, 16, … items; the first cell of a free block is the next free one of its size
    counts   [cell]    int64: tops, heads of free lists, and numbers; named below
    draws    [word]    uint32: random words; those before counts[CURSOR] are used up

    nodes[v] ──CHAIN──> sets[s] ──USERS──> entries[e] ──HEAD──> token ⇄ token ⇄ … in the order in which they came
                                └─QUERIES─> records

What holds between two calls (n of a bag = its SIZE):
 1. A record and a token leave together, from one set: so every set from that one up has as many records as tokens.
    Below, it may have more of one than of the other, since no user moves.
 2. A set is in its bag of `ready` if, and only if, n of QUERIES > 0 and n of USERS > k.
 3. An entry is in use where HEAD >= 0; then it is in exactly one bucket and in USERS of its set. The others below
    ENTRY_TOP are in the free list ENTRY_FREE; ENTRIES counts those in use.
 4. OLDEST, YOUNGER, … are the waiting records in the order in which they entered.
 5. A bag with CAPACITY = 0 has no block: with n = 1 it keeps its one item in START.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# columns of a bag, counted from the column that names it
START, SIZE, CAPACITY, BAG = 0, 1, 2, 3
# columns of nodes, sets, entries
LENGTH, CHAIN = 0, 1
QUERIES, USERS, TOKENS = 0, BAG, 2 * BAG
READY_AT, READY_ROW, LEVEL, CATEGORY, SET_COLUMNS = 3 * BAG, 3 * BAG + 1, 3 * BAG + 2, 3 * BAG + 3, 3 * BAG + 4
SET, USER, SLOT, NEXT, HEAD, TAIL, ENTRY_COLUMNS = 0, 1, 2, 3, 4, 5, 8  # two spare columns: half a line of the cache
# columns of records and tokens
NODE, ASKER, ID_LOW, ID_HIGH, OLDER, YOUNGER, FIRST = 0, 1, 2, 3, 4, 5, 6
HOLDER, IN_TOP, LINKS = 1, 4, 5
ENTRY, BEFORE, AFTER = 0, 1, 2
# cells of counts: the first cell never used of arena, entries, records, tokens; the longest block; heads of free lists
ARENA_TOP, LARGEST, ENTRY_TOP, ENTRY_FREE, ENTRIES, SLOT_TOP, RECORD_FREE, TOKEN_FREE, WAITING, SEEN = range(10)
CURSOR, OLDEST, YOUNGEST, K, POOL, MAX_DELAY = 10, 11, 12, 13, 14, 15
CLASSES, COUNTS = 16, 45  # counts[CLASSES + c] = first free block of SMALLEST << c cells, -1 = none
SMALLEST = 4
RECORD, NEW_USER, CANDIDATES, DELAY, OUT_COLUMNS = range(5)  # columns of what left
DROPPED_RECORD, DROPPED_USER, DROPPED_COLUMNS = range(3)
SPARE_DRAWS = 128  # a record takes at most 8; each is drawn again with a probability below 1/2 (in practice 2^-10)
MOST = 2  # records that leave for one that enters


class Pools(NamedTuple):
    """The state, as flat arrays: see the drawing above."""

    nodes: Int32s
    sets: Int32s
    ready: Int32s
    entries: Int32s
    buckets: Int32s
    records: Int32s
    tokens: Int32s
    arena: Int32s
    counts: Int64s
    draws: npt.NDArray[np.uint32]


@inlined_kernel
def _set_at(m: Pools, node: int, level: int) -> int:
    """Return the set at a level of a node's chain."""
    return m.nodes[node, CHAIN + level]  # type: ignore[no-any-return]


@inlined_kernel
def _number(m: Pools, record: int) -> int:
    """Return the running number of a waiting record."""
    return int(np.int64(m.records[record, ID_HIGH]) << 31 | np.int64(m.records[record, ID_LOW]))


@inlined_kernel
def _draw(m: Pools, bound: int) -> int:
    """Draw one of 0..bound-1 without bias (Lemire 2019); bound < 2^31, so that no product leaves 63 bits."""
    while True:
        at = m.counts[CURSOR]
        m.counts[CURSOR] = at + 1
        product = np.int64(m.draws[at]) * bound
        low = product & 0xFFFFFFFF
        if low >= bound or low >= 4294967296 % bound:
            return int(product >> 32)


# ---- bags; a bag is `table`, `row` and the column that names it ----


@inlined_kernel
def _give_back(m: Pools, block: int, capacity: int) -> None:
    """Put a block into the free list of its size."""
    cell = CLASSES
    while (SMALLEST << (cell - CLASSES)) < capacity:
        cell += 1
    if capacity > 0:  # 0 = there is no block
        m.arena[block], m.counts[cell] = m.counts[cell], block


@inlined_kernel
def _enlarge(m: Pools, table: Int32s, row: int, bag: int) -> None:
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
def _push(m: Pools, table: Int32s, row: int, bag: int, item: int) -> int:
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
def _get(m: Pools, table: Int32s, row: int, bag: int, position: int) -> int:
    """Return the item at a position of a bag."""
    start = table[row, bag + START]
    return int(start) if table[row, bag + CAPACITY] == 0 else int(m.arena[start + position])


@inlined_kernel
def _take_out(m: Pools, table: Int32s, row: int, bag: int, position: int, items: Int32s, known: int) -> None:
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
def _find(m: Pools, where: int, user: int) -> int:
    """Return the entry of a user in a set, or -1."""
    e = m.buckets[_bucket(m.buckets, where, user)]
    while e >= 0 and (m.entries[e, USER] != user or m.entries[e, SET] != where):
        e = m.entries[e, NEXT]
    return int(e)


@inlined_kernel
def _new_entry(m: Pools, where: int, user: int) -> int:
    """Make the entry of a user who did not wait in a set before."""
    entries, counts = m.entries, m.counts
    e = counts[ENTRY_FREE]
    if e >= 0:
        counts[ENTRY_FREE] = entries[e, NEXT]
    else:
        e = counts[ENTRY_TOP]
        counts[ENTRY_TOP] = e + 1
    counts[ENTRIES] += 1
    bucket = _bucket(m.buckets, where, user)
    entries[e, SET], entries[e, USER], entries[e, NEXT] = where, user, m.buckets[bucket]
    entries[e, HEAD] = entries[e, TAIL] = -1
    m.buckets[bucket] = e
    entries[e, SLOT] = _push(m, m.sets, where, USERS, e)
    return int(e)


@inlined_kernel
def _forget_entry(m: Pools, e: int) -> None:
    """Take an entry out of its set and of the hash table, and put it into the free list."""
    entries, buckets = m.entries, m.buckets
    _take_out(m, m.sets, entries[e, SET], USERS, entries[e, SLOT], entries, SLOT)
    bucket = _bucket(buckets, entries[e, SET], entries[e, USER])
    other = buckets[bucket]
    if other == e:
        buckets[bucket] = entries[e, NEXT]
    else:
        while entries[other, NEXT] != e:
            other = entries[other, NEXT]
        entries[other, NEXT] = entries[e, NEXT]
    entries[e, NEXT] = m.counts[ENTRY_FREE]
    m.counts[ENTRY_FREE] = e
    m.counts[ENTRIES] -= 1


@inlined_kernel
def _note_ready(m: Pools, where: int) -> None:
    """Put a set into its bag of ready sets, or take it out, as it now is."""
    sets = m.sets
    is_ready = sets[where, QUERIES + SIZE] > 0 and sets[where, USERS + SIZE] > m.counts[K]
    at = sets[where, READY_AT]
    if is_ready and at < 0:
        sets[where, READY_AT] = _push(m, m.ready, sets[where, READY_ROW], 0, where)
    elif not is_ready and at >= 0:
        _take_out(m, m.ready, sets[where, READY_ROW], 0, at, sets, READY_AT)
        sets[where, READY_AT] = -1


# ---- entering and leaving ----


@inlined_kernel
def _enter(m: Pools, user: int, node: int) -> None:
    """Put a record and the token of its asker into all sets of the chain of a node."""
    records, tokens, counts = m.records, m.tokens, m.counts
    record, token = counts[RECORD_FREE], counts[TOKEN_FREE]
    if record >= 0:  # as many tokens are free as records
        counts[RECORD_FREE], counts[TOKEN_FREE] = records[record, NODE], tokens[token, NODE]
    else:
        record = token = counts[SLOT_TOP]
        counts[SLOT_TOP] = record + 1
    number = counts[SEEN]
    counts[SEEN] = number + 1
    counts[WAITING] += 1
    records[record, NODE], records[record, ASKER] = node, user
    tokens[token, NODE], tokens[token, HOLDER] = node, user
    records[record, ID_LOW], records[record, ID_HIGH] = number & 0x7FFFFFFF, number >> 31
    tokens[token, ID_LOW], tokens[token, ID_HIGH] = number & 0x7FFFFFFF, number >> 31
    last = counts[YOUNGEST]
    records[record, OLDER], records[record, YOUNGER] = last, -1
    if last >= 0:
        records[last, YOUNGER] = record
    else:
        counts[OLDEST] = record
    counts[YOUNGEST] = record
    tokens[token, IN_TOP] = _push(m, m.sets, _set_at(m, node, 0), TOKENS, token)
    for level in range(m.nodes[node, LENGTH]):
        where = _set_at(m, node, level)
        records[record, FIRST + level] = _push(m, m.sets, where, QUERIES, record)
        e = _find(m, where, user)
        if e < 0:
            e = _new_entry(m, where, user)
        before, link = m.entries[e, TAIL], LINKS + 3 * level
        tokens[token, link + ENTRY], tokens[token, link + BEFORE], tokens[token, link + AFTER] = e, before, -1
        if before >= 0:
            tokens[before, link + AFTER] = token
        else:
            m.entries[e, HEAD] = token
        m.entries[e, TAIL] = token
        _note_ready(m, where)


@lean_kernel
def _remove(m: Pools, record: int, token: int) -> None:
    """Take a record and a token out of all their sets, and put their slots into the free lists."""
    records, tokens, counts = m.records, m.tokens, m.counts
    node = tokens[token, NODE]
    _take_out(m, m.sets, _set_at(m, node, 0), TOKENS, tokens[token, IN_TOP], tokens, IN_TOP)
    for level in range(m.nodes[node, LENGTH]):
        link = LINKS + 3 * level
        e, before, after = tokens[token, link + ENTRY], tokens[token, link + BEFORE], tokens[token, link + AFTER]
        if before >= 0:
            tokens[before, link + AFTER] = after
        else:
            m.entries[e, HEAD] = after
        if after >= 0:
            tokens[after, link + BEFORE] = before
        else:
            m.entries[e, TAIL] = before
        if m.entries[e, HEAD] < 0:
            _forget_entry(m, e)
        _note_ready(m, _set_at(m, node, level))
    node = records[record, NODE]
    for level in range(m.nodes[node, LENGTH]):
        where = _set_at(m, node, level)
        _take_out(m, m.sets, where, QUERIES, records[record, FIRST + level], records, FIRST + level)
        _note_ready(m, where)
    older, younger = records[record, OLDER], records[record, YOUNGER]
    if older >= 0:
        records[older, YOUNGER] = younger
    else:
        counts[OLDEST] = younger
    if younger >= 0:
        records[younger, OLDER] = older
    else:
        counts[YOUNGEST] = older
    records[record, NODE], records[record, ASKER] = counts[RECORD_FREE], -1
    tokens[token, NODE], tokens[token, HOLDER] = counts[TOKEN_FREE], -1
    counts[RECORD_FREE], counts[TOKEN_FREE] = record, token
    counts[WAITING] -= 1


@lean_kernel
def _swap_users(m: Pools, where: int, e: int, position: int) -> None:
    """Swap a user of a set, given by its entry there, with the one at a position of the set's bag of users."""
    start, here = m.sets[where, USERS + START], m.entries[e, SLOT]
    there = m.arena[start + position]  # a set of more than k users has a block
    m.arena[start + here], m.arena[start + position] = there, e
    m.entries[there, SLOT], m.entries[e, SLOT] = here, position


@lean_kernel
def _draw_user(m: Pools, record: int, level: int) -> tuple[int, int]:
    """Draw the user a record leaves with; return the entry drawn, and among how many others it was drawn.

    The circle is the k + 1 nearest distinct users, whoever asked: all users of the set below, which are k at most since
    it holds the record and is not ready, and as many of the others of the set at `level` as are missing, all alike. The
    user is uniform over the circle without the asker. Nobody needs to know the whole circle: whether the asker is in
    it, whether the user is from the set below, and which of the others it is, are drawn one after the other.
    """
    asker, node, k = m.records[record, ASKER], m.records[record, NODE], m.counts[K]
    where, inner, inside = _set_at(m, node, level), -1, 0
    if level + 1 < m.nodes[node, LENGTH]:
        inner = _set_at(m, node, level + 1)
        inside = int(m.sets[inner, USERS + SIZE])
    own, near = _find(m, where, asker), _find(m, inner, asker) if inside > 0 else -1
    end, missing = int(m.sets[where, USERS + SIZE]), int(k) + 1 - inside
    met = near >= 0 or (own >= 0 and _draw(m, end - inside) < missing)
    candidates = int(k) + 1 - met
    slot = _draw(m, candidates)
    if slot < inside - (near >= 0):
        if near >= 0 and slot >= m.entries[near, SLOT]:
            slot += 1  # step over the asker
        return _find(m, where, m.entries[_get(m, m.sets, inner, USERS, slot), USER]), candidates
    if own >= 0:  # the asker and the users of the set below go to the end of the bag, the rest is drawn from
        end -= 1
        _swap_users(m, where, own, end)
    for i in range(inside):
        user = m.entries[_get(m, m.sets, inner, USERS, i), USER]
        if user != asker:
            end -= 1
            _swap_users(m, where, _find(m, where, user), end)
    return _get(m, m.sets, where, USERS, _draw(m, end)), candidates


@lean_kernel
def _let_out(m: Pools, record: int, level: int, out: Int64s) -> None:
    """Let a record leave with a user of the set at a level of its chain, which is the deepest ready one of it.

    The token that is used up is the one of that user in the set that came first.
    """
    e, candidates = _draw_user(m, record, level)
    token = m.entries[e, HEAD]
    number = _number(m, record)
    out[RECORD], out[NEW_USER], out[CANDIDATES] = number, m.entries[e, USER], candidates
    out[DELAY] = m.counts[SEEN] - 1 - number
    _remove(m, record, token)


@lean_kernel
def _next_set(m: Pools, top: int, first: int) -> int:
    """Return the set of a top-level category that lets out a record next, -1 = none; `first` is its row of `ready`.

    Own sets come first, then the deepest branch; of several a random one. No branch lets out while no more than POOL
    records wait in the category.
    """
    last = m.nodes.shape[1] - CHAIN
    end = last - 1 if m.sets[top, QUERIES + SIZE] <= m.counts[POOL] else -1
    for row in range(last, end, -1):
        size = m.ready[first + row, SIZE]
        if size > 0:
            return _get(m, m.ready, first + row, 0, _draw(m, size) if size > 1 else 0)
    return -1


@lean_kernel
def _end_waiting(m: Pools, record: int, out: Int64s, dropped: Int64s) -> bool:
    """Let a record leave from the deepest ready set of its chain, or else drop it with a token of its category.

    Returns whether it left. The token is uniform over all that wait in the top-level category.
    """
    node = m.records[record, NODE]
    for level in range(m.nodes[node, LENGTH] - 1, -1, -1):
        if m.sets[_set_at(m, node, level), READY_AT] >= 0:
            _let_out(m, record, level, out)
            return True
    top = _set_at(m, node, 0)
    token = _get(m, m.sets, top, TOKENS, _draw(m, m.sets[top, TOKENS + SIZE]))
    dropped[DROPPED_RECORD], dropped[DROPPED_USER] = _number(m, record), m.tokens[token, HOLDER]
    _remove(m, record, token)
    return False


@inlined_kernel
def _has_room(m: Pools) -> bool:
    """Tell whether all that one record can take is reserved, so that no array overflows in the middle of it.

    A record joins `width` sets. In each it may double the two bags of the set and the one of the ready sets, and need
    an entry; and it may double the bag of the category's tokens. `Nearest._make_room` reserves the same amounts.
    """
    counts, width = m.counts, m.nodes.shape[1] - CHAIN
    room = len(m.arena) - counts[ARENA_TOP] >= (3 * width + 1) * 2 * max(counts[LARGEST], SMALLEST)
    room &= len(m.entries) - counts[ENTRIES] > width and len(m.records) > counts[WAITING]
    return room and len(m.draws) - counts[CURSOR] >= SPARE_DRAWS  # type: ignore[no-any-return]


@lean_kernel
def run(m: Pools, user: Int32s, node: Int32s, out: Int64s, dropped: Int64s) -> tuple[int, int, int]:
    """Let records enter one after the other, and others leave; return how many entered, left and were dropped.

    Stops before a record for which there may not be room, or random words, enough: the caller makes room and goes on.
    `out` int64[room, 4] = running number, new user, candidates, delay of each record that left; `dropped` int64[room,
    2] = running number, user of the token that went with it.
    """
    counts = m.counts
    i, n, d = 0, 0, 0
    while i < len(user) and n + MOST <= len(out) and d < len(dropped) and _has_room(m):
        _enter(m, user[i], node[i])
        top = _set_at(m, node[i], 0)
        i += 1
        left, oldest = 0, counts[OLDEST]
        if counts[SEEN] - 1 - _number(m, oldest) >= counts[MAX_DELAY]:  # one record at most comes of age at a time
            if _end_waiting(m, oldest, out[n], dropped[d]):
                left = 1
                n += 1
            else:
                d += 1
        while left < MOST:
            where = _next_set(m, top, m.sets[top, CATEGORY])
            if where < 0:
                break
            record = _get(m, m.sets, where, QUERIES, _draw(m, m.sets[where, QUERIES + SIZE]))
            _let_out(m, record, m.sets[where, LEVEL], out[n])
            left += 1
            n += 1
    return i, n, d


@lean_kernel
def expire(m: Pools, before: int, out: Int64s, dropped: Int64s) -> tuple[int, int]:
    """Let out, or drop, waiting records with running numbers below `before`; return how many left and were dropped.

    Stops where `out`, `dropped` or the random words may not be enough for the next.
    """
    n, d = 0, 0
    while n < len(out) and d < len(dropped) and len(m.draws) - m.counts[CURSOR] >= SPARE_DRAWS:
        oldest = m.counts[OLDEST]
        if oldest < 0 or _number(m, oldest) >= before:
            break
        if _end_waiting(m, oldest, out[n], dropped[d]):
            n += 1
        else:
            d += 1
    return n, d


@lean_kernel
def rehash(entries: Int32s, buckets: Int32s, used: Int32s) -> None:
    """Put the entries in use into a table of buckets that has just been emptied."""
    for e in used:
        bucket = _bucket(buckets, entries[e, SET], entries[e, USER])
        entries[e, NEXT] = buckets[bucket]
        buckets[bucket] = e
