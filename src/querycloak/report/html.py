"""One HTML file: opens offline, asks nothing of any host, reads well in light, in dark and on paper.

The markup is in `templates/`, where Jinja2 escapes every value; this module prepares the values. Only the charts are
markup already: Vega escapes the texts in them. The page forbids scripts and requests by its content security policy.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from querycloak.evaluation.comparison import frontier, recommend
from querycloak.logs.atomic import write_text
from querycloak.report import charts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from jinja2 import Environment

    from querycloak.evaluation.comparison import Comparison, Run

__all__ = ["html_report", "recommendation", "write_report"]


def write_report(comparison: Comparison, output: Path) -> Path:
    """Write `report.html` into the directory `output`, next to the results; return its path."""
    path = output / "report.html"
    write_text(path, html_report(comparison))
    return path


def recommendation(comparison: Comparison) -> str:
    """Say in one line which run to take, or that none will do."""
    best = recommend(comparison.runs, comparison.max_risk)
    if best is None:
        return f"No run keeps its worst attack at {comparison.max_risk:.0%} or below: do not publish any of these."
    worst = best.worst
    assert worst is not None
    return (
        f"{best.name} keeps most ({best.utility:.1%} of the topics) of the runs whose worst attack is right at most "
        f"{comparison.max_risk:.0%} of the time: {worst.attack}, {worst.rate:.1%}. {_promise(worst.bound)}"
    )


def _promise(bound: float | None) -> str:
    if bound is None:
        return "Its statement claims no bound: an attack that was not tried may do better."
    return f"Its statement bounds every attack by {bound:.0%}."


def html_report(comparison: Comparison) -> str:
    """Return the whole page."""
    runs = [r for r in comparison.runs if r.error is None]
    return (
        _templates()
        .get_template("report.html.j2")
        .render(
            comparison=comparison,
            found=recommend(comparison.runs, comparison.max_risk) is not None,
            advice=recommendation(comparison),
            charts=_charts(comparison, runs),
            overview=_overview(comparison),
            risks=_risks(runs),
            scores=_scores(runs),
        )
    )


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("querycloak.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"count": _count, "named": _named}
    return found


def _count(number: int) -> str:
    return f"{number:,}"


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


class Cell(NamedTuple):
    """A cell of a table."""

    text: str = ""
    mark: str = ""
    """`over` where it breaks a limit, `fine` where it keeps one"""


def _charts(comparison: Comparison, runs: Sequence[Run]) -> dict[str, str | None]:
    """Draw the charts; None where there is nothing to draw."""
    return {
        "risk": charts.risk_chart(comparison) if runs else None,
        "attacks": charts.attack_chart(runs) if runs else None,
        "scores": charts.score_chart(runs) if runs else None,
        "groups": charts.group_chart(runs) if any(r.group_sizes for r in runs) else None,
        "topics": charts.topic_chart(comparison.topics, runs) if runs else None,
        "times": charts.time_chart(runs) if runs else None,
    }


def _overview(comparison: Comparison) -> dict[str, Any]:
    best = recommend(comparison.runs, comparison.max_risk)
    on_edge = {r.name for r in frontier(comparison.runs)}
    rows = []
    for r in comparison.runs:
        if r.error is not None:
            rows.append([Cell(r.name), Cell(f"failed: {r.error}", "over"), Cell(), Cell(), Cell()])
            continue
        worst = r.worst
        risk = Cell("none ran")
        if worst is not None:
            mark = "fine" if worst.rate <= comparison.max_risk else "over"
            risk = Cell(f"{worst.rate:.1%} ({worst.attack})", mark)
        utility = "" if r.utility is None else f"{r.utility:.1%}"
        edge = "yes" if r.name in on_edge else ""
        rows.append([Cell(r.name), risk, Cell(utility), Cell(edge), Cell(f"{sum(r.seconds.values()):.1f} s")])
    index = next((i for i, r in enumerate(comparison.runs) if best is not None and r.name == best.name), None)
    return {"head": ["run", "worst attack", "topics kept", "on the frontier", "time"], "rows": rows, "best": index}


def _risks(runs: Sequence[Run]) -> dict[str, Any]:
    names = list(dict.fromkeys(a.attack for r in runs for a in r.attacks))
    rows = []
    for r in runs:
        found = {a.attack: a for a in r.attacks}
        cells = [Cell(r.name)]
        for name in names:
            a = found.get(name)
            broken = a is not None and a.bound is not None and a.low > a.bound
            cells.append(Cell() if a is None else Cell(f"{a.rate:.1%}", "over" if broken else ""))
        bound = next((a.bound for a in r.attacks if a.bound is not None), None)
        rows.append([*cells, Cell("none" if bound is None else f"{bound:.1%}")])
    return {"head": ["run", *names, "claimed bound"], "rows": rows}


def _scores(runs: Sequence[Run]) -> dict[str, Any]:
    names = list(dict.fromkeys(s.measure for r in runs for s in r.scores))
    better = {s.measure: s.better for r in runs for s in r.scores}
    arrow = {"higher": "↑", "lower": "↓"}
    rows = []
    for r in runs:
        found = {s.measure: s.value for s in r.scores}
        rows.append([Cell(r.name), *(Cell(f"{found[n]:.3f}" if n in found else "") for n in names)])
    return {"head": ["run", *(f"{n} {arrow[better[n]]}" for n in names)], "rows": rows}
