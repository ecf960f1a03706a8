"""Kernels of grouping by shared categories: a sparse product of users and categories, row by row."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

__all__ = ["add_shared", "best_partners"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

CHUNK = 64


@kernel
def add_shared(categories: Int32s, post_start: Int64s, post_user: Int32s, shared: Int32s) -> None:
    """Add one to shared[v] for every category that v has; the users of c begin at post_start[c] in post_user."""
    for c in categories:
        for i in range(post_start[c], post_start[c + 1]):
            shared[post_user[i]] += 1


@parallel_kernel
def best_partners(start: Int64s, category: Int32s, post_start: Int64s, post_user: Int32s) -> tuple[Int32s, Int32s]:
    """Find for each user the other user with most categories in common: how many, and who (ties: the lowest)."""
    n = len(start) - 1
    most = np.zeros(n, dtype=np.int32)
    partner = np.zeros(n, dtype=np.int32)
    for chunk in numba.prange((n + CHUNK - 1) // CHUNK):
        shared = np.empty(n, dtype=np.int32)
        for u in range(chunk * CHUNK, min(n, chunk * CHUNK + CHUNK)):
            shared[:] = 0
            for j in range(start[u], start[u + 1]):
                c = category[j]
                for i in range(post_start[c], post_start[c + 1]):
                    shared[post_user[i]] += 1
            shared[u] = -1
            best = 0
            for v in range(n):
                if shared[v] > shared[best]:
                    best = v
            most[u] = shared[best]
            partner[u] = best
    return most, partner
