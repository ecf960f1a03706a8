"""Charts as SVG inside the page: drawn once, by Vega-Lite, with no script and no request.

Texts and axes take the colour of the page's text, so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from querycloak.evaluation.comparison import frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from querycloak.evaluation.comparison import Comparison, Run

__all__ = ["attack_chart", "group_chart", "risk_chart", "score_chart", "time_chart", "topic_chart"]

_INK: Final = "#010203"
"""The colour of text while drawing, replaced by the page's own afterwards; no other part of a chart has it."""
_PALETTE: Final = [
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#d4a106", "#9d755d", "#6b8e23", "#c7528e",
    "#2f9aa0", "#8f7ad6",
]  # fmt: skip
_WIDTH: Final = 720
_HEIGHT: Final = 380
_ROOM: Final = 36
"""Room at both sides: texts are measured in one font, and a browser's may be wider."""
_SHORT: Final = {"k": "k", "epsilon": "ε", "min_query_users": "t", "depth": "ℓ", "hold": "h"}  # noqa: RUF001
"""How a point is labelled by its settings."""


def risk_chart(comparison: Comparison) -> Markup:
    """Draw one point per run: risk to the right, utility upwards; the frontier as a line, the limit as a rule."""
    placed = [r for r in comparison.runs if r.risk is not None and r.utility is not None]
    best = frontier(placed)
    points = [_point(r) for r in sorted(placed, key=lambda r: r not in best)]
    most = max([p["risk"] for p in points] + [comparison.max_risk]) * 1.1
    _drop_covered_labels(points, most)
    edge = [{"risk": r.risk, "utility": r.utility} for r in best]
    x = {"field": "risk", "type": "quantitative", "title": "rate of the worst attack",
         "axis": {"labelExpr": "datum.value > 1 ? '' : format(datum.value, '.0%')"},
         "scale": {"domain": [0, most]}}  # fmt: skip
    y = {"field": "utility", "type": "quantitative", "title": "topics kept (1 less divergence)",
         "scale": {"zero": False, "nice": True}}  # fmt: skip
    color = {"field": "method", "type": "nominal", "title": "method"}
    layers: list[dict[str, Any]] = [
        {"data": {"values": [{"risk": comparison.max_risk}]}, "mark": {"type": "rule", "strokeDash": [4, 4]},
         "encoding": {"x": x}},
        {"data": {"values": edge}, "mark": {"type": "line", "color": _INK, "strokeWidth": 1, "opacity": 0.5},
         "encoding": {"x": x, "y": y, "order": {"field": "risk"}}},
        {"data": {"values": points}, "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
         "encoding": {"x": x, "y": y, "color": color,
                      "shape": {"field": "kind", "type": "nominal", "title": "run"}}},
        {"data": {"values": points}, "mark": {"type": "text", "dx": 8, "align": "left", "fontSize": 10},
         "encoding": {"x": x, "y": y, "text": {"field": "label"}}},
    ]  # fmt: skip
    return _svg({"width": _WIDTH - 160, "height": _HEIGHT, "layer": layers}, "Risk and utility of each run")


def attack_chart(runs: Sequence[Run]) -> Markup:
    """Draw each attack's rate with its interval, and the bound that the statement claims as a tick."""
    values = [
        {"run": r.name, "attack": a.attack, "rate": a.rate, "low": a.low, "high": a.high, "bound": a.bound}
        for r in runs
        for a in r.attacks
        if a.names_people and a.targets
    ]
    x = {"type": "quantitative", "title": "rate (bar: 95 % interval; | claimed bound)", "axis": {"format": ".0%"},
         "scale": {"domain": [0, 1]}}  # fmt: skip
    y = {"field": "run", "type": "nominal", "title": None, "sort": None}
    color = {"field": "attack", "type": "nominal", "title": "attack", "sort": None}
    offset = {"field": "attack", "sort": None}
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {
            "x": {"field": "low", **x}, "x2": {"field": "high"}, "y": y, "yOffset": offset, "color": color}},
        {"mark": {"type": "point", "filled": True, "size": 22, "opacity": 1}, "encoding": {
            "x": {"field": "rate", **x}, "y": y, "yOffset": offset, "color": color}},
        {"transform": [{"filter": "datum.bound != null"}],
         "mark": {"type": "tick", "thickness": 2, "color": _INK, "bandSize": 30}, "encoding": {
            "x": {"field": "bound", **x}, "y": y}},
    ]  # fmt: skip
    spec = {"width": _WIDTH - 280, "height": {"step": 7}, "data": {"values": values}, "layer": layers}
    return _svg(spec, "Rate of each attack, by run")


def score_chart(runs: Sequence[Run]) -> Markup:
    """Draw the measures between 0 and 1, one small picture each."""
    values = [
        {"run": r.name, "measure": s.measure, "value": s.value}
        for r in runs
        for s in r.scores
        if 0 <= s.value <= 1 and s.measure != "rows per user"
    ]
    spec = {
        "data": {"values": values},
        "facet": {"field": "measure", "type": "nominal", "title": None, "sort": None, "columns": 3},
        "columns": 3,
        "spec": {
            "width": 150,
            "height": {"step": 13},
            "mark": {"type": "bar", "color": _PALETTE[0]},
            "encoding": {
                "x": {"field": "value", "type": "quantitative", "title": None, "scale": {"domain": [0, 1]}},
                "y": {"field": "run", "type": "nominal", "title": None, "sort": None},
            },
        },
    }
    return _svg(spec, "Utility by measure")


