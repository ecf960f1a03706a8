"""Tests that findings of several papers share. All of them look at means over the draws, and print what they saw.

"Falls" and "rises": Spearman's rank correlation of x and mean is at least 0.9 in size, and the ends agree: one value
out of ten may be out of order, but with three points none.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from querycloak.evaluation.reproduce.paper import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from querycloak.evaluation.reproduce.results import Line, Results

__all__ = [
    "all_below",
    "falls",
    "found_if",
    "ordered",
    "percent",
    "rank_correlation",
    "rises",
    "shares_below",
    "trend",
    "with_unit",
]

CORRELATION: Final = 0.9


def found_if(holds: bool, figures: str) -> Outcome:
    """Return the outcome of a test."""
    return Outcome("found" if holds else "not found", figures)


def rank_correlation(values: Sequence[float]) -> float:
    """Return Spearman's correlation of values with their order.

    >>> rank_correlation([1, 2, 3]), rank_correlation([3, 2, 1]), rank_correlation([1, 1])
    (1.0, -1.0, 0.0)
    """
    import numpy as np

    ranks = np.array([sum(v < w for v in values) + sum(v == w for v in values) / 2 for w in values])
    if len(values) < 2 or ranks.std() == 0:
        return 0.0
    return round(float(np.corrcoef(np.arange(len(values)), ranks)[0, 1]), 12)


def falls(line: Line) -> bool:
    """Tell whether a series falls."""
    means = [point.mean for point in line.values()]
    return rank_correlation(means) <= -CORRELATION and means[-1] < means[0]


def rises(line: Line) -> bool:
    """Tell whether a series rises."""
    means = [point.mean for point in line.values()]
    return rank_correlation(means) >= CORRELATION and means[-1] > means[0]


def with_unit(value: float, *, percent: bool = False) -> str:
    """Write a value of a figure.

    >>> with_unit(0.1234, percent=True), with_unit(1234.5), with_unit(0.01234)
    ('12.3 %', '1,234', '0.0123')
    """
    if percent:
        return f"{100 * value:.3g} %"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(value: float) -> str:
    """Write a share.

    >>> percent(0.1234)
    '12.3 %'
    """
    return with_unit(value, percent=True)


def trend(line: Line, *, percent: bool = False) -> str:
    """Write the ends of a series: `12 % at 1 to 3 % at 9`."""
    first, last = min(line), max(line)
    ends = [f"{with_unit(line[x].mean, percent=percent)} at {x:g}" for x in (first, last)]
    return " to ".join(ends)


def shares_below(results: Results, figure: str, low: str, high: str) -> list[tuple[str, float, float, float]]:
    """Compare two series point by point: (panel, x, mean of `low`, mean of `high`) where both have a value."""
    out = []
    for panel in results.panels(figure):
        lower, upper = results.line(figure, low, panel), results.line(figure, high, panel)
        out += [(panel, x, lower[x].mean, upper[x].mean) for x in lower if x in upper]
    return out


def all_below(results: Results, figure: str, low: str, high: str, *, percent: bool = False) -> Outcome:
    """Test that one series is below another at every point of every panel."""
    points = shares_below(results, figure, low, high)
    holds = [a < b for _, _, a, b in points]
    worst = max(points, key=lambda point: point[2] - point[3])
    where = f"{worst[0]}, x = {worst[1]:g}" if worst[0] else f"x = {worst[1]:g}"
    return found_if(
        all(holds),
        f"at {sum(holds)} of {len(holds)} points; closest at {where}: {low} {with_unit(worst[2], percent=percent)}, "
        f"{high} {with_unit(worst[3], percent=percent)}",
    )


def ordered(results: Results, figure: str, series: Sequence[str], *, percent: bool = False) -> Outcome:
    """Test that the mean of each series over all panels and x is below that of the next."""
    means = [(name, _overall(results, figure, name)) for name in series]
    holds = all(a < b for (_, a), (_, b) in itertools.pairwise(means))
    return found_if(
        holds, ", ".join(f"{name} {with_unit(mean, percent=percent)}" for name, mean in means) + " on average"
    )


def _overall(results: Results, figure: str, series: str) -> float:
    return _mean(
        point.mean for panel in results.panels(figure) for point in results.line(figure, series, panel).values()
    )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
