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

__all__ = ["stream_flow"]

LEVEL = "users waiting at level "


def stream_flow(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all measures are called alike
    progress: Progress = QUIET,
) -> list[Score]:
    """Return the share of records that left, the mean delay, the mean size of the query bags, and the waiting users."""
    progress.start("measure: stream flow")
    figures = release.statement.figures
    levels = {name.removeprefix(LEVEL): n for name, n in figures.items() if name.startswith(LEVEL)}
    scores = [Score(measure="records that left", value=len(release.log) / max(len(log), 1), better="higher")]
    for name, figure in (("mean delay in records", "mean delay"), ("mean size of query bags", "mean bag size")):
        if figure in figures:
            scores.append(Score(measure=name, value=figures[figure], better="lower"))
    waiting = Score(measure="users waiting at the end", value=sum(levels.values()), better="lower", details=levels)
    return [*scores, waiting] if levels else scores
