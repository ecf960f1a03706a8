"""How long work will take, in words, before it starts: "about 4 minutes".

`RATES` are processor seconds, measured on generated logs of 300 users with 12,000 queries (14,983 rows) and of 2,000
users with 80,000 queries (100,858 rows), default settings, one thread, by `benchmarks/estimates.py`, which also checks
them. Between and beyond the two sizes time grows as a power of the number of rows. A method of another package has no
rate, and nothing is said. Where work has parts, the rest is corrected by how long the finished ones took (`Remaining`),
so that a slow or busy machine misleads for one part only.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from querycloak.evaluation.plans import Plan

__all__ = [
    "LEAST_SHOWN",
    "RATES",
    "Rate",
    "Remaining",
    "audit_seconds",
    "in_words",
    "judge_seconds",
    "release_seconds",
    "runs_seconds",
]

SMALL: Final = 14_983
LARGE: Final = 100_858
"""Rows of the two logs that were measured."""
LEAST_SHOWN: Final = 8.0
"""Seconds from which on it is worth a line."""


@dataclass(frozen=True)
class Rate:
    """Processor seconds on the small and on the large log."""

    small: float
    large: float

    def seconds(self, rows: int) -> float:
        """Return the seconds on a log of so many rows.

        >>> round(Rate(1.0, 6.73).seconds(29_966), 2), Rate(1.0, 6.73).seconds(0)
        (2.0, 0.0)
        """
        power = math.log(max(self.large / self.small, 1.0)) / math.log(LARGE / SMALL)
        return self.small * (rows / SMALL) ** power if rows else 0.0


MAPPING: Final = Rate(0.8, 2.3)
"""Finding what the queries are about."""
RATES: Final[dict[str, tuple[Rate, Rate]]] = {
    "click-graph-removal": (Rate(0.05, 0.32), Rate(2.79, 7.3)),
    "clump": (Rate(0.13, 1.24), Rate(4.9, 17.1)),
    "fixed-depth": (Rate(0.03, 0.19), Rate(0.4, 2.0)),
    "flat": (Rate(0.04, 0.22), Rate(0.38, 2.1)),
    "frequent-queries": (Rate(0.01, 0.09), Rate(0.39, 4.3)),
    "histogram-dp": (Rate(0.04, 0.42), Rate(15.5, 73.5)),
    "nearest": (Rate(0.04, 0.21), Rate(1.6, 4.4)),
    "partition": (Rate(0.02, 0.05), Rate(1.5, 4.6)),
    "plain-microaggregation": (Rate(0.06, 0.72), Rate(2.3, 11.1)),
    "policy": (Rate(0.01, 0.06), Rate(0.1, 0.7)),
    "self-adjusting": (Rate(0.04, 0.21), Rate(1.6, 4.4)),
    "semantic-dp": (Rate(0.02, 0.12), Rate(10.1, 22.6)),
    "semantic-microaggregation": (Rate(0.09, 1.12), Rate(2.1, 14.6)),
    "sweep": (Rate(0.14, 0.43), Rate(2.0, 8.5)),
    # 350 s is 5.3 releases, as on the small log: the whole run on the large one was not measured.
    "syntactic-microaggregation": (Rate(1.5, 66.2), Rate(9.5, 350.0)),
    "synthetic-dp": (Rate(4.1, 4.4), Rate(14.0, 30.9)),
    "url-microaggregation": (Rate(0.1, 0.6), Rate(2.7, 10.7)),
    "word-microaggregation": (Rate(0.34, 2.6), Rate(4.1, 23.4)),
}
"""method → a release, and a release with all attacks, tasks and measures, as `compare` and `check` have it"""
NAIVE: Final = Rate(2.4, 11.1)
"""The same of a log with new ids alone."""
AUDITED: Final = {"frequent-queries": 2.5e-3, "histogram-dp": 1.5e-3, "semantic-dp": 1.3e-3, "synthetic-dp": 0.02}
"""method → processor seconds of one run of an audit"""


def in_words(seconds: float) -> str:
    """Return a time as people say it.

    >>> [in_words(s) for s in (3, 25, 70, 200, 3_000, 3_700, 10_000, 100_000)]
    ['a few seconds', 'about half a minute', 'about a minute', 'about 3 minutes', 'about 50 minutes', 'about an hour', \
'about 3 hours', 'about 28 hours']
    """
    if seconds < 12:
        return "a few seconds"
    if seconds < 45:
        return "about half a minute"
    if seconds < 90:
        return "about a minute"
    minutes = seconds / 60
    if minutes < 52:
        return f"about {minutes:.0f} minutes" if minutes < 20 else f"about {5 * round(minutes / 5)} minutes"
    return "about an hour" if minutes < 90 else f"about {minutes / 60:.0f} hours"


def release_seconds(method: str, rows: int) -> float | None:
    """Return how long a release takes; None where there is no rate."""
    return RATES[method][0].seconds(rows) + MAPPING.seconds(rows) if method in RATES else None


def judge_seconds(method: str, rows: int) -> float | None:
    """Return how long it takes to attack and measure a release, and to make those that are needed for it."""
    return RATES[method][1].seconds(rows) + MAPPING.seconds(rows) if method in RATES else None


def runs_seconds(plans: Sequence[Plan], rows: int) -> list[float] | None:
    """Return how long each run of a comparison takes; None where a method has no rate."""
    if any(plan.method not in RATES for plan in plans):
        return None
    return [(NAIVE if plan.baseline else RATES[plan.method][1]).seconds(rows) for plan in plans]


def audit_seconds(method: str, runs: int) -> float | None:
    """Return how long so many runs of an audit take; None where there is no rate."""
    return runs * AUDITED[method] if method in AUDITED else None


class Remaining:
    """Corrects an estimate by what is finished."""

    def __init__(self, parts: Sequence[float] | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self._parts = None if parts is None else list(parts)
        self._clock, self._begin = clock, clock()

    @property
    def total(self) -> float | None:
        """All parts together, as estimated; None where there is no estimate."""
        return None if self._parts is None else sum(self._parts)

    def after(self, done: int) -> float | None:
        """Return the seconds left once so many parts are finished.

        Without an estimate every part is taken to last as long as those that are finished.
        """
        took = self._clock() - self._begin
        if self._parts is None:
            return None
        finished, left = sum(self._parts[:done]), sum(self._parts[done:])
        return left * took / finished if finished else left
