"""Cosines of what is known of people with published logs: sparse products over an inverted index.

The memory, made by the caller:

    known       Weighted, row p = the features that are known of person p
    holders     Weighted, row f = the logs of one block that have feature f, each with its weight of f
    out         float64[people, logs], what is found is added to the columns of the block

and of `add_cosines`, one per person:

    score       float32[logs of the block], small enough to stay in the cache of a core

Only logs that share a feature with a person are touched. Weights and sums are in single precision, and the features of
a person are added in their order: equal logs score equal to the last bit, whatever block they are in.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import parallel_kernel

__all__ = ["Weighted", "add_cosines"]


class Weighted(NamedTuple):
    """Rows of weighted values: row r is start[r] .. start[r + 1] - 1 of both arrays."""

    start: npt.NDArray[np.int32]
    value: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float32]


@parallel_kernel
def add_cosines(out: npt.NDArray[np.float64], known: Weighted, holders: Weighted, first: int, logs: int) -> None:
    """Add the cosines of people with the logs of a block to out[:, first : first + logs]."""
    for p in numba.prange(len(known.start) - 1):
        score = np.zeros(logs, dtype=np.float32)
        for at in range(known.start[p], known.start[p + 1]):
            feature, weight = known.value[at], known.weight[at]
            for i in range(holders.start[feature], holders.start[feature + 1]):
                score[holders.value[i]] += weight * holders.weight[i]
        for log in range(logs):
            out[p, first + log] += score[log]
