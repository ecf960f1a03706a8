"""The report of a comparison: one HTML file that opens offline, in light, in dark and on paper.

Advice comes first, then what of single people is readable, what attackers gain, what the releases are good for. The
markup is in `templates/`, where Jinja2 escapes every value; this module prepares the values. Only the charts are
markup already: Vega escapes the texts in them. The page forbids scripts and requests by its content security policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.evaluation.check import QUESTIONS
from querycloak.evaluation.spread import curve_of, spread_of
from querycloak.knowledge.concept_topics import NO_TOPIC
from querycloak.logs.atomic import write_text
from querycloak.report import charts
from querycloak.report.curves import curve_chart
from querycloak.report.figures import exposure_table, generalization_table, judged_cell, limits_text, task_cell
from querycloak.report.pages import Cell, Table, percent, render
from querycloak.report.strips import Strips, lift_strips, task_strips

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from markupsafe import Markup

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.advice import Condition, Verdict
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.run import Run
    from querycloak.measures.score import Score

__all__ = ["html_report", "write_report"]

LOSS: Final = "information loss"
CONDITIONS: Final = ("1 proof", "2 attacks", "3 texts", "4 useful")


def write_report(comparison: Comparison, output: Path) -> Path:
    """Write `report.html` into the directory `output`, next to the results; return its path."""
    path = output / "report.html"
    write_text(path, html_report(comparison))
    return path


def html_report(comparison: Comparison) -> str:
    """Return the whole page."""
    advice, limits = comparison.advice, comparison.limits
    runs = [r for r in comparison.runs if r.error is None]
    verdicts = _verdicts(comparison, advice.verdicts, advice.publish)
    numbers = {v.name: v.number for v in verdicts}
    return render(
        "report.html.j2",
        comparison=comparison,
        no_topic=NO_TOPIC,
        advice=advice,
        headline="Publish none of these" if advice.publish is None else f"Publish {advice.publish}",
        limits=limits_text(limits),
        conditions=CONDITIONS,
        verdicts=verdicts,
        exposure=exposure_table([(_numbered(r, numbers), r.exposure) for r in runs if r.exposure is not None]),
        questions=[_question(name, asks, runs, limits) for name, asks in QUESTIONS.items()],
        not_run=_by_reason({r.name: r.not_run for r in runs}, "what it lacked", "open"),
        nothing=_by_reason({r.name: r.nothing for r in runs}, "what is not there"),
        utility=_utility(runs),
        tasks=_tasks(runs, comparison.tasks),
        tradeoffs=_tradeoffs(runs, limits, numbers),
        scores=_scores(runs),
        losses=_losses(runs, numbers),
        without_loss=[r.name for r in runs if not curve_of(r, LOSS)],
        draws=max([1 + len(r.draws) for r in runs], default=1),
        generalized=generalization_table(runs),
        charts=_charts(comparison, runs),
    )


class RunVerdict(NamedTuple):
    """A row of the table of verdicts."""

    number: int
    name: str
    cells: list[Cell]
    """one per condition"""
    failed: Sequence[Condition]
    """the gravest of each condition that failed"""
    more: Sequence[Condition]
    error: str | None
    baseline: bool
    best: bool


def _verdicts(comparison: Comparison, verdicts: Sequence[Verdict], best: str | None) -> list[RunVerdict]:
    out = []
    for number, (run, verdict) in enumerate(zip(comparison.runs, verdicts, strict=True), 1):
        cells = [_condition(verdict, n) for n in range(1, len(CONDITIONS) + 1)]
        if run.error is not None:
            cells = [Cell("not tested", "open") for _ in CONDITIONS]
        first, more = _gravest(run, verdict, comparison.limits)
        out.append(RunVerdict(number, run.name, cells, first, more, run.error, run.baseline, run.name == best))
    return out


def _gravest(run: Run, verdict: Verdict, limits: Limits) -> tuple[list[Condition], list[Condition]]:
    """Part what failed into one line per condition, of the attacks the worst, and the rest, which is folded."""
    worst = run.worst(limits)

    def order(condition: Condition) -> tuple[int, bool, bool]:
        named = worst is not None and condition.says.startswith(f"{worst.attack} gains")
        return condition.number, condition.untested, not named

    first: list[Condition] = []
    more: list[Condition] = []
    for condition in sorted(verdict.failed, key=order):
        known = first and first[-1].number == condition.number
        (more if known else first).append(condition)
    return first, more


def _condition(verdict: Verdict, number: int) -> Cell:
    failed = [c for c in verdict.failed if c.number == number]
    if not failed:
        return Cell("holds", "fine")
    return Cell("not tested", "open") if all(c.untested for c in failed) else Cell("fails", "over")


def _numbered(run: Run, numbers: dict[str, int]) -> str:
    return f"{numbers[run.name]} {run.name}"


class Picture(NamedTuple):
    """A small picture: one strip per run."""

    name: str
    note: str
    strips: Strips
    chosen: bool = False


def _question(name: str, asks: str, runs: Sequence[Run], limits: Limits) -> dict[str, Any]:
    """Return what was found for one of the three questions: a table, and a small picture per attack."""
    attacks = list(dict.fromkeys(a.attack for r in runs for a in r.attacks if a.question == name))
    found = {(r.name, a.attack): a for r in runs for a in r.attacks}
    rows = [[Cell(r.name), *(_attacked(r, a, found.get((r.name, a)), limits) for a in attacks)] for r in runs]
    pictures = []
    for attack in attacks:
        results = [(r.name, found[r.name, attack]) for r in runs if (r.name, attack) in found]
        strips = lift_strips(results, limits, one_limit=True)
        if strips.lines:
            first = results[0][1]
            limit = percent(limits.of(first.risk) or 0)
            pictures.append(Picture(attack, f"Limit {limit}. The attacker knows {first.knows}.", strips))
    return {
        "name": name,
        "asks": asks,
        "table": Table(["adds at most", *attacks], rows if attacks else []),
        "attacks": pictures,
    }


def _attacked(run: Run, attack: str, result: AttackResult | None, limits: Limits) -> Cell:
    """Say what an attack on a run found, or why it found nothing."""
    if result is not None:
        return judged_cell(result, limits)
    name = attack.partition(",")[0]
    if name in run.not_run:
        return Cell("not tested", "open")
    return Cell("nothing to attack" if name in run.nothing else "does not apply")


def _by_reason(reasons: Mapping[str, Mapping[str, str]], head: str, mark: str = "") -> Table:
    """Say which attacks have no result, once for all runs with the same reason; `reasons`: by run and attack."""
    found: dict[tuple[str, str], list[str]] = {}
    for run, attacks in reasons.items():
        for attack, why in attacks.items():
            found.setdefault((attack, why), []).append(run)
    rows = [
        [Cell(attack, mark), Cell(why), Cell("all runs" if len(runs) == len(reasons) else ", ".join(runs))]
        for (attack, why), runs in found.items()
    ]
    return Table(["attack", head, "runs"], rows)


def _task_names(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(u.task for r in runs for u in r.utility))


def _utility(runs: Sequence[Run]) -> Table:
    names = _task_names(runs)
    rows = [[Cell(r.name), *(task_cell(r.task(n)) for n in names)] for r in runs] if names else []
    return Table(["kept, 0 blind to 1 original", *names], rows)


def _tasks(runs: Sequence[Run], chosen: Sequence[str]) -> list[Picture]:
    out = []
    for name in _task_names(runs):
        strips = task_strips([(r.name, u) for r in runs if (u := r.task(name))])
        why = "; ".join(dict.fromkeys(line.says for line in strips.lines if line.value is None))
        out.append(Picture(name, why, strips, name in chosen))
    return out


def _tradeoffs(runs: Sequence[Run], limits: Limits, numbers: dict[str, int]) -> list[tuple[str, Markup]]:
    """Draw the runs once per task: how near the worst attack is to its limit, and what is kept of the task.

    A task that no run can be placed for has no picture; the tables above say why.
    """
    worst = {r.name: r.worst(limits) for r in runs}
    methods = list(dict.fromkeys(r.method for r in runs))
    out = []
    for name in _task_names(runs):
        points = [
            charts.Point(numbers[r.name], r.method, max(limits.times(attack), 0.0), found.scaled)
            for r in runs
            if (found := r.task(name)) is not None
            and found.scaled is not None
            and (attack := worst[r.name]) is not None
        ]
        if points:
            out.append((name, charts.tradeoff_chart(points, methods)))
    return out


def _scores(runs: Sequence[Run]) -> Table:
    arrows = {s.measure: charts.ARROWS[s.better] for r in runs for s in r.scores}
    rows = []
    for r in runs:
        found = {s.measure: s for s in r.scores}
        rows.append([Cell(r.name), *(_measured(r, found[n]) if n in found else Cell("") for n in arrows)])
    return Table(["run", *(f"{n} {arrow}" for n, arrow in arrows.items())], rows if arrows else [])


def _measured(run: Run, score: Score) -> Cell:
    """Write a measure: the mean over the draws, and below it the lowest and the highest where they differ."""
    spread = spread_of(run, score.measure)
    notes = [f"{spread.low:.3f} to {spread.high:.3f}"] if spread.moves else []
    if score.curve and "clusters" in score.details:
        notes.insert(0, f"{score.details['clusters']:.0f} clusters")
    return Cell(f"{spread.mean:.3f}", note="; ".join(notes))


class Losses(NamedTuple):
    """The picture of one method: information loss by the number of clusters."""

    method: str
    runs: str
    svg: Markup


def _losses(runs: Sequence[Run], numbers: dict[str, int]) -> list[Losses]:
    """Draw one small picture per method that has releases whose users can be clustered."""
    methods = list(dict.fromkeys(r.method for r in runs))
    out = []
    for method in methods:
        mine = [r for r in runs if r.method == method and curve_of(r, LOSS)]
        if mine:
            at = next(int(s.details["clusters"]) for s in mine[0].scores if s.measure == LOSS)
            svg = curve_chart({numbers[r.name]: curve_of(r, LOSS) for r in mine}, method, methods, at)
            out.append(Losses(method, ", ".join(_numbered(r, numbers) for r in mine), svg))
    return out


def _charts(comparison: Comparison, runs: Sequence[Run]) -> dict[str, Markup | None]:
    """Draw the charts; None where there is nothing to draw."""
    return {
        "scores": charts.score_chart(runs),
        "groups": charts.group_chart(runs) if any(r.group_sizes for r in runs) else None,
        "topics": charts.topic_chart(comparison.topics, runs) if comparison.topics else None,
        "times": charts.time_chart(runs) if any(r.seconds for r in runs) else None,
    }
