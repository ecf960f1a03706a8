"""Risk against usefulness: one small picture per task, one numbered badge per run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.report.plots import Badge, Line, Plot, Scale, area, draw, number, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

__all__ = ["LIMIT_TICKS", "Point", "tradeoff_plot"]

LIMIT_TICKS: Final = (0, 0.5, 1, 2, 5, 10, 20)
"""Marks of an axis of risks in limits; with a root, both half of the limit and twenty times the limit can be told."""
LEAST_FARTHEST: Final = 1.5
FARTHEST: Final = 25.0
"""Such an axis ends between these; what is farther is drawn at its end."""
_SPOT: Final = 14.0
"""Nearer badges are one spot."""
_NOTE: Final = 96.0
"""Room that the words inside need."""


class Point(NamedTuple):
    """A run in the picture of one task."""

    number: int
    over: float
    """the worst judged lift as a multiple of its limit"""
    kept: float
    mark: str
    """`fine` where the run keeps all conditions, else `over` or `open`"""


def tradeoff_plot(points: Sequence[Point], task: str) -> Markup:
    """Draw the runs for one task: risk to the right, what is kept upwards, the limit as a dashed rule."""
    (left, right), (bottom, top) = area()
    most = max(LEAST_FARTHEST, *(min(p.over, FARTHEST) for p in points)) * 1.1
    kept = [p.kept for p in points]
    x = Scale(0, most, left, right, "sqrt")
    y = Scale(min([0.0, *kept]) - 0.06, max([1.0, *kept]) + 0.08, bottom, top)
    limit = x.at(1)
    inside = [(left, top), (limit, top), (limit, y.at(0)), (left, y.at(0))]
    plot = Plot(
        title=f"Risk and what is kept of {task}, by run",
        x=x,
        y=y,
        x_title="← lower is better: worst attack ÷ its limit",
        y_title="kept of the task: higher is better →",
        x_ticks=x.ticks(LIMIT_TICKS, number),
        y_ticks=y.ticks([0, 0.25, 0.5, 0.75, 1], number),
        marks=[
            Line(inside, kind="safe"),
            Line([(limit, bottom), (limit, top)], kind="rule"),
            *_badges([(x.at(p.over), y.at(p.kept), p) for p in points]),
        ],
        notes=[(left + 5, top + 11, "within the limits")] if limit - left > _NOTE else [],
    )
    return draw(plot)


def _badges(placed: Sequence[tuple[float, float, Point]]) -> list[Badge]:
    """Write runs on one spot that are judged alike in one badge; push badges apart that would hide each other."""
    spots: list[tuple[float, float, list[Point]]] = []
    for x, y, point in placed:
        near = (m for px, py, m in spots if abs(px - x) < _SPOT and abs(py - y) < _SPOT and m[0].mark == point.mark)
        spot = next(near, None)
        if spot is None:
            spots.append((x, y, [point]))
        else:
            spot.append(point)
    badges: list[Badge] = []
    for x, y, members in spots:
        badge = Badge(x, y, ranges(sorted(p.number for p in members)), members[0].mark)
        while hidden := next((b for b in badges if _covers(b, badge)), None):
            badge = badge._replace(y=hidden.y - 19)
        badges.append(badge)
    return badges


def _covers(one: Badge, other: Badge) -> bool:
    return abs(one.x - other.x) < (one.width + other.width) / 2 and abs(one.y - other.y) < 18
