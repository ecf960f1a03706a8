"""Figures of a paper, drawn from the values of a reproduction: same axes, same series."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from querycloak.report.plots import SERIES, Bar, Dot, Line, Plot, Scale, area, nice_ticks, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.evaluation.reproduce.paper import Axis, Figure
    from querycloak.evaluation.reproduce.results import Results
    from querycloak.report.plots import Mark

__all__ = ["panel_plot", "panel_rows"]

_WIDTH: Final = 340
_ROOM_ABOVE: Final = 1.08
"""The y axis ends above the highest mean by this; intervals of few draws may be far longer, and are cut there."""
_FROM_ZERO: Final = 0.5
"""Where the lowest mean is below this share of the highest, the axis begins at zero."""


def panel_rows(figure: Figure, results: Results, panel: str) -> list[dict[str, Any]]:
    """Return the points of a panel: series, x, mean, low, high, and the paper's own value where it prints one."""
    reported = {(r.series, r.x): r.value for r in figure.reported if r.panel == panel}
    rows = []
    for series in figure.series:
        places = sorted(p for p in results.draws if p[:3] == (figure.key, panel, series))
        for place in places:
            found = results.summary(place)
            rows.append({
                "series": series,
                "x": place.x,
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "paper": reported.pop((series, place.x), None),
            })  # fmt: skip
    rows += [
        {"series": s, "x": x, "mean": None, "low": None, "high": None, "paper": v} for (s, x), v in reported.items()
    ]
    return rows


def panel_plot(figure: Figure, results: Results, panel: str) -> Plot | None:
    """Lay out one panel; None where there is nothing to draw.

    A mark is the mean over the draws, the upright line its 95 % interval; a hollow diamond is what the paper prints.
    """
    rows = [r for r in panel_rows(figure, results, panel) if r["mean"] is not None]
    if figure.y.scale == "log":
        rows = [r for r in rows if r["mean"] > 0]  # the table below has the others
    if not rows:
        return None
    # A series has one colour and shape in all panels of a figure; the legend names those of this panel.
    known = [s for s in figure.series if any(p.series == s for p in results.draws if p.figure == figure.key)]
    here = [s for s in known if any(r["series"] == s for r in rows)]
    bars = figure.kind == "bars"
    horizontal, upright = area(210, _WIDTH)
    y = _y_scale(figure.y, rows, upright, bars=bars)
    values = sorted({r["x"] for r in rows})
    x = Scale(0, len(values), *horizontal) if bars else _x_scale(figure.x, values, horizontal)
    marks = _bars(rows, values, here, known, x, y) if bars else _lines(rows, here, known, x, y)
    if bars:
        x_ticks = [(x.at(i + 0.5), number(value)) for i, value in enumerate(values)]
    else:
        few = len(values) <= 12
        x_ticks = x.ticks(values if few else _round_values(x), number)
    return Plot(
        title=f"{figure.name}: {figure.title}",
        x=x,
        y=y,
        x_title=figure.x.title,
        y_title=figure.y.title,
        x_ticks=x_ticks,
        y_ticks=y.ticks(_round_values(y), lambda value: number(value, percent=figure.y.percent)),
        marks=marks,
        legend=[(known.index(s), s) for s in here],
        width=_WIDTH,
    )


def _lines(rows: Sequence[dict[str, Any]], here: Sequence[str], known: Sequence[str], x: Scale, y: Scale) -> list[Mark]:
    lines: list[Mark] = []
    dots: list[Mark] = []
    for series in here:
        mine, colour = (
            sorted((r for r in rows if r["series"] == series), key=lambda r: float(r["x"])),
            known.index(series),
        )
        lines.append(Line([(x.at(r["x"]), y.at(r["mean"])) for r in mine], colour))
        for r in mine:
            at = x.at(r["x"])
            lines += _interval(r, at, y, colour)
            dots.append(Dot(at, y.at(r["mean"]), colour))
            if r["paper"] is not None:
                dots.append(Dot(at, y.at(r["paper"]), colour, hollow=True))
    return [*lines, *dots]


def _bars(
    rows: Sequence[dict[str, Any]],
    values: Sequence[float],
    here: Sequence[str],
    known: Sequence[str],
    x: Scale,
    y: Scale,
) -> list[Mark]:
    bars: list[Mark] = []
    above: list[Mark] = []
    zero = y.at(max(y.low, 0.0))
    wide = 0.8 / len(here)
    for r in rows:
        colour = known.index(r["series"])
        start = values.index(r["x"]) + 0.1 + wide * here.index(r["series"])
        left, right, end = x.at(start), x.at(start + wide * 0.94), y.at(r["mean"])
        bars.append(Bar(left, min(end, zero), round(right - left, 1), round(abs(end - zero), 1), colour))
        middle = round((left + right) / 2, 1)
        above += _interval(r, middle, y, -1)
        if r["paper"] is not None:
            above.append(Dot(middle, y.at(r["paper"]), (colour + 1) % SERIES, hollow=True))
    return [*bars, *above]


def _interval(row: dict[str, Any], at: float, y: Scale, colour: int) -> list[Mark]:
    return [] if row["low"] is None else [Line([(at, y.at(row["low"])), (at, y.at(row["high"]))], colour, "error")]


def _x_scale(axis: Axis, values: Sequence[float], ends: tuple[float, float]) -> Scale:
    """Return the x axis, with some room at both sides."""
    start, end = ends[0] + 12, ends[1] - 12
    low, high = values[0], values[-1] if values[-1] > values[0] else values[0] + 1
    if axis.scale == "log" and low > 0:
        edge = (high / low) ** (12 / (end - start))
        return Scale(low / edge, high * edge, *ends, "log")
    room = (high - low) * 12 / (end - start)
    return Scale(low - room, high + room, *ends)


def _y_scale(axis: Axis, rows: Sequence[dict[str, Any]], ends: tuple[float, float], *, bars: bool) -> Scale:
    means = [r["mean"] for r in rows]
    shown = [*means, *(r["paper"] for r in rows if r["paper"] is not None)]
    low, high = min(shown), max(shown)
    if axis.scale == "log" and low > 0:
        return Scale(low / 1.2, high * 1.2, *ends, "log")
    zero = bars or min(means) < _FROM_ZERO * max(means)
    room = (high - min(low, 0) if zero else high - low) * (_ROOM_ABOVE - 1) or abs(high) * 0.1 or 0.1
    return Scale(min(low, 0.0) if zero else low - room, high + room, *ends)


def _round_values(scale: Scale) -> list[float]:
    """Return round numbers on a scale: powers of ten, with 2 and 5 where they are few, on one of logarithms."""
    if scale.kind != "log":
        return nice_ticks(scale.low, scale.high)
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    return [step * 10.0**power for power in range(first, last + 1) for step in steps]
