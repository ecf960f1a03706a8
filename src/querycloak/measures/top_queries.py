"""Top queries: whether the release keeps the order of the most frequent queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.measures.counts import query_counts
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress
from querycloak.texts.compared import compared

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["spearman", "top_queries"]

Float64s = npt.NDArray[np.float64]

SHARED: Final = 5
"""A text that at least so many people asked is shared."""


def top_queries(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
    *,
    people: int = SHARED,
) -> list[Score]:
    """Rank correlation (Spearman) of the counts of the 100 and the 1000 most frequent queries, before and after.

    A query that is not published counts 0. Equal counts at the cut are taken by order of first appearance. The third
    score is that of the 100 most frequent of the texts that at least `people` people asked, as texts are compared: what
    fewer people asked is not to be published, and says nothing about a method that leaves it out.
    """
    progress.start("measure: top queries")
    before, after = query_counts(log, release)
    most = np.argsort(-before, kind="stable")
    most = most[before[most] > 0]
    over_all = [
        Score(measure=f"rank correlation, top {n}", value=spearman(before[most[:n]], after[most[:n]]), better="higher")
        for n in (100, 1000)
    ]
    return [*over_all, _of_shared(log, release, people)]


def _of_shared(log: QueryLog, release: Release, people: int) -> Score:
    """Return the rank correlation of the 100 most frequent texts that enough people asked."""
    import polars as pl

    forms = compared(pl.concat([log.queries, release.log.queries]))
    code = forms.rank("dense").to_numpy().astype(np.int64) - 1
    asked, published = code[: len(log.queries)][log.query[log.event]], code[len(log.queries) :]
    texts = int(code.max(initial=-1)) + 1
    before = np.bincount(asked, minlength=texts).astype(np.float64)
    weights = release.row_weights()
    after = np.bincount(published[release.log.query], weights=weights, minlength=texts).astype(np.float64)
    pairs = np.unique(asked * len(log.users) + log.user[log.event])
    shared = np.flatnonzero(np.bincount(pairs // max(len(log.users), 1), minlength=texts) >= people)
    most = shared[np.argsort(-before[shared], kind="stable")][:100]
    return Score(
        measure=f"rank correlation, top 100 of texts of {people} people",
        value=spearman(before[most], after[most]),
        better="higher",
        details={"texts": len(shared), "not published": int((after[most] == 0).sum())},
    )


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
