"""The values of all draws, by figure, panel, series and x; their means and intervals; `results.csv`."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from querycloak.distributions import student_quantile
from querycloak.logs.formulas import escaped_row
from querycloak.statistics import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from querycloak.evaluation.reproduce.paper import Figure

__all__ = ["Line", "MissingError", "Place", "Results", "Summary", "results_csv", "summary_of"]


class MissingError(Exception):
    """A finding asks for a value that is not there; the text says why."""


class Place(NamedTuple):
    """Where a value is plotted."""

    figure: str
    panel: str
    series: str
    x: float


@dataclass(frozen=True)
class Summary:
    """One point of a figure, over all draws."""

    values: tuple[float, ...]
    """by draw"""
    mean: float
    low: float | None
    high: float | None
    """95 % interval of the mean by Student's t; None with one draw"""


def summary_of(values: Sequence[float]) -> Summary:
    """Sum up the values of a point.

    >>> found = summary_of([1.0, 2.0, 3.0])
    >>> found.mean, round(found.low, 2), round(found.high, 2)
    (2.0, -0.48, 4.48)
    """
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return Summary(tuple(values), mean, None, None)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = student_quantile((1 + CONFIDENCE) / 2, n - 1) * deviation / math.sqrt(n)
    return Summary(tuple(values), mean, mean - half, mean + half)


Line = Mapping[float, Summary]
"""A series of a figure: x → point, by rising x"""


@dataclass
class Results:
    """All values of a reproduction."""

    draws: dict[Place, dict[int, float]] = field(default_factory=dict)
    """place → draw → value"""
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    """(figure, series) → why values of it are missing"""

    def add(self, place: Place, draw: int, value: float) -> None:
        """Add the value of one draw."""
        self.draws.setdefault(place, {})[draw] = value

    def summary(self, place: Place) -> Summary:
        """Sum up the values of one place."""
        if place not in self.draws:
            raise MissingError(self._why(place.figure, place.series))
        by_draw = self.draws[place]
        return summary_of([by_draw[draw] for draw in sorted(by_draw)])

    def line(self, figure: str, series: str, panel: str = "") -> Line:
        """Return a series of a figure."""
        places = sorted(p for p in self.draws if (p.figure, p.panel, p.series) == (figure, panel, series))
        if not places:
            raise MissingError(self._why(figure, series))
        return {place.x: self.summary(place) for place in places}

    def panels(self, figure: str) -> list[str]:
        """Return the panels of a figure, in the order of the runs."""
        found = list(dict.fromkeys(place.panel for place in self.draws if place.figure == figure))
        if not found:
            raise MissingError(next((why for (key, _), why in self.reasons.items() if key == figure), "it was not run"))
        return found

    def _why(self, figure: str, series: str) -> str:
        return self.reasons.get((figure, series), f"there is no value of {series!r}")


def results_csv(results: Results, figures: Iterable[Figure], *, safe: bool = True) -> str:
    """One row per point and draw, then its mean with the interval, then the paper's own value where it prints one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["figure", "panel", "series", "x", "draw", "value", "low", "high"])
    for figure in figures:
        for place in (p for p in results.draws if p.figure == figure.key):
            head = escaped_row([figure.name, place.panel, place.series, f"{place.x:g}"], safe=safe)
            writer.writerows([*head, draw, f"{value:.10g}", "", ""] for draw, value in results.draws[place].items())
            found = results.summary(place)
            ends = ["" if end is None else f"{end:.10g}" for end in (found.low, found.high)]
            writer.writerow([*head, "mean", f"{found.mean:.10g}", *ends])
        writer.writerows(
            escaped_row([figure.name, r.panel, r.series, f"{r.x:g}", "paper", f"{r.value:g}", "", ""], safe=safe)
            for r in figure.reported
        )
    return out.getvalue()
