"""Figures of a paper, drawn from the values of a reproduction: same axes, same series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from querycloak.report.charts import svg_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from querycloak.evaluation.reproduce.paper import Axis, Figure
    from querycloak.evaluation.reproduce.results import Results

__all__ = ["panel_chart", "panel_rows"]

_SIZE: Final = (330, 220)
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


def panel_chart(figure: Figure, results: Results, panel: str) -> Markup | None:
    """Draw one panel; None where there is nothing to draw.

    A mark is the mean over the draws, the upright line its 95 % interval; a hollow diamond is what the paper prints.
    """
    rows = panel_rows(figure, results, panel)
    means = [r["mean"] for r in rows if r["mean"] is not None]
    if not means:
        return None
    if figure.y.scale == "log":
        rows = [r for r in rows if r["mean"] is None or r["mean"] > 0]  # the table below has the others
    x = {"field": "x", "title": figure.x.title, **_scale(figure.x, [r["x"] for r in rows if r["mean"] is not None])}
    # A series has one colour in all panels of a figure; the legend names those of this panel.
    domain = [s for s in figure.series if any(p.series == s for p in results.draws if p.figure == figure.key)]
    here = [s for s in domain if any(r["series"] == s for r in rows)]
    color = {
        "field": "series",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain},
        "legend": {"orient": "bottom", "columns": 3, "values": here, "symbolType": "circle"},
    }
    layers: list[dict[str, Any]]
    if figure.kind == "bars":
        x |= {"type": "ordinal", "axis": {"labelAngle": 0}}
        x.pop("scale", None)
        shift = {"field": "series", "scale": {"domain": domain}}
        y = _y(figure.y, rows, zero=True)
        middle = {"x": x, "xOffset": shift, "y": {"field": "mean", **y}, "color": color}
        layers = [{"mark": {"type": "bar", "clip": True}, "encoding": middle}]
        more: dict[str, Any] = {"xOffset": shift}
    else:
        y = _y(figure.y, rows, zero=min(means) < _FROM_ZERO * max(means))
        shape = {"field": "series", "type": "nominal", "legend": None, "scale": {"domain": domain}}
        middle = {"x": x, "y": {"field": "mean", **y}, "color": color}
        layers = [
            {"mark": {"type": "line", "clip": True, "strokeWidth": 1.5}, "encoding": middle},
            {
                "mark": {"type": "point", "filled": True, "size": 45, "clip": True},
                "encoding": {**middle, "shape": shape},
            },
        ]
        more = {}
    drawn = [r for r in rows if r["mean"] is not None]
    spans = [r for r in drawn if r["low"] is not None]
    if spans:
        ends = {"x": x, **more, "y": {"field": "low", **y}, "y2": {"field": "high"}}
        rule = {"type": "rule", "clip": True, "strokeWidth": 1.2, "opacity": 0.4}
        if figure.kind != "bars":
            ends["color"] = {"field": "series", "type": "nominal", "scale": {"domain": domain}}
        layers.append({"data": {"values": spans}, "mark": rule, "encoding": ends})
    printed = [r for r in rows if r["paper"] is not None and r["mean"] is not None]
    if printed:
        mark = {"type": "point", "shape": "diamond", "filled": False, "size": 90, "clip": True}
        at = {
            "x": x,
            **more,
            "y": {"field": "paper", **y},
            "color": {"field": "series", "type": "nominal", "scale": {"domain": domain}},
        }
        layers.append({"data": {"values": printed}, "mark": mark, "encoding": at})
    spec = {"width": _SIZE[0], "height": _SIZE[1], "data": {"values": drawn}, "layer": layers}
    return svg_of(spec, f"{figure.name}: {figure.title}", room=14)


def _scale(axis: Axis, values: list[float]) -> dict[str, Any]:
    """Return the x axis: ticks at the values of the paper where they are few."""
    out: dict[str, Any] = {"type": "quantitative", "scale": {"zero": False, "nice": False, "padding": 12}}
    ticks = sorted(set(values))
    if len(ticks) <= 12 and all(len(f"{tick:g}") <= 6 for tick in ticks):
        out["axis"] = {"values": ticks, "format": _format(max(ticks)), "labelOverlap": True}
    if axis.scale == "log":
        out["scale"] = {"type": "log", "nice": False, "padding": 12}
    return out


def _y(axis: Axis, rows: list[dict[str, Any]], *, zero: bool) -> dict[str, Any]:
    rows = [r for r in rows if r["mean"] is not None]
    shown = [r[name] for r in rows for name in ("mean", "paper") if r[name] is not None]
    low, high = min(shown), max(shown)
    out: dict[str, Any] = {
        "type": "quantitative",
        "title": axis.title,
        "axis": {"format": "~%" if axis.percent else _format(high), "titlePadding": 12},
    }
    if axis.scale == "log" and low > 0:
        out["scale"] = {"type": "log", "domain": [low / 1.2, high * 1.2], "nice": False}
        return out
    room = (high - min(low, 0) if zero else high - low) * (_ROOM_ABOVE - 1) or abs(high) * 0.1 or 0.1
    floor = min(low, 0.0) if zero else low - room
    out["scale"] = {"domain": [floor, high + room], "nice": False, "zero": False}
    return out


def _format(largest: float) -> str:
    """Return how numbers up to so large are written: 20k, or 0.05."""
    return "~s" if largest >= 1000 else "~f"
