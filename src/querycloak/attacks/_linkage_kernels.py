"""Kernel of record linkage: the original logs that share most queries with a published one.

The memory:

    published   CountedRows, row p = the queries of published user p, in codes of the original log, with counts
    askers      CountedRows, row q = the original users who asked query q, with counts
    common      int64[n], one per chunk: queries in common with each original user, 0 between two published users
    touched     int32[n], one per chunk: the users with a query in common, in the order they are met
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import parallel_kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import CountedRows

__all__ = ["link"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

CHUNK = 1024  # published users per turn of a thread: one `common` serves them all


@parallel_kernel
def link(
    published: CountedRows, askers: CountedRows, owner: Int32s, n: int
) -> tuple[Int64s, Int64s, npt.NDArray[np.bool_]]:
    """Compare published users with n original users by the size of the intersection of their bags of queries.

    Returns, for each published user, the most queries in common with any original user, how many original users reach
    it, and whether owner[p] is one of them.
    """
    query, count = published.values, published.counts
    user, asked = askers.values, askers.counts
    users = len(published.start) - 1
    most = np.zeros(users, dtype=np.int64)
    linked = np.zeros(users, dtype=np.int64)
    right = np.zeros(users, dtype=np.bool_)
    for chunk in numba.prange((users + CHUNK - 1) // CHUNK):
        common = np.zeros(n, dtype=np.int64)
        touched = np.empty(n, dtype=np.int32)
        for p in range(chunk * CHUNK, min(users, chunk * CHUNK + CHUNK)):
            met = 0
            for i in range(published.start[p], published.start[p + 1]):
                for j in range(askers.start[query[i]], askers.start[query[i] + 1]):
                    u = user[j]
                    if common[u] == 0:  # counts are above 0: a user with 0 was not met yet
                        touched[met] = u
                        met += 1
                    common[u] += min(count[i], asked[j])
            best, reach = 0, n  # where nothing is in common, all users are at the maximum
            for i in range(met):
                if common[touched[i]] > best:
                    best, reach = common[touched[i]], 1
                elif common[touched[i]] == best:
                    reach += 1
            most[p] = best
            linked[p] = reach
            right[p] = common[owner[p]] == best
            for i in range(met):
                common[touched[i]] = 0
    return most, linked, right
