"""Risk against usefulness: one point for each run that is done, for the chart and for the table that says the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from querycloak.studio.forms import TASK_WORDS
from querycloak.studio.pages import MARKS
from querycloak.tasks.task import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from querycloak.studio.model import CheckSummary, StudioRun

__all__ = ["Point", "chart_values", "points_of", "task_names"]

BEYOND: Final = 1000.0
"""Where a run is drawn that breaks a limit of 0: right of all others."""


@dataclass(frozen=True)
class Point:
    """A run that is done."""

    run: StudioRun
    check: CheckSummary
    risk: float
    """the worst attack as a multiple of its limit; 0 = nobody could be attacked"""
    best: frozenset[str]
    """tasks for which no other run is both safer and more useful"""


def points_of(runs: Iterable[StudioRun]) -> list[Point]:
    """Return the runs that are done, with where they are on the frontiers."""
    done = [(run, run.check) for run in runs if run.check is not None]
    risks = {run.id: _risk(check) for run, check in done}
    fronts = {task: _front([(run.id, risks[run.id], value) for run, check in done
                            if (value := useful(check, task)) is not None and not check.published_nothing])
              for task in TASKS}  # fmt: skip
    return [
        Point(run, check, risks[run.id], frozenset(task for task in TASKS if run.id in fronts[task]))
        for run, check in done
    ]


def useful(check: CheckSummary, task: str) -> float | None:
    """Return how useful a release is for a task; None where it cannot do it, or the task says nothing of this log."""
    return next((found.scaled for found in check.tasks if found.name == task and found.possible), None)


def task_names(points: Sequence[Point], wanted: Iterable[str]) -> list[str]:
    """Return the tasks that some run has a value for, those that are wanted first."""
    first = list(wanted)
    found = [task for task in TASKS if any(useful(p.check, task) is not None for p in points)]
    return [t for t in first if t in found] + [t for t in found if t not in first]


def chart_values(points: Sequence[Point], tasks: Sequence[str], href: str) -> dict[str, Any]:
    """Return what the script draws; `href` is the path of the runs."""
    return {
        "tasks": [{"name": task, "title": TASK_WORDS.get(task, (task, ""))[0]} for task in tasks],
        "points": [
            {
                "id": p.run.id,
                "href": f"{href}/{p.run.id}",
                "name": p.run.name,
                "method": p.run.method,
                "verdict": p.check.verdict,
                "mark": MARKS[p.check.verdict],
                "risk": p.risk,
                "worst": p.check.worst,
                "rows": p.check.rows,
                "nothing": p.check.published_nothing,
                "guarantee": p.check.guarantee,
                "reason": p.check.reasons[0] if p.check.reasons else "",
                "tasks": {
                    t.name: {"value": t.scaled, "low": t.low, "high": t.high, "best": t.name in p.best}
                    for t in p.check.tasks
                    if t.scaled is not None and t.possible
                },
            }
            for p in points
        ],
    }


def _risk(check: CheckSummary) -> float:
    if check.worst_times is not None:
        return min(check.worst_times, BEYOND)
    return BEYOND if check.worst_limit == 0 and (check.worst_gain or 0) > 0 else 0.0


def _front(runs: list[tuple[str, float, float]]) -> set[str]:
    """Return the ids that no other run beats: (id, risk, usefulness).

    >>> sorted(_front([("a", 1, 0.5), ("b", 2, 0.5), ("c", 2, 0.9), ("d", 0, 0.1)]))
    ['a', 'c', 'd']
    """
    return {
        name
        for name, risk, value in runs
        if not any((r <= risk and v >= value) and (r < risk or v > value) for _, r, v in runs)
    }
