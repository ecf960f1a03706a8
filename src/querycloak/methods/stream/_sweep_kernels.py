"""How many distinct users have asked each query of a stream so far, up to a number that is enough.

The memory, owned by the caller (`sweeping.py`), which makes room:

    users   int32[queries], distinct users of each query so far; it stops counting at `least`
    pairs   uint64[power of 2], open addressing: the set of (query + 1) << 32 | user; 0 = free, which is why 1 is added
    used    int64[1], pairs in the set

What holds: the set has every pair of the queries with fewer than `least` users, and perhaps pairs of others: those are
not looked up any more, and `keep_pairs` leaves them out. The set is never more than half full, so that a search ends.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@kernel
@wraps_around
def _slot(pairs: Words, pair: np.uint64) -> int:
    """Return the slot of a pair, or the free one where it would go."""
    mask = len(pairs) - 1
    word = (pair ^ (pair >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(word >> np.uint64(33)) & mask
    while pairs[slot] != 0 and pairs[slot] != pair:
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def count_users(
    query: Int32s, user: Int32s, least: int, users: Int32s, pairs: Words, used: Int64s, enough: npt.NDArray[np.bool_]
) -> int:
    """Tell of each record whether at least `least` users, its own among them, have asked its query so far.

    Writes to enough: bool[n]. Stops where the set is half full; returns how many records are done.
    """
    for i in range(len(query)):
        q = query[i]
        if users[q] < least:
            if 2 * used[0] >= len(pairs):
                return i
            pair = np.uint64(np.int64(q) + 1) << np.uint64(32) | np.uint64(user[i])
            slot = _slot(pairs, pair)
            if pairs[slot] == 0:
                pairs[slot] = pair
                used[0] += 1
                users[q] += 1
        enough[i] = users[q] >= least
    return len(query)


@kernel
def keep_pairs(pairs: Words, users: Int32s, least: int, kept: Words) -> int:
    """Put the pairs of queries that do not have enough users yet into another set; return how many they are."""
    n = 0
    for pair in pairs:
        if pair != 0 and users[np.int64(pair >> np.uint64(32)) - 1] < least:
            kept[_slot(kept, pair)] = pair
            n += 1
    return n
