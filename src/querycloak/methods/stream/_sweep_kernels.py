"""How many distinct users have asked each query of a stream so far, up to a number that is enough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@kernel
def _place(pairs: Words, pair: np.uint64) -> int:
    """Return where a pair is, or where it would go."""
    mask = len(pairs) - 1
    word = (pair ^ (pair >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64(word >> np.uint64(33)) & mask
    while pairs[place] != 0 and pairs[place] != pair:
        place = (place + 1) & mask
    return int(place)


@kernel
def count_users(
    query: Int32s, user: Int32s, least: int, users: Int32s, pairs: Words, used: Int64s, enough: npt.NDArray[np.bool_]
) -> int:
    """Tell of each record whether at least `least` users, its own among them, have asked its query so far.

    users int32[queries] = distinct users so far; pairs uint64[power of 2] = the set of (query, user), 0 = free, of the
    queries that do not have enough. Stops where the set is half full, and gives how far; used int64[1] = its size.
    """
    for i in range(len(query)):
        q = query[i]
        if users[q] < least:
            if 2 * used[0] >= len(pairs):
                return i
            pair = np.uint64(q + 1) << np.uint64(32) | np.uint64(user[i])
            place = _place(pairs, pair)
            if pairs[place] == 0:
                pairs[place] = pair
                used[0] += 1
                users[q] += 1
        enough[i] = users[q] >= least
    return len(query)


@kernel
def keep_pairs(pairs: Words, users: Int32s, least: int, kept: Words) -> int:
    """Put the pairs of queries that do not have enough users yet into another set, and give how many they are."""
    n = 0
    for pair in pairs:
        if pair != 0 and users[np.int64(pair >> np.uint64(32)) - 1] < least:
            kept[_place(kept, pair)] = pair
            n += 1
    return n
