"""Kernels of grouping by shared categories: a sparse product of users and categories, row by row.

The memory:

    categories_of   Ragged, row u = the distinct categories of user u
    users_of        Ragged, row c = the users that have category c: the same, inverted
    shared          int32[n], categories in common with each user; one per thread
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["add_shared", "best_partners"]

Int32s = npt.NDArray[np.int32]

CHUNK = 64  # users per turn of a thread: one `shared` serves them all


@kernel
def add_shared(categories: Int32s, users_of: Ragged, shared: Int32s) -> None:
    """Add one to shared[v] for each of the categories that v has."""
    for c in categories:
        for i in range(users_of.start[c], users_of.start[c + 1]):
            shared[users_of.values[i]] += 1


@parallel_kernel
def best_partners(categories_of: Ragged, users_of: Ragged) -> tuple[Int32s, Int32s]:
    """Find for each user the other user with most categories in common: how many, and who (ties: the lowest)."""
    start, category = categories_of.start, categories_of.values
    post_start, post_user = users_of.start, users_of.values
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
            shared[u] = -1  # never its own partner
            best = 0
            for v in range(n):
                if shared[v] > shared[best]:
                    best = v
            most[u] = shared[best]
            partner[u] = best
    return most, partner
