"""Top queries: whether the release keeps the order of the most frequent queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.measures.counts import query_counts
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["spearman", "top_queries"]

Float64s = npt.NDArray[np.float64]


def top_queries(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
) -> list[Score]:
    """Rank correlation (Spearman) of the counts of the 100 and the 1000 most frequent queries, before and after.

    A query that is not published counts 0. Equal counts at the cut are taken by order of first appearance.
    """
    progress.start("measure: top queries")
    before, after = query_counts(log, release)
    most = np.argsort(-before, kind="stable")
    most = most[before[most] > 0]
    return [
        Score(measure=f"rank correlation, top {n}", value=spearman(before[most[:n]], after[most[:n]]), better="higher")
        for n in (100, 1000)
    ]


def spearman(a: Float64s, b: Float64s) -> float:
    """Correlation of ranks, equal values sharing their mean rank; 0 where one side is all equal.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 15.0]))
    0.5
    """
    x, y = _ranks(a) - (len(a) + 1) / 2, _ranks(b) - (len(b) + 1) / 2
    scale = float(np.sqrt((x**2).sum() * (y**2).sum()))
    return float((x * y).sum() / scale) if scale > 0 else 0.0


def _ranks(values: Float64s) -> Float64s:
    """Ranks from 1, equal values sharing their mean rank."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    mean: Float64s = (last - count + 1 + last) / 2.0
    return mean[code]
