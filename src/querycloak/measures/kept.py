"""Kept: the share of query volume, and of distinct queries, that a release still holds as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.measures.counts import query_counts
from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["kept"]


def kept(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
) -> list[Score]:
    """Compare how often each query text occurs before and after.

    `volume kept`: the bag intersection of published queries and original query events, as a share of the events; a
    query published more often than it was asked counts as often as it was asked. `distinct queries kept`: the share of
    the distinct original queries that occur in the release. `rows per user`: the mean of the release; the details have
    the log's.
    """
    progress.start("measure: kept")
    before, after = query_counts(log, release)
    volume = float(np.minimum(before, after).sum() / max(before.sum(), 1.0))
    distinct = float(((before > 0) & (after > 0)).sum() / max((before > 0).sum(), 1))
    scores = [
        Score(measure="volume kept", value=volume, better="higher"),
        Score(measure="distinct queries kept", value=distinct, better="higher"),
    ]
    if release.has_users:
        now = len(release.log) / max(len(release.log.users), 1)
        then = float(log.event.sum()) / max(len(np.unique(log.user)), 1)
        scores.append(Score(measure="rows per user", value=now, better="higher", details={"of the log": then}))
    return scores
