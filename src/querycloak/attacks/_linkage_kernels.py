"""Kernel of record linkage: the original logs that share most queries with a published one."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import parallel_kernel

__all__ = ["link"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

CHUNK = 64


@parallel_kernel
def link(
    start: Int64s,
    query: Int32s,
    count: Int64s,
    post_start: Int64s,
    post_user: Int32s,
    post_count: Int64s,
    owner: Int32s,
    n: int,
) -> tuple[Int64s, Int64s, npt.NDArray[np.bool_]]:
    """Compare published bags of queries with the bags of n original users.

    Published user p has query[start[p]] … with count; query q was asked by post_user[post_start[q]] … post_count times.
    Gives, for each published user, the most queries in common with any original user (bag intersection), how many
    original users reach it, and whether owner[p] is one of them.
    """
    published = len(start) - 1
    most = np.zeros(published, dtype=np.int64)
    linked = np.zeros(published, dtype=np.int64)
    right = np.zeros(published, dtype=np.bool_)
    for chunk in numba.prange((published + CHUNK - 1) // CHUNK):
        common = np.zeros(n, dtype=np.int64)
        for p in range(chunk * CHUNK, min(published, chunk * CHUNK + CHUNK)):
            common[:] = 0
            for i in range(start[p], start[p + 1]):
                for j in range(post_start[query[i]], post_start[query[i] + 1]):
                    common[post_user[j]] += min(count[i], post_count[j])
            best = common.max()
            most[p] = best
            linked[p] = (common == best).sum()
            right[p] = common[owner[p]] == best
    return most, linked, right
