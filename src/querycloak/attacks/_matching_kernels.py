"""The published log that fits best what an attacker knows: sparse products over an inverted index.

The memory:

    known       Weighted, row t = the features that are known of target t
    holders     Weighted, row f = the published users that have feature f, each with its weight of f
    score       float64[published], 0 between two targets: only the users in `touched` are set and set back
    touched     int32[published], the users that the target shares a feature with, in the order they are met
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["Weighted", "best_matches"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Float64s = npt.NDArray[np.float64]


class Weighted(NamedTuple):
    """Rows of weighted values: row r is start[r] .. start[r + 1] - 1 of both arrays."""

    start: Int64s
    value: Int32s
    weight: Float64s
    """above 0"""


@kernel
def best_matches(known: Weighted, holders: Weighted, n_published: int, own: Ragged) -> Float64s:
    """Return the chance that the attacker names a right published log, guessing among the best: float64[targets].

    own: int32, the right published ids of each target. Where nothing is shared, all published users tie. Equal logs
    score equal to the last bit, because their terms are added in the same order.
    """
    targets = len(own.start) - 1
    out = np.zeros(targets, dtype=np.float64)
    score = np.zeros(n_published, dtype=np.float64)
    touched = np.empty(n_published, dtype=np.int32)
    for target in range(targets):
        n_touched = 0
        for at in range(known.start[target], known.start[target + 1]):
            feature = known.value[at]
            for p in range(holders.start[feature], holders.start[feature + 1]):
                user = holders.value[p]
                if score[user] == 0.0:  # weights are above 0: a score of 0 was not touched yet
                    touched[n_touched] = user
                    n_touched += 1
                score[user] += known.weight[at] * holders.weight[p]
        best = 0.0
        ties = n_published
        for i in range(n_touched):
            value = score[touched[i]]
            if value > best:
                best = value
                ties = 1
            elif value == best:
                ties += 1
        right = 0
        for i in range(own.start[target], own.start[target + 1]):
            if score[own.values[i]] == best:
                right += 1
        out[target] = right / ties
        for i in range(n_touched):
            score[touched[i]] = 0.0
    return out
