"""The published log that fits best what an attacker knows: sparse products over an inverted index."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["best_matches"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Float64s = npt.NDArray[np.float64]


@kernel
def best_matches(
    known_start: Int64s,
    known_feature: Int32s,
    known_weight: Float64s,
    post_start: Int64s,
    post_user: Int32s,
    post_weight: Float64s,
    n_published: int,
    owner: Int32s,
) -> Float64s:
    """Return the chance that the attacker names the right published log, guessing among the best: float64[targets].

    known_*: features of each target, a row from known_start[i] to known_start[i + 1]; post_*: for each feature the
    published users that have it; owner: int32[targets], the right published user. Equal logs score
    equal to the last bit, because their terms are added in the same order.
    """
    out = np.zeros(len(owner), dtype=np.float64)
    score = np.zeros(n_published, dtype=np.float64)
    touched = np.empty(n_published, dtype=np.int32)
    for target in range(len(owner)):
        n_touched = 0
        for at in range(known_start[target], known_start[target + 1]):
            feature = known_feature[at]
            for p in range(post_start[feature], post_start[feature + 1]):
                user = post_user[p]
                if score[user] == 0.0:
                    touched[n_touched] = user
                    n_touched += 1
                score[user] += known_weight[at] * post_weight[p]
        best = 0.0
        ties = n_published
        for i in range(n_touched):
            value = score[touched[i]]
            if value > best:
                best = value
                ties = 1
            elif value == best:
                ties += 1
        if score[owner[target]] == best:
            out[target] = 1.0 / ties
        for i in range(n_touched):
            score[touched[i]] = 0.0
    return out
