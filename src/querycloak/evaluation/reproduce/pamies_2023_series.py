"""Names of the series of Pàmies-Estrems and Garcia-Alfaro (2023), and how their findings read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.evaluation.reproduce.judging import with_unit

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.results import Line, Results

__all__ = [
    "CURRENT",
    "DEPTHS",
    "FIRST",
    "FULL",
    "KS",
    "PREVIOUS",
    "SECOND",
    "by_depth",
    "by_k",
    "ends_of",
    "level",
]

KS: Final = (3, 5, 10, 20, 30, 50, 70, 90, 120, 150, 200)
DEPTHS: Final = tuple(range(1, 12))
PREVIOUS, CURRENT = "previous proposal", "current proposal"
FIRST, SECOND = "current proposal, de-anonymizer 1", "current proposal, de-anonymizer 2"
FULL: Final = "re-identified"


def level(depth: int) -> str:
    """Return the name of the series of a depth."""
    return f"depth {depth}"


def by_k(results: Results, figure: str, panel: str) -> dict[int, Line]:
    """Return the series over k of each depth."""
    found = {d: results.draws for d in DEPTHS if any(p[:3] == (figure, panel, level(d)) for p in results.draws)}
    if not found:
        results.line(figure, level(1), panel)  # raises, and says why
    return {d: results.line(figure, level(d), panel) for d in found}


def by_depth(results: Results, figure: str, panel: str) -> dict[float, dict[int, float]]:
    """Return the mean at each depth, by k."""
    lines = by_k(results, figure, panel)
    ks = next(iter(lines.values()))
    return {k: {d: line[k].mean for d, line in lines.items()} for k in ks}


def ends_of(values: dict[int, float], *, as_percent: bool = True) -> str:
    """Write the values at the smallest and at the largest depth."""
    first, last = min(values), max(values)
    return (
        f"{with_unit(values[first], percent=as_percent)} at depth {first} to "
        f"{with_unit(values[last], percent=as_percent)} at depth {last}"
    )
