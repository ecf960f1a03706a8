"""The threshold of a set union: how high a noisy sum must be, so that what one user alone has is hardly ever published.

A user's weights are whole numbers w₁, w₂, … >= 0, at most d of them above 0, with Σ wᵢ² <= unit². Each of the user's
items has noise of its own, X discrete Gaussian with P(X = x) ∝ exp(-x² / 2s²), s = `scale`. Items with a sum below
`floor` are never looked at. Let q(m) bound P(X >= m) from above. `threshold` returns T with

    Σ q(T - floor - wᵢ) <= δ        for all such weights.                                                          (1)

Why (1) is what is needed: let D' be D with one user more, and let an item have the sum v < floor in D, so that D never
publishes it. In D' its sum is v + wᵢ, and it is published with probability P(X >= T - v - wᵢ) <= q(T - floor - wᵢ),
if wᵢ > 0, and never if wᵢ = 0. By (1) the probability that any item is published in D' that is not looked at in D is at
most δ. Items of the new user alone are those with v = 0. (`_set_union.py` has the rest of the proof.)

**The tail of the noise that runs.** q(m) = P(N >= m - 1) for N normal with deviation s, m >= 1. The sum
Σ_{k>=m} exp(-k²/2s²) is at most the integral from m - 1, where the integrand falls; and the whole sum over all k is at
least s·√2π, by Poisson's formula: s·√2π · Σ exp(-2π²s²k²), of which k = 0 alone is s·√2π. Nothing is lost: where the
unit is 2^20, the 1 is a millionth of one user's weight.

**All weights at once.** For any λ >= 0, and g(w) = q(T - floor - w),

    Σ g(wᵢ) = Σ (g(wᵢ) - λ wᵢ²/unit²) + λ · Σ wᵢ²/unit² <= d · max_w (g(w) - λ w²/unit²) + λ,

with w from 0 to unit (a user with fewer than d items is one with further weights of 0, which only add). The maximum is
bounded on a grid: within a <= w <= b it is at most g(b) - λ a²/unit², since g grows. Any λ makes a true bound; many are
tried, up to 2 g(unit). So (1) holds for weights 1/√t (Gopi et al. 2020), for weights by length, and for any others;
where equal weights are the worst there is, T is theirs, up to the grid:
max over t of unit/√t + s · Φ⁻¹((1 - δ)^(1/t)).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.distributions import normal_cdf

__all__ = ["tail", "threshold"]

Floats = npt.NDArray[np.float64]

_GRID: Final = 2048
_SLOPES: Final = 256
_MARGIN: Final = 1 + 1e-9
"""More than the tails of the normal distribution are off, so that rounding is on the safe side."""


def tail(m: Floats, scale: float) -> Floats:
    """Bound P(X >= m) of discrete Gaussian noise from above: float64[n]. Below m = 1 the bound is 1."""
    bound: Floats = normal_cdf(-(np.asarray(m, dtype=np.float64) - 1.0) / scale) * _MARGIN
    return np.where(np.asarray(m) < 1, 1.0, bound)


@lru_cache(maxsize=256)  # a search, of public numbers alone; attacks and audits run a method thousands of times
def threshold(d: int, scale: float, delta: float, *, unit: int, floor: int = 1) -> int:
    """Return the least T, up to the grid, for which (1) holds: items are published where sum + noise >= T."""
    low, high = 0, unit  # (1) does not hold at 0, where all of q is 1
    while _worst(d, scale, high, unit) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _worst(d, scale, middle, unit) > delta:
            low = middle
        else:
            high = middle
    return high + floor


def _worst(d: int, scale: float, gap: int, unit: int) -> float:
    """Bound Σ q(gap - wᵢ) over all weights that a user may have; gap = T - floor."""
    edge = np.unique(np.linspace(0.0, unit, _GRID + 1).astype(np.int64))  # int64[<= grid + 1]; integers lie in between
    chance = tail((gap - edge).astype(np.float64), scale)
    share = (edge.astype(np.float64) / unit) ** 2
    slope = float(chance[-1]) * np.concatenate([[0.0], np.geomspace(2.0**-20, 2.0, _SLOPES)])  # λ, float64[slopes]
    highest = np.max(chance[1:] - slope[:, None] * share[:-1], axis=1)
    return float((d * np.maximum(highest, chance[0]) + slope).min()) * _MARGIN
