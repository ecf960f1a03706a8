"""The report of a comparison: one HTML file that opens offline, in light, in dark and on paper.

It answers first: may I release this, which run, and how is it made. Then the three questions of regulators, what the
runs are good for, and the details, folded. The markup is in `templates/`, where Jinja2 escapes every value; this module
prepares the values. The page forbids scripts and requests by its content security policy; a block of JSON in it holds
all results for programs.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from querycloak.evaluation.command_words import ReleaseCommands, release_commands
from querycloak.evaluation.limits import LIMITS
from querycloak.logs.atomic import write_text
from querycloak.report.details import report_details
from querycloak.report.embedded import embedded_json
from querycloak.report.figures import limits_text, task_cell
from querycloak.report.pages import Cell, Table, render
from querycloak.report.ranking import CONDITIONS, nearest_runs, rank_runs, why_none
from querycloak.report.strips import task_strips
from querycloak.report.three_questions import Picture, three_questions
from querycloak.report.tradeoff import Point, tradeoff_plot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markupsafe import Markup

    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.run import Run
    from querycloak.report.ranking import RankedRun

__all__ = ["html_report", "write_report"]


def write_report(comparison: Comparison, output: Path) -> Path:
    """Write `report.html` into the directory `output`, next to the results; return its path."""
    path = output / "report.html"
    write_text(path, html_report(comparison))
    return path


def html_report(comparison: Comparison) -> str:
    """Return the whole page."""
    advice, limits = comparison.advice, comparison.limits
    ranked = rank_runs(comparison)
    judged = [one for one in ranked if one.judged]
    best = next((one for one in ranked if one.state == "advised"), None)
    return render(
        "report.html.j2",
        comparison=comparison,
        best=best,
        why=advice.text if best is not None else why_none(ranked),
        unproved=[one for one in ranked if one.state == "unproved"] if best is None else [],
        nearest=[] if best is not None else nearest_runs(ranked),
        make=None if best is None else _how_to_make(comparison, best.run),
        limits=limits_text(limits),
        conditions=CONDITIONS,
        runs=ranked,
        empty=[one for one in ranked if one.run.published_nothing],
        questions=three_questions(ranked, limits),
        utility=_utility(judged),
        tasks=_tasks(judged, comparison.tasks, limits),
        details=report_details(comparison, ranked),
        results=embedded_json(comparison),
    )


def _how_to_make(comparison: Comparison, run: Run) -> ReleaseCommands:
    """Return the commands of the real release of a run, or where the comparison came from Python the calls."""
    if comparison.command is not None:
        return release_commands(comparison.command, run)
    settings = "".join(f", {name}={value!r}" for name, value in run.settings.items())
    tasks = f", tasks={comparison.tasks!r}" if comparison.tasks else ""
    given = {f.name: value for f in fields(LIMITS) if (value := getattr(comparison.limits, f.name)) != f.default}
    if given:
        tasks += f", limits=querycloak.Limits({', '.join(f'{name}={value!r}' for name, value in given.items())})"
    return ReleaseCommands(
        make=f"release = querycloak.anonymize(log, {run.method!r}{settings})",
        check=f'querycloak.check(log, release{tasks}, output="check.html").verdict',
    )


def _task_names(runs: Sequence[RankedRun]) -> list[str]:
    return list(dict.fromkeys(u.task for one in runs for u in one.run.utility))


def _utility(runs: Sequence[RankedRun]) -> Table:
    names = _task_names(runs)
    rows = [[Cell(one.name), *(task_cell(one.run.task(n)) for n in names)] for one in runs] if names else []
    return Table(["kept, 0 blind to 1 original", *names], rows)


def _tasks(runs: Sequence[RankedRun], chosen: Sequence[str], limits: Limits) -> list[Picture]:
    """Return a picture per task, those that were named first."""
    out = []
    for name in _task_names(runs):
        strips = task_strips([(one.name, u) for one in runs if (u := one.run.task(name))])
        why = "; ".join(dict.fromkeys(line.says for line in strips.lines if line.value is None))
        out.append(Picture(name, why, strips, name in chosen, _tradeoff(runs, name, limits)))
    return sorted(out, key=lambda picture: not picture.chosen)


def _tradeoff(runs: Sequence[RankedRun], task: str, limits: Limits) -> Markup | None:
    """Draw how near the worst attack on each run is to its limit, and what the run keeps of a task.

    None where no run can be placed; the strips say why.
    """
    points = [
        Point(one.number, max(limits.times(worst), 0.0), found.scaled, one.answer.mark)
        for one in runs
        if (found := one.run.task(task)) is not None
        and found.possible
        and found.scaled is not None
        and (worst := one.run.worst(limits)) is not None
    ]
    return tradeoff_plot(points, task) if points else None
