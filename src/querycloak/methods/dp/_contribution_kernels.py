"""Kernels of budgets: which queries of each user fit, in the order of the log; which items have the smallest keys.

The memory: `rest` int64[users], a copy of `left` that is used up. rest[u] never falls below 0: that is the bound on
what one user can contribute, on which the privacy argument of every method with a budget rests.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["keep_smallest", "take_fitting"]


@kernel
def take_fitting(
    user: npt.NDArray[np.int32], units: npt.NDArray[np.int64], left: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return bool[n]: the queries that are taken. A query of more units than its user has left is passed over.

    `units`: int64[n], what each query costs; one that costs nothing is not taken. `left`: int64[users], not changed.
    """
    rest = left.copy()
    taken = np.zeros(len(user), dtype=np.bool_)
    for i in range(len(user)):
        if 0 < units[i] <= rest[user[i]]:
            rest[user[i]] -= units[i]
            taken[i] = True
    return taken


@kernel
def keep_smallest(
    start: npt.NDArray[np.int64], key: npt.NDArray[np.uint64], d: int, kept: npt.NDArray[np.bool_]
) -> bool:
    """Mark the d smallest keys of each user; start: int64[users + 1], key: uint64[m], kept: bool[m], all False.

    Return False where two keys of a user with more than d are equal: then nothing may be made of it, because which of
    them is kept would follow from their order.
    """
    for u in range(len(start) - 1):
        first, end = start[u], start[u + 1]
        if end - first <= d:
            kept[first:end] = True
            continue
        order = np.argsort(key[first:end])
        for i in range(end - first - 1):
            if key[first + order[i]] == key[first + order[i + 1]]:
                return False
        for i in range(d):
            kept[first + order[i]] = True
    return True
