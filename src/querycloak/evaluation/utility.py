"""What a release is good for: each task between the blind run (0) and the original log (1), never one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from querycloak.tasks.task import impossible, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.tasks.task import TaskScore

__all__ = ["Utility", "utilities"]


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What one task found: higher is better."""

    task: str
    possible: bool
    """False where this kind of release cannot do the task"""
    note: str
    cases: int
    value: float
    low: float
    high: float
    """raw, with its 95 % interval"""
    original: float
    """what the original log itself reaches"""
    blind: float
    blind_high: float
    """what the same method reaches where the log tells nothing, and the upper end of its interval"""
    scaled: float | None
    """1 = the original log, 0 = the blind run; None where the log itself is not clearly better than the blind run"""
    scaled_low: float | None
    scaled_high: float | None

    @property
    def useful(self) -> bool:
        """The lower end is above the upper end of the blind run."""
        return self.possible and self.low > self.blind_high


def utilities(
    found: Sequence[TaskScore], original: Sequence[TaskScore], blind: Sequence[TaskScore] | None
) -> tuple[Utility, ...]:
    """Put what a release reaches between the original log and its blind run; a blind run that is empty scores 0."""
    best = {score.task: score for score in original}
    worst = {score.task: score for score in blind or ()}
    out = []
    for score in found:
        least = worst.get(score.task) or impossible(score.task, "the blind run is empty")
        tells = best[score.task].low > least.high  # else the task says nothing about this log
        between = scaled(score, best[score.task], least) if tells else None
        out.append(
            Utility(
                task=score.task,
                possible=score.possible,
                note=score.note,
                cases=score.cases,
                value=score.value,
                low=score.low,
                high=score.high,
                original=best[score.task].value,
                blind=least.value,
                blind_high=least.high,
                scaled=None if between is None else between.value,
                scaled_low=None if between is None else between.low,
                scaled_high=None if between is None else between.high,
            )
        )
    return tuple(out)
