"""Stream flow: what left, how long it waited, and what waits still (Pàmies-Estrems & Garcia-Alfaro 2023, 5.4 and 5.5).

All but the share that left is what the anonymizer counted while it ran, and wrote into the release's statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.measures.score import Score
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["LOWER", "stream_flow"]

LEVEL = "users waiting at level "
LOWER = {
    "mean delay in records": "mean delay",
    "delay in records, p50": "delay p50",
    "delay in records, p90": "delay p90",
    "delay in records, p99": "delay p99",
    "longest delay in records": "longest delay",
    "mean size of query bags": "mean bag size",
}
"""Measures of which less is better → figures of the statement; older statements have fewer."""


def stream_flow(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
) -> list[Score]:
    """Return the share of records that left, the delay, the mean size of the query bags, and the waiting users.

    A percentile of the delay is at most a thirty-second above the true one (`methods/stream/delays.py`).
    """
    progress.start("measure: stream flow")
    figures = release.statement.figures
    levels = {name.removeprefix(LEVEL): n for name, n in figures.items() if name.startswith(LEVEL)}
    scores = [Score(measure="records that left", value=len(release.log) / max(len(log), 1), better="higher")]
    for name, figure in LOWER.items():
        if figure in figures:
            scores.append(Score(measure=name, value=figures[figure], better="lower"))
    waiting = Score(measure="users waiting at the end", value=sum(levels.values()), better="lower", details=levels)
    return [*scores, waiting] if levels else scores
