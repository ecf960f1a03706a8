"""Information loss by the number of clusters: one small picture per method, a line and a band per run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from querycloak.report.drawing import SMALL, SMALL_HEIGHT, colour, draw, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from querycloak.evaluation.spread import Spread

__all__ = ["curve_chart"]

_LABEL: Final = 12
"""Height of a label."""


def curve_chart(curves: dict[int, dict[int, Spread]], method: str, methods: Sequence[str], marked: int) -> Markup:
    """Draw a percentage by the number of clusters for the runs of one method: `curves` are by the number of the run.

    A line is the mean over the draws, the band around it goes from the lowest to the highest; a dashed rule marks the
    number of clusters of the headline value.
    """
    values = [
        {"run": run, "clusters": at, "mean": s.mean, "low": s.low, "high": s.high}
        for run, curve in curves.items()
        for at, s in curve.items()
    ]
    numbers = sorted({v["clusters"] for v in values})
    line = colour(method, methods)
    x = {
        "field": "clusters",
        "type": "quantitative",
        "title": "number of clusters",
        "axis": {"values": numbers, "format": "d", "grid": False},
        "scale": {"type": "log", "base": 2, "domain": [numbers[0], max(numbers[-1], numbers[0] + 1)], "nice": False},
    }
    y = {
        "field": "mean",
        "type": "quantitative",
        "title": "lost, % (lower is better)",
        "axis": {"values": [0, 25, 50, 75, 100]},
        "scale": {"domain": [0, 100]},
    }
    detail = {"field": "run", "type": "nominal"}
    layers: list[dict[str, Any]] = [
        {"data": {"values": [{"clusters": marked}]}, "mark": {"type": "rule", "strokeDash": [4, 4]},
         "encoding": {"x": x}},
        {"mark": {"type": "area", "color": line, "opacity": 0.25}, "encoding": {
            "x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "detail": detail}},
        {"mark": {"type": "line", "color": line, "strokeWidth": 1.5}, "encoding": {"x": x, "y": y, "detail": detail}},
        {"mark": {"type": "point", "filled": True, "color": line, "size": 22}, "encoding": {"x": x, "y": y}},
        {"data": {"values": _end_labels(curves)}, "mark": {"type": "text", "dx": 8, "align": "left", "fontSize": 12},
         "encoding": {"x": x, "y": y, "text": {"field": "label"}}},
    ]  # fmt: skip
    spec = {"width": SMALL, "height": SMALL_HEIGHT, "data": {"values": values}, "layer": layers}
    return draw(spec, "Information loss by the number of clusters", room=10)


def _end_labels(curves: dict[int, dict[int, Spread]]) -> list[dict[str, Any]]:
    """Return the numbers of the runs, to be written where their lines end; of lines that end together in one label."""
    ends = sorted((curve[max(curve)].mean, max(curve), run) for run, curve in curves.items())
    labels: list[tuple[float, int, list[int]]] = []
    for mean, at, run in ends:
        if labels and labels[-1][1] == at and (mean - labels[-1][0]) / 100 * SMALL_HEIGHT < _LABEL:
            labels[-1][2].append(run)
        else:
            labels.append((mean, at, [run]))
    return [{"mean": mean, "clusters": at, "label": ranges(sorted(runs))} for mean, at, runs in labels]
