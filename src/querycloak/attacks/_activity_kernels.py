"""The activity guesser: counts of users per set that only grow, with the two most active users of each set at hand.

The memory, made and owned by one call:

    count         int32[pairs], records so far of each (set, user)
    distinct      int32[sets], users seen in each set
    first         int32[sets], the user with most records in the set, who reached that number first; -1 = none
    second        int32[sets], the same without `first`: the guess where the record is by `first` itself
    first_count, second_count   int32[sets], their records

What holds between two records: first_count[s] >= second_count[s] >= the count of every other user of s. Counts grow by
one, so only the user of the record can overtake, and two places are enough.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

Int32s = npt.NDArray[np.int32]


@kernel
def most_active_others(user: Int32s, chain: Int32s, pair: Int32s, sets: int, pairs: int, k: int) -> Int32s:
    """Return int32[n]: for each record the guessed user, or -1.

    `chain` int32[n, width] = the sets of the record from the widest to the narrowest, -1 = none; `pair` int32[n, width]
    = code of (set, user). The guess is made in the narrowest set that more than k users have been seen in, before the
    record itself is counted; ties go to the user who was first.
    """
    n, width = chain.shape
    count = np.zeros(pairs, np.int32)
    distinct = np.zeros(sets, np.int32)
    first = np.full(sets, -1, np.int32)
    second = np.full(sets, -1, np.int32)
    first_count = np.zeros(sets, np.int32)
    second_count = np.zeros(sets, np.int32)
    guess = np.full(n, -1, np.int32)
    for i in range(n):
        u = user[i]
        for level in range(width):
            s = chain[i, level]
            if s < 0 or distinct[s] <= k:
                break
            guess[i] = first[s] if first[s] != u else second[s]
        for level in range(width):
            s = chain[i, level]
            if s < 0:
                break
            c = count[pair[i, level]] + 1
            count[pair[i, level]] = c
            distinct[s] += c == 1
            if first[s] == u:
                first_count[s] = c
            elif c > first_count[s]:
                second[s], second_count[s] = first[s], first_count[s]
                first[s], first_count[s] = u, c
            elif second[s] == u:
                second_count[s] = c
            elif c > second_count[s]:
                second[s], second_count[s] = u, c
    return guess
