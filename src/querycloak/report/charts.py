"""Charts as SVG inside the page: drawn once, by Vega-Lite (`drawing.py`), with no script and no request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.report.drawing import PALETTE, SMALL, SMALL_HEIGHT, colour, draw, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from querycloak.evaluation.run import Run

__all__ = [
    "ARROWS",
    "Point",
    "group_chart",
    "score_chart",
    "time_chart",
    "topic_chart",
    "tradeoff_chart",
]

ARROWS: Final = {"higher": "↑", "lower": "↓"}
"""Which direction of a measure is better."""
_WIDTH: Final = 720
_DOT: Final = 8
"""Width of a point: nearer points are one spot."""
_LEAST_FARTHEST: Final = 1.5
_FARTHEST: Final = 25.0
"""The axis of risks, in limits, ends between these; what is farther is drawn at its end."""


class Point(NamedTuple):
    """A run in the picture of one task."""

    number: int
    method: str
    over: float
    """the worst judged lift as a multiple of its limit"""
    kept: float


def tradeoff_chart(points: Sequence[Point], methods: Sequence[str]) -> Markup:
    """Draw one point per run for one task: risk to the right, what is kept upwards, the limit as a rule.

    `methods` are those of all pictures: a method has one colour in all of them, also where others are missing.
    """
    values = [p._asdict() | {"over": min(p.over, _FARTHEST)} for p in points]
    most = max([_LEAST_FARTHEST, *(v["over"] for v in values)]) * 1.1
    kept = [v["kept"] for v in values]
    floor, ceiling = min([0.0, *kept]) - 0.05, max([1.0, *kept]) + 0.05
    _join_labels(values, most, floor, ceiling)
    # A root: both half of the limit and twenty times the limit can be told.
    ticks = [0, 1, 2, 5, 10, 20]
    x = {"field": "over", "type": "quantitative", "title": "worst attack ÷ its limit (lower is better)",
         "axis": {"values": [t for t in ticks if t <= most], "format": "~g"},
         "scale": {"type": "sqrt", "domain": [0, most], "nice": False}}  # fmt: skip
    y = {"field": "kept", "type": "quantitative", "title": "kept (higher is better)",
         "axis": {"values": [0, 0.5, 1], "titlePadding": 12},
         "scale": {"domain": [floor, ceiling], "nice": False}}  # fmt: skip
    colours = [colour(method, methods) for method in methods]
    color = {"field": "method", "type": "nominal", "legend": None, "scale": {"domain": list(methods), "range": colours}}
    layers: list[dict[str, Any]] = [
        {"data": {"values": [{"over": 1}]}, "mark": {"type": "rule", "strokeDash": [4, 4]}, "encoding": {"x": x}},
        {"mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.9}, "encoding": {
            "x": x, "y": y, "color": color}},
        {"mark": {"type": "text", "dx": 8, "align": "left", "fontSize": 12}, "encoding": {
            "x": x, "y": y, "text": {"field": "label"}}},
    ]  # fmt: skip
    spec = {"width": SMALL, "height": SMALL_HEIGHT, "data": {"values": values}, "layer": layers}
    return draw(spec, "Risk and what is kept of a task, by run", room=10)


def score_chart(runs: Sequence[Run]) -> Markup | None:
    """Draw the measures that are between 0 and 1 for all runs, one small picture each; None where there is none.

    Measures with a curve have pictures of their own: a percentage that happens to be 0 would be a blank one here.
    """
    wide = {s.measure for r in runs for s in r.scores if not 0 <= s.value <= 1 or s.curve}
    values = [
        {"run": r.name, "measure": f"{s.measure} {ARROWS[s.better]}", "value": s.value}
        for r in runs
        for s in r.scores
        if s.measure not in wide and s.measure != "rows per user"
    ]
    if not values:
        return None
    spec = {
        "data": {"values": values},
        "facet": {"field": "measure", "type": "nominal", "title": None, "sort": None, "columns": 3},
        "columns": 3,
        "spec": {
            "width": 150,
            "height": {"step": 13},
            "mark": {"type": "bar", "color": PALETTE[0]},
            "encoding": {
                "x": {"field": "value", "type": "quantitative", "title": None, "scale": {"domain": [0, 1]}},
                "y": {"field": "run", "type": "nominal", "title": None, "sort": None},
            },
        },
    }
    return draw(spec, "Utility by measure")


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
    return draw(spec, "Sizes of groups of equal logs")


def topic_chart(before: dict[str, float], runs: Sequence[Run]) -> Markup:
    """Draw the share of the log's largest topics before (bar) and after (a dot per run)."""
    bars = [{"topic": t, "share": v} for t, v in before.items()]
    dots = [{"topic": t, "share": v, "method": r.method} for r in runs for t, v in r.topics.items()]
    x = {
        "field": "share",
        "type": "quantitative",
        "title": "share of what queries are about",
        "axis": {"format": ".0%", "tickCount": 8},
    }
    y = {"field": "topic", "type": "nominal", "title": None, "sort": None}
    layers = [
        {"data": {"values": bars}, "mark": {"type": "bar", "color": "#8884"}, "encoding": {"x": x, "y": y}},
        {"data": {"values": dots}, "mark": {"type": "point", "size": 26, "strokeWidth": 1.5, "opacity": 0.9},
         "encoding": {"x": x, "y": y, "color": {"field": "method", "type": "nominal", "title": "after"}}},
    ]  # fmt: skip
    return draw({"width": _WIDTH - 220, "height": {"step": 18}, "layer": layers}, "Topics before and after")


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
    return draw(spec, "Time of each step")


def _join_labels(points: list[dict[str, Any]], most: float, floor: float, ceiling: float) -> None:
    """Write the labels of points on one spot together; leave out those that would cover something else.

    The tables above have them all.
    """
    where = [
        ((p["over"] / most) ** 0.5 * SMALL, (p["kept"] - floor) / (ceiling - floor) * SMALL_HEIGHT) for p in points
    ]
    spots: list[tuple[float, float, list[int]]] = []
    for i, (x, y) in enumerate(where):
        spot = next((members for px, py, members in spots if abs(px - x) < _DOT and abs(py - y) < _DOT), None)
        if spot is None:
            spots.append((x, y, [i]))
        else:
            spot.append(i)
    for point in points:
        point["label"] = ""
    for _, _, members in spots:
        points[members[0]]["label"] = ranges([points[i]["number"] for i in members])
    taken = [(x - 4, x + 4, y) for x, y in where]
    for point, (x, y) in zip(points, where, strict=True):
        left, right = x + 6, x + 10 + 6 * len(point["label"])
        if point["label"] and any(left < r and right > lt and abs(y - t) < 11 for lt, r, t in taken):
            point["label"] = ""
        elif point["label"]:
            taken.append((left, right, y))
