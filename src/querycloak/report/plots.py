"""Small pictures with two axes, drawn by ourselves as SVG: no library, no script, no font to measure.

A `Plot` holds positions; `templates/plot.svg.j2` writes them, and escapes every text. Colours are those of the page's
style sheet, so that one drawing serves light, dark and paper. Its size in units is its size in pixels at most: on a
phone it is as wide as the window, and its texts stay readable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from querycloak.report.pages import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from markupsafe import Markup

__all__ = ["SERIES", "Badge", "Bar", "Dot", "Line", "Plot", "Scale", "draw", "nice_ticks", "number", "ranges"]

SERIES: Final = 8
"""Colours of series in the style sheet; shapes are as many, so that colour is never alone."""
WIDTH: Final = 340
LEFT: Final = 50
RIGHT: Final = 14
TOP: Final = 12
_LETTER: Final = 6.2
"""Width of a letter of a label, at most on average."""

Kind = Literal["linear", "log", "sqrt"]


class Scale(NamedTuple):
    """Where values are between `start` and `end`, in pixels. What is beyond `low` or `high` is at the edge."""

    low: float
    high: float
    start: float
    end: float
    kind: Kind = "linear"

    def at(self, value: float) -> float:
        """Return the position of a value.

        >>> Scale(0, 10, 0, 100).at(5), Scale(0, 4, 0, 100, "sqrt").at(1), Scale(1, 100, 0, 100, "log").at(10)
        (50.0, 50.0, 50.0)
        """
        bends: dict[Kind, Callable[[float], float]] = {"linear": float, "log": math.log, "sqrt": math.sqrt}
        bend = bends[self.kind]
        low, high = bend(self.low), bend(self.high)
        share = (bend(min(max(value, self.low), self.high)) - low) / ((high - low) or 1.0)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, values: Iterable[float], write: Callable[[float], str]) -> list[tuple[float, str]]:
        """Return positions and texts of those values that are on the scale, without those that would overlap."""
        out: list[tuple[float, str]] = []
        upright = self.start > self.end
        edge = -math.inf
        for value in sorted(v for v in set(values) if self.low <= v <= self.high):
            at, text = self.at(value), write(value)
            room = 7.0 if upright else _LETTER * len(text) / 2 + 3
            near = abs(at - self.start)
            if near - room >= edge:
                out.append((at, text))
                edge = near + room
        return out


class Line(NamedTuple):
    """A line through points, or with `closed` an area."""

    points: Sequence[tuple[float, float]]
    series: int = -1
    """-1 = the colour of texts"""
    kind: str = "line"
    """class in the style sheet: line, band, rule, error"""


class Dot(NamedTuple):
    """A point of a series; every series has a shape."""

    x: float
    y: float
    series: int = 0
    hollow: bool = False


class Bar(NamedTuple):
    """An upright bar."""

    x: float
    y: float
    width: float
    height: float
    series: int = 0


class Badge(NamedTuple):
    """A text in a rounded frame, such as the numbers of runs on one spot."""

    x: float
    y: float
    text: str
    mark: str = ""
    """`fine`, `over` or `open`"""
    plain: bool = False
    """without a frame, to the right of its position"""

    @property
    def width(self) -> float:
        """Width of the frame."""
        return max(18.0, _LETTER * len(self.text) + 9)


Mark = Line | Dot | Bar | Badge


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A picture with two axes, in pixels."""

    title: str
    """what it shows, for who cannot see it"""
    x: Scale
    y: Scale
    x_title: str
    y_title: str
    """each says which way is better, where one is"""
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    marks: Sequence[Mark] = ()
    legend: Sequence[tuple[int, str]] = ()
    """series and its name"""
    width: int = WIDTH
    notes: Sequence[tuple[float, float, str]] = field(default=())
    """small texts inside: position, words"""

    @property
    def bottom(self) -> float:
        """Where the x axis is."""
        return self.y.start

    @property
    def height(self) -> float:
        """Height with axis and legend."""
        return self.bottom + 42 + 17 * len(self.legend)


def area(height: int = 190, width: int = WIDTH) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return start and end of both axes inside a picture."""
    return (LEFT, width - RIGHT), (TOP + height, TOP)


def draw(plot: Plot, *, alone: bool = False) -> Markup:
    """Write a picture as SVG; `alone` as a file of its own, dark on white.

    This is markup: the template escapes every text.
    """
    from markupsafe import Markup

    kinds = [(type(mark).__name__, mark) for mark in plot.marks]
    return Markup(render("plot.svg.j2", plot=plot, marks=kinds, alone=alone).strip())  # noqa: S704 - see above


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers between two others.

    >>> nice_ticks(0, 1), nice_ticks(0, 37), nice_ticks(-0.2, 0.1)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 10.0, 20.0, 30.0], [-0.2, -0.1, 0.0, 0.1])
    """
    span = high - low
    if span <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if span / (s * power) <= most - 0.999 + 1e-9 or s == 10)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float, *, percent: bool = False) -> str:
    """Write the value of a tick.

    >>> number(20000), number(0.05), number(0.05, percent=True)
    ('20k', '0.05', '5%')
    """
    text = f"{100 * value:.4g}%" if percent else f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")  # noqa: RUF001


def ranges(numbers: Sequence[int]) -> str:
    """Write ascending numbers with those in a row as from and to.

    >>> ranges([1, 3, 4, 5, 8, 9])
    '1, 3-5, 8, 9'
    """
    rows: list[list[int]] = []
    for n in numbers:
        if rows and rows[-1][-1] == n - 1:
            rows[-1].append(n)
        else:
            rows.append([n])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in rows)
