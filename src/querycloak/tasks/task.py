"""What a task found, and where that is between the original log and a blind one.

>>> def score(value): return TaskScore(task="topics", value=value, low=value, high=value, cases=10)
>>> scaled(score(0.75), original=score(1.0), blind=score(0.5)).value
0.5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["LEAST", "MOST", "TASKS", "TASKS_OF_USERS", "ScaledScore", "TaskScore", "impossible", "scaled"]

TASKS: Final = ("suggestions", "popularity", "topics", "profiles", "sessions")
"""What a release may be wanted for."""
TASKS_OF_USERS: Final = frozenset({"suggestions", "profiles", "sessions"})
"""Those that need rows with users."""
LEAST: Final = -1.0
"""A release that misleads more than a blind one is no worse than this."""
MOST: Final = 1.2
"""A release may seem better than the log by chance; more than this would only stretch an axis."""


@dataclass(frozen=True, kw_only=True)
class TaskScore:
    """What one task found of one release: the raw value, higher is better, from 0 to 1."""

    task: str
    value: float
    low: float
    high: float
    """`low` to `high`: the 95 % interval of the value"""
    cases: int
    """how many test cases it was judged on: next queries held out, people, texts, topics, pairs of topics"""
    possible: bool = True
    """False where nothing can be judged: this kind of release cannot do the task, or the log has no test case"""
    note: str = ""
    """why it is not possible, or what was judged"""


@dataclass(frozen=True, kw_only=True)
class ScaledScore:
    """A score on the scale from the blind log, 0, to the original log, 1."""

    task: str
    value: float
    low: float
    high: float
    possible: bool = True


def impossible(task: str, note: str, cases: int = 0) -> TaskScore:
    """Return the score of what cannot do a task."""
    return TaskScore(task=task, value=0.0, low=0.0, high=0.0, cases=cases, possible=False, note=note)


def scaled(score: TaskScore, original: TaskScore, blind: TaskScore) -> ScaledScore | None:
    """Return a score on the scale where the original log has 1 and the blind log 0; None where that is no scale.

    Where the original scores no more than the blind log, the task says nothing about this log. What cannot do a task
    has 0: it knows as little as who is blind. Both ends of the scale are taken as they are: the interval is that of the
    release alone.
    """
    span = original.value - blind.value
    if not original.possible or span <= 0:
        return None
    if not score.possible:
        return ScaledScore(task=score.task, value=0.0, low=0.0, high=0.0, possible=False)
    value, low, high = (
        min(max((raw - blind.value) / span, LEAST), MOST) for raw in (score.value, score.low, score.high)
    )
    return ScaledScore(task=score.task, value=value, low=low, high=high)
