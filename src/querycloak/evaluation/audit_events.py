"""Events that tell two neighbouring logs apart, and what their rates prove about epsilon.

An event is a figure of a release, or a weighted sum of figures, at or above a limit, or at or below it. `choose_event`
looks for the best one in runs that are then put away; `lower_bound` is about fresh runs, so that the search, however
wide, cannot make the bound wrong.

**What is proved.** (ε, δ)-differential privacy says P(event | one log) <= exp(ε) · P(event | the other) + δ. With
p >= low and q <= high, each wrong with a probability of at most `error` / 2, ε is at least ln((low - δ) / high), wrong
with a probability of at most `error`.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.statistics import at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.evaluation.audit_features import Features

__all__ = ["NOTHING", "Event", "choose_event", "lower_bound"]

Floats = npt.NDArray[np.float64]

_MOST_FIGURES: Final = 400
_FIGURES_AT_ONCE: Final = 4096
_IN_SUM: Final = 24
"""figures in the sum that is fitted closely"""
_RIDGES: Final = (1e-6, 1e-2, 1.0)
"""added to the variances of figures, for the weights of sums"""
_LIMITS: Final = 24
"""limits tried of each figure"""
_FITTED: Final = 3
"""one of so many runs is for the weights of sums, the others are for choosing among events"""
_RANKING_ERROR: Final = 0.01
"""of the bounds by which events are ranked: small, because the best of thousands is taken, often by chance alone"""
_NOTHING: Final = -9.0
"""promise of an event that shows nothing"""


class Event(NamedTuple):
    """A figure, or a sum of weighted figures, beyond a limit."""

    weights: dict[str, float]
    """what moves the sum most comes first"""
    limit: float
    above: bool
    """at or above the limit; else at or below"""
    promise: float = _NOTHING
    """the bound by the runs that it was chosen on: for ranking, it proves nothing; may be negative"""

    def holds(self, figures: Mapping[str, float]) -> bool:
        """Tell whether the event happened in a release."""
        value = sum(weight * figures.get(name, 0.0) for name, weight in self.weights.items())
        return value >= self.limit if self.above else value <= self.limit

    def __str__(self) -> str:
        sign = ">=" if self.above else "<="
        if len(self.weights) == 1:
            (name,) = self.weights
            return f"{name} {sign} {self.limit:g}"
        shown = " ".join(f"{weight:+.2g} · {name}" for name, weight in list(self.weights.items())[:3])
        return f"{shown}{' + …' if len(self.weights) > 3 else ''} {sign} {self.limit:.4g}"


NOTHING: Final = Event({"rows": 1.0}, 0.0, above=True)
"""What always happens."""


def lower_bound(hits: int, runs: int, other_hits: int, other_runs: int, *, delta: float, error: float) -> float:
    """Return what epsilon is at least, wrong with a probability of at most `error`; 0 where nothing is shown.

    >>> round(lower_bound(900, 1000, 100, 1000, delta=0.0, error=0.001), 2)
    1.86
    """
    low = at_least(hits, runs, error / 2) - delta
    high = at_most(other_hits, other_runs, error / 2)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def choose_event(likely: Sequence[Features], unlikely: Sequence[Features], *, delta: float) -> Event:
    """Find an event that happens more often on the `likely` side, from runs that are used for nothing else."""
    names = _figures(likely, unlikely)
    if not names:
        return NOTHING
    p, q = _matrix(likely, names), _matrix(unlikely, names)  # float64[runs, figures]
    cut_p, cut_q = len(p) // _FITTED, len(q) // _FITTED
    sums = _sums(names, p[:cut_p], q[:cut_q])
    best = NOTHING
    columns = [({name: 1.0}, p[cut_p:, i], q[cut_q:, i]) for i, name in enumerate(names)]
    columns += [(weights, _value(p[cut_p:], names, weights), _value(q[cut_q:], names, weights)) for weights in sums]
    for weights, x, y in columns:
        found = _best_limit(weights, x, y, delta)
        if found is not None and found.promise > best.promise:
            best = found
    return best


def _figures(*sides: Sequence[Features]) -> list[str]:
    """Return the figures that differ between runs, those first whose mean differs most between the sides.

    A method that invents texts has hundreds of thousands of figures, and a run has few of them: they are looked at some
    at a time, since the whole table would take gigabytes.
    """
    names = list(dict.fromkeys(name for side in sides for figures in side for name in figures))
    columns = {name: i for i, name in enumerate(names)}
    tables = [_Entries.of(side, columns) for side in sides]
    z, differs = np.zeros(len(names)), np.zeros(len(names), dtype=np.bool_)
    digest: list[bytes] = []
    for begin in range(0, len(names), _FIGURES_AT_ONCE):
        part = slice(begin, min(begin + _FIGURES_AT_ONCE, len(names)))
        p, q = (table.dense(part.start, part.stop) for table in tables)
        both = np.concatenate([p, q])
        differs[part] = both.max(axis=0) > both.min(axis=0)
        deviation = np.sqrt(p.var(axis=0) + q.var(axis=0))
        apart = np.abs(p.mean(axis=0) - q.mean(axis=0))
        spread = np.where(deviation > 0, deviation, 1.0)
        z[part] = np.where(deviation > 0, apart / spread, np.where(apart > 0, np.inf, 0.0))
        digest += [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in np.ascontiguousarray(both.T)]
    order = np.argsort(-z, kind="stable")
    first = {digest[i]: i for i in order[differs[order]][::-1].tolist()}  # of equal figures only one
    return [names[i] for i in list(first.values())[::-1][:_MOST_FIGURES]]


class _Entries(NamedTuple):
    """The figures of all runs of a side, by figure; a run that has not a figure has 0 of it."""

    runs: int
    start: npt.NDArray[np.int64]
    """int64[figures + 1]"""
    run: npt.NDArray[np.int64]
    value: Floats

    @classmethod
    def of(cls, side: Sequence[Features], columns: Mapping[str, int]) -> _Entries:
        column = np.array([columns[name] for figures in side for name in figures], dtype=np.int64)
        value = np.array([value for figures in side for value in figures.values()], dtype=np.float64)
        run = np.repeat(np.arange(len(side)), [len(figures) for figures in side])
        by_column = Ragged.positions(column, len(columns))
        return cls(len(side), by_column.start, run[by_column.values], value[by_column.values])

    def dense(self, begin: int, end: int) -> Floats:
        """float64[runs, end - begin]: some of the figures."""
        out = np.zeros((self.runs, end - begin))
        part = slice(self.start[begin], self.start[end])
        column = np.repeat(np.arange(end - begin), np.diff(self.start[begin : end + 1]))
        out[self.run[part], column] = self.value[part]
        return out


def _matrix(side: Sequence[Features], names: Sequence[str]) -> Floats:
    """float64[runs, figures]."""
    return np.array([[figures.get(name, 0.0) for name in names] for figures in side]).reshape(len(side), len(names))


def _sums(names: Sequence[str], p: Floats, q: Floats) -> list[dict[str, float]]:
    """Fit weights of sums by Fisher's linear discriminant: the inverse covariance times the difference of the means.

    Noise that several figures share cancels in such a sum, which no figure alone would show.
    """
    if min(len(p), len(q)) < 4:
        return []
    out = []
    for ridge in _RIDGES:
        n = len(names) if ridge == 1.0 else min(_IN_SUM, len(names), len(p) // 4)
        both = np.concatenate([p[:, :n] - p[:, :n].mean(axis=0), q[:, :n] - q[:, :n].mean(axis=0)])
        deviation = np.concatenate([p[:, :n], q[:, :n]]).std(axis=0)
        deviation[deviation == 0] = 1.0
        scaled = both / deviation
        covariance = scaled.T @ scaled / len(scaled) + ridge * np.eye(n)
        weights = np.linalg.solve(covariance, (p[:, :n].mean(axis=0) - q[:, :n].mean(axis=0)) / deviation) / deviation
        largest = np.abs(weights).max(initial=0.0)
        if n > 1 and largest > 0 and np.isfinite(largest):
            by_share = np.argsort(-np.abs(weights * deviation), kind="stable")  # what moves the sum most comes first
            out.append({names[i]: float(weights[i] / largest) for i in by_share.tolist() if weights[i]})
    return out


def _value(matrix: Floats, names: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """float64[runs]: a weighted sum, added in the same order as `Event.holds` adds."""
    index = {name: i for i, name in enumerate(names)}
    total = np.zeros(len(matrix))
    for name, weight in weights.items():
        total = total + weight * matrix[:, index[name]]
    return total


def _best_limit(weights: dict[str, float], x: Floats, y: Floats, delta: float) -> Event | None:
    """Return the best event of one figure, x: float64[runs] of the likely side, y of the other."""
    seen = values = np.unique(np.concatenate([x, y]))
    if len(values) > _LIMITS:
        values = np.quantile(np.concatenate([x, y]), np.linspace(0, 1, _LIMITS), method="nearest")
        values = np.unique([*values, x.min(), x.max(), y.min(), y.max()])  # the ends, where a side may be alone
    x, y = np.sort(x), np.sort(y)
    best: Event | None = None
    for above in (True, False):
        if above:
            k, m = len(x) - np.searchsorted(x, values), len(y) - np.searchsorted(y, values)
        else:
            k, m = np.searchsorted(x, values, "right"), np.searchsorted(y, values, "right")
        found = _promise(k, len(x), m, len(y), delta)
        i = int(np.argmax(found))
        if best is None or found[i] > best.promise:
            limit = float(values[i])
            if len(weights) > 1:  # half-way to the next value that was seen: sums are seldom the same twice
                at = int(np.searchsorted(seen, limit)) + (-1 if above else 1)
                limit = (limit + float(seen[at])) / 2 if 0 <= at < len(seen) else limit
            best = Event(weights, limit, above, float(found[i]))
    return best


def _promise(k: npt.NDArray[np.int64], n: int, m: npt.NDArray[np.int64], o: int, delta: float) -> Floats:
    """float64[limits]: the bound that such counts would prove with little confidence: for ranking, nothing else.

    Where that is nothing, a number below 0 that grows with the difference of the rates in standard errors: among bounds
    of nothing, those of events that nearly always happen would be the largest.
    """
    low = np.array([at_least(hits, n, _RANKING_ERROR) for hits in k.tolist()]) - delta
    high = np.array([at_most(hits, o, _RANKING_ERROR) for hits in m.tolist()])
    shown = np.where(low > 0, np.log(np.maximum(low, 1e-9) / high), -1.0)
    p, q = k / n, m / o
    deviation = np.sqrt((p * (1 - p) + 1 / n) / n + (q * (1 - q) + 1 / o) / o)
    difference = np.clip((p - delta - q) / deviation, 0.0, 10.0)
    return np.where(shown > 0, shown, -1.0 + 0.09 * difference)
