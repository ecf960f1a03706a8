"""The page of a reproduction: findings first, then every figure and table of the paper; and one file per picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.logs.atomic import write_text
from querycloak.report.pages import Cell, Table, render
from querycloak.report.plots import draw
from querycloak.report.reproduction_charts import panel_plot, panel_rows

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.evaluation.reproduce.paper import Axis, Figure
    from querycloak.evaluation.reproduce.results import Results
    from querycloak.evaluation.reproduce.run import Reproduction
    from querycloak.report.plots import Plot

__all__ = ["reproduction_page", "write_reproduction"]

_MARKS: Final = {"found": "fine", "not found": "over", "not testable here": "open"}


class _Panel(NamedTuple):
    name: str
    plot: Plot | None
    table: Table


class _Shown(NamedTuple):
    """A figure of the page."""

    figure: Figure
    panels: list[_Panel]
    missing: list[str]
    """series without a value, and why"""


def write_reproduction(found: Reproduction, output: Path) -> list[Path]:
    """Write `reproduction.html` and one SVG file per picture into the directory; return their paths."""
    shown = [_shown(figure, found.results) for figure in found.paper.figures]
    paths = [output / "reproduction.html"]
    write_text(paths[0], reproduction_page(found, shown))
    for one in shown:
        for number, panel in enumerate(one.panels, 1):
            if panel.plot is not None:
                end = f"-{number}" if len(one.panels) > 1 else ""
                paths.append(output / f"{one.figure.key}{end}.svg")
                write_text(paths[-1], str(draw(panel.plot, alone=True)) + "\n")
    return paths


def reproduction_page(found: Reproduction, shown: list[_Shown] | None = None) -> str:
    """Return the whole page."""
    if shown is None:
        shown = [_shown(figure, found.results) for figure in found.paper.figures]
    counts = {verdict: sum(o.verdict == verdict for o in found.outcomes) for verdict in _MARKS}
    return render(
        "reproduction.html.j2",
        found=found,
        counts=counts,
        findings=Table(
            ["the paper says", "here", "figures"],
            [
                [Cell(finding.says, note=finding.where), Cell(o.verdict, _MARKS[o.verdict]), Cell(o.figures)]
                for finding, o in found.judged
            ],
        ),
        absent=Table(
            ["figure or table", "why it is not repeated"], [[Cell(a.name), Cell(a.why)] for a in found.paper.absent]
        ),
        not_run=Table(
            ["run", "why it could not be run"], [[Cell(name), Cell(why)] for name, why in found.not_run.items()]
        ),
        figures=shown,
        draw=draw,
    )


def _shown(figure: Figure, results: Results) -> _Shown:
    panels = list(dict.fromkeys(place.panel for place in results.draws if place.figure == figure.key)) or [""]
    there = {place.series for place in results.draws if place.figure == figure.key}
    return _Shown(
        figure,
        [
            _Panel(p, None if figure.kind == "table" else panel_plot(figure, results, p), _table(figure, results, p))
            for p in panels
        ],
        [f"{s}: {why}" for (key, s), why in results.reasons.items() if key == figure.key and s not in there],
    )


def _table(figure: Figure, results: Results, panel: str) -> Table:
    """Return the values of a panel: one row per x, one column per series."""
    rows = panel_rows(figure, results, panel)
    by_place: dict[tuple[float, str], dict[str, Any]] = {(r["x"], r["series"]): r for r in rows}
    series = [s for s in figure.series if any(r["series"] == s for r in rows)]
    body = [
        [Cell(f"{x:,.10g}"), *(_value(by_place.get((x, s)), figure.y) for s in series)]
        for x in sorted({r["x"] for r in rows})
    ]
    return Table([figure.x.title, *series], body)


def _value(row: dict[str, Any] | None, axis: Axis) -> Cell:
    if row is None:
        return Cell()
    notes = []
    if row["low"] is not None:
        notes.append(f"{_number(row['low'], axis)} to {_number(row['high'], axis)}")
    if row["paper"] is not None:
        notes.append(f"paper: {_number(row['paper'], axis)}")
    return Cell("" if row["mean"] is None else _number(row["mean"], axis), note="; ".join(notes))


def _number(value: float, axis: Axis) -> str:
    """Write a value with three digits."""
    if axis.percent:
        return f"{100 * value:.3g} %"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
