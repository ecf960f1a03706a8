"""The two ends of the scale: the original log as a release, and a blind log that tells nothing of its people."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from querycloak._version import __version__
from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.releases.release import LogRelease, Truth
from querycloak.releases.statement import PrivacyStatement

if TYPE_CHECKING:
    import polars as pl

    from querycloak.randomness import Randomness

__all__ = ["as_release", "blind_log"]


def as_release(log: QueryLog) -> LogRelease:
    """Return a log as a release of itself, to score "the original"; it has no seal and cannot be written."""
    statement = PrivacyStatement(
        method="original",
        settings={},
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        covers=(),
        does_not_cover=("everything: this is the log itself",),
        randomness="none",
        new_ids=False,
        counts_in={},
        counts_out={"rows": len(log)},
        dropped={},
    )
    return LogRelease(log, statement, Truth(np.arange(len(log.users), dtype=np.int32)))


def blind_log(log: QueryLog, random: Randomness, texts: pl.Series | None = None) -> QueryLog:
    """Return a log of the same users, events per user and times, each query drawn from the distinct ones alike.

    What it scores is what a method scores that only keeps the texts of the log and how many rows each person has. A
    query brings rank, URL and category of one row in which it was asked, so that none is seen with a foreign query.
    Columns without a role are left out.

    The texts of the log alone tell much about its topics. Where not even they may be known, name distinct `texts` of
    public knowledge to draw from, such as the labels of a taxonomy; queries have no rank, URL and category then.
    """
    rows = np.flatnonzero(log.event)
    if texts is not None and len(texts):
        public = random.child("queries").integers(len(texts), len(rows)).astype(np.int32)
        time = None if log.time is None else log.time[rows]
        return QueryLog(user=log.user[rows], users=log.users, query=public, queries=texts, time=time)
    asked, times = np.unique(log.query[rows], return_counts=True)  # ascending, as `by_query`
    by_query = np.argsort(log.query[rows], kind="stable")
    start = np.cumsum(times) - times
    if not len(asked):
        return replace(log.take(rows), extra=None, form=None)
    drawn = random.child("queries").integers(len(asked), len(rows))
    nth = (random.child("rows").uniform(len(rows)) * times[drawn]).astype(np.int64)  # < times: uniform is below 1
    donor = rows[by_query[start[drawn] + nth]]
    assert (log.query[donor] == asked[drawn]).all()
    made = replace(
        log.take(donor),
        user=log.user[rows],
        time=None if log.time is None else log.time[rows],
        extra=None,
        form=None,
        problems={},
    )
    # Two events of one moment may draw the same query, and would be taken for two clicks of one: the later has none.
    joined = ~made.event
    if made.url is None or not joined.any():
        return made
    clear = {"url": np.where(joined, NO_CODE, made.url).astype(np.int32)}
    if made.rank is not None:
        clear["rank"] = np.where(joined, NO_CODE, made.rank).astype(np.int32)
    return replace(made, **clear)  # type: ignore[arg-type]
