"""Kernels of grouping by shared categories: a sparse product of users and categories, row by row.

The product is that of ODPsim: two users share of a category the smaller of their two counts.

The memory:

    categories_of   CountedRows, row u = the categories of user u, each with how many of u's queries are in it
    users_of        CountedRows, row c = the users that have category c, with the same counts: the same, inverted
    shared          int64[n], what is in common with each user; one per thread
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import CountedRows

__all__ = ["add_shared", "best_partners"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

CHUNK = 64  # users per turn of a thread: one `shared` serves them all


@kernel
def add_shared(categories: Int32s, before: Int64s, after: Int64s, users_of: CountedRows, shared: Int64s) -> None:
    """Add to shared[v] what v has more in common with a record whose counts rose from `before` to `after`.

    before, after: int64[len(categories)], the record's count of each of the categories.
    """
    for j in range(len(categories)):
        c = categories[j]
        for i in range(users_of.start[c], users_of.start[c + 1]):
            count = users_of.counts[i]
            shared[users_of.values[i]] += min(after[j], count) - min(before[j], count)


@parallel_kernel
def best_partners(categories_of: CountedRows, users_of: CountedRows) -> tuple[Int64s, Int32s]:
    """Find for each user the other user with most in common: how much, and who (ties: the lowest)."""
    start, category, count = categories_of.start, categories_of.values, categories_of.counts
    post_start, post_user, post_count = users_of.start, users_of.values, users_of.counts
    n = len(start) - 1
    most = np.zeros(n, dtype=np.int64)
    partner = np.zeros(n, dtype=np.int32)
    for chunk in numba.prange((n + CHUNK - 1) // CHUNK):
        shared = np.empty(n, dtype=np.int64)
        for u in range(chunk * CHUNK, min(n, chunk * CHUNK + CHUNK)):
            shared[:] = 0
            for j in range(start[u], start[u + 1]):
                c, own = category[j], count[j]
                for i in range(post_start[c], post_start[c + 1]):
                    shared[post_user[i]] += min(own, post_count[i])
            shared[u] = -1  # never its own partner
            best = 0
            for v in range(n):
                if shared[v] > shared[best]:
                    best = v
            most[u] = shared[best]
            partner[u] = best
    return most, partner