def group_chart(runs: Sequence[Run]) -> Markup:
    """Draw how many published users share their log with how many others."""
    values = [
        {"run": r.name, "size": str(min(size, 15)) if size < 15 else "15+", "order": min(size, 15), "users": users}
        for r in runs
        for size, users in r.group_sizes.items()
    ]
    encoding = {
        "x": {"field": "users", "type": "quantitative", "stack": "normalize", "title": "share of published users",
              "axis": {"format": ".0%"}},
        "y": {"field": "run", "type": "nominal", "title": None, "sort": None},
        "color": {"field": "size", "type": "ordinal", "title": "users with the same log", "sort": {"field": "order"},
                  "scale": {"scheme": "viridis"}},
        "order": {"field": "order"},
    }  # fmt: skip
    spec = {
        "width": _WIDTH - 260,
        "height": {"step": 15},
        "data": {"values": values},
        "mark": "bar",
        "encoding": encoding,
    }
    return _svg(spec, "Sizes of groups of equal logs")


def topic_chart(before: dict[str, float], runs: Sequence[Run]) -> Markup:
    """Draw the share of the log's largest topics before (bar) and after (a dot per run)."""
    bars = [{"topic": t, "share": v} for t, v in before.items()]
    dots = [{"topic": t, "share": v, "method": r.method} for r in runs for t, v in r.topics.items()]
    x = {
        "field": "share",
        "type": "quantitative",
        "title": "share of what queries are about",
        "axis": {"format": ".0%"},
    }
    y = {"field": "topic", "type": "nominal", "title": None, "sort": None}
    layers = [
        {"data": {"values": bars}, "mark": {"type": "bar", "color": "#8884"}, "encoding": {"x": x, "y": y}},
        {"data": {"values": dots}, "mark": {"type": "point", "size": 26, "strokeWidth": 1.5, "opacity": 0.9},
         "encoding": {"x": x, "y": y, "color": {"field": "method", "type": "nominal", "title": "after"}}},
    ]  # fmt: skip
    return _svg({"width": _WIDTH - 220, "height": {"step": 18}, "layer": layers}, "Topics before and after")


def time_chart(runs: Sequence[Run]) -> Markup:
    """Draw how long each step took."""
    values = [{"run": r.name, "step": s, "seconds": t} for r in runs for s, t in r.seconds.items()]
    encoding = {
        "x": {"field": "seconds", "type": "quantitative", "title": "seconds"},
        "y": {"field": "run", "type": "nominal", "title": None, "sort": None},
        "color": {"field": "step", "type": "nominal", "title": "step", "sort": None},
    }
    spec = {
        "width": _WIDTH - 260,
        "height": {"step": 15},
        "data": {"values": values},
        "mark": "bar",
        "encoding": encoding,
    }
    return _svg(spec, "Time of each step")


def _point(run: Run) -> dict[str, Any]:
    kind = "baseline" if run.baseline else "run"
    numbers = [f"{_SHORT[name]}={value:g}" for name, value in run.settings.items() if name in _SHORT]
    return {"risk": run.risk, "utility": run.utility, "method": run.method, "kind": kind, "label": " ".join(numbers)}


def _drop_covered_labels(points: list[dict[str, Any]], most: float) -> None:
    """Leave out labels that would cover an earlier one; the table below the chart has them all."""
    utilities = [p["utility"] for p in points]
    low, span = min(utilities, default=0.0), max(max(utilities, default=1.0) - min(utilities, default=0.0), 1e-9)
    taken: list[tuple[float, float, float]] = []
    for point in points:
        left, top = point["risk"] / most * (_WIDTH - 160), (point["utility"] - low) / span * _HEIGHT
        right = left + 14 + 6 * len(point["label"])
        if any(left < r and right > lt and abs(top - t) < 12 for lt, r, t in taken):
            point["label"] = ""
        else:
            taken.append((left, right, top))


def _svg(spec: dict[str, Any], title: str) -> Markup:
    """Draw a Vega-Lite chart, with the colour of the page's text instead of `_INK`.

    This is markup: Vega escapes the texts of the data, and `title` is ours.
    """
    import vl_convert
    from markupsafe import Markup

    style = {
        "background": None,
        "padding": {"left": _ROOM, "right": _ROOM, "top": 5, "bottom": 5},
        "view": {"stroke": None},
        "range": {"category": _PALETTE},
        "axis": {"labelColor": _INK, "titleColor": _INK, "domainColor": _INK, "tickColor": _INK, "gridColor": "#8883",
                 "labelLimit": 260, "titleFontWeight": "normal"},
        "legend": {"labelColor": _INK, "titleColor": _INK, "symbolStrokeColor": _INK, "symbolFillColor": _INK,
                   "labelLimit": 260, "titleFontWeight": "normal"},
        "header": {"labelColor": _INK, "titleColor": _INK},
        "text": {"color": _INK},
        "rule": {"color": _INK},
    }  # fmt: skip
    drawn = vl_convert.vegalite_to_svg({**spec, "config": style})
    drawn = drawn.replace(_INK, "currentColor")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn)
    assert size is not None
    head = f'<svg role="img" aria-label="{title}" style="max-width:{float(size[1]):.0f}px" '
    return Markup(drawn.replace("<svg ", head, 1).replace(size[0], 'width="100%"', 1))  # noqa: S704 - see above
