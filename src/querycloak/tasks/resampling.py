"""Intervals by resampling people.

A person's queries hang together, so that people are resampled, not queries: a heavy user is drawn whole or not at all.
A resample is a weight per person (how often the person was drawn), and a task computes its value from weighted sums;
the same weights hold for the person's rows in the log and for the rows published for the person, because both change
together when another sample of people is taken.

The interval is the value, plus and minus 1.96 times the spread (standard deviation) of the resamples. Percentiles of
the resamples would be wrong here: a resampled log is farther from a fixed release than the log itself, so that the
divergences of resamples are too large on average; their spread is not. 200 resamples know a standard deviation to about
5 %.

In a log with many people they are put into 5,000 random blocks, and blocks are resampled: sums over equally large
random blocks vary as sums over people do, and time and memory stay bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.sparse import Sparse
from querycloak.statistics import normal_quantile, wilson

if TYPE_CHECKING:
    from typing import Any

    from querycloak.randomness import Randomness

__all__ = ["RESAMPLES", "Resampling", "around", "block_totals", "rate_around"]

RESAMPLES: Final = 200
MOST_BLOCKS: Final = 5000

Float64s = npt.NDArray[np.float64]


class Resampling(NamedTuple):
    """Which block each person is in, and how often each block is drawn in each resample."""

    block: npt.NDArray[np.int32]
    """int32[people]"""
    draws: Float64s
    """float64[1 + RESAMPLES, blocks]; row 0 is the log as it is, all 1"""

    @classmethod
    def of(cls, people: int, random: Randomness) -> Resampling:
        """Draw the resamples of so many people."""
        blocks = max(1, min(people, MOST_BLOCKS))
        block = random.child("blocks").permutation(people).astype(np.int32) % np.int32(blocks)
        drawn = random.child("draws").integers(blocks, RESAMPLES * blocks)
        which = np.repeat(np.arange(1, RESAMPLES + 1), blocks) * blocks + drawn
        draws = np.bincount(which, minlength=(1 + RESAMPLES) * blocks).reshape(1 + RESAMPLES, blocks).astype(np.float64)
        draws[0] = 1.0
        return cls(block, draws)


def block_totals(
    draws: Float64s,
    block: npt.NDArray[np.integer[Any]],
    feature: npt.NDArray[np.integer[Any]],
    weight: Float64s,
    n: int,
) -> Float64s:
    """float64[1 + RESAMPLES, n]: the weight of each feature 0 .. n - 1 in each resample.

    block, feature, weight: [m], one entry per thing that is counted.
    """
    by_feature = Sparse.of(feature, block, weight, (n, draws.shape[1]))
    return np.ascontiguousarray(by_feature.times_dense(draws.T).T)


def around(values: Float64s) -> tuple[float, float, float]:
    """Return value, low and high from the value of the log as it is, followed by those of the resamples."""
    value = min(max(float(values[0]), 0.0), 1.0)
    half = normal_quantile() * float(values[1:].std(ddof=1))
    return value, max(0.0, value - half), min(1.0, value + half)


def rate_around(
    success: Float64s, block: npt.NDArray[np.integer[Any]], draws: Float64s, *, cases: bool
) -> tuple[float, float, float]:
    """Return the mean of success: float64[n] over cases of people in blocks: int[n], with its interval.

    With `cases`, several of them are one person's: Wilson's interval over cases is too narrow for them, but it is right
    that no hit in 50 cases does not mean a rate of 0, where all resamples agree. The wider one counts at each end.
    """
    width = draws.shape[1]
    hits = draws @ np.bincount(block, weights=success, minlength=width)
    judged = draws @ np.bincount(block, minlength=width)
    drawn = judged > 0  # a resample may have none of few people
    value, low, high = around(hits[drawn] / judged[drawn])
    if cases:
        least, most = wilson(value, len(success))
        low, high = min(low, least), max(high, most)
    return value, low, high
