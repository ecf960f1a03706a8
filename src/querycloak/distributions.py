"""Distributions that intervals and thresholds need: normal, beta, Student's t, binomial; log factorials; a root.

Without SciPy, which is 143 MB (ADR 148); tests compare each function with SciPy's over the ranges that are used:
relative differences are 4e-12 at most, and there SciPy's quantiles are the ones that are off.

**Beta.** I(x; a, b), the probability of at most x, is a density times a continued fraction (Abramowitz and Stegun
26.5.8, by Lentz's method; it converges where x is below the mean, and above it the other tail is taken). The density is
Loader's (2000, "Fast and accurate computation of binomial probabilities"): the difference of three log gammas would
lose 8 of 16 digits at a million trials. The quantile is found by Newton's method on log I over log x, kept between two
bounds.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = [
    "beta_cdf",
    "beta_quantile",
    "binomial_quantile",
    "log_factorials",
    "normal_cdf",
    "normal_quantile",
    "root",
    "student_quantile",
]

_STIRLING: Final = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188)
"""of the series for the error of Stirling's formula: with n > 15 five terms are exact to 16 digits"""
_HALF_LOG_2PI: Final = 0.5 * math.log(2 * math.pi)
_TINY: Final = 1e-300
_CLOSE: Final = 1e-16
_STEPS: Final = 200


def normal_cdf(x: npt.ArrayLike) -> Floats:
    """Return the probability that a standard normal variable is at most x: float64, in the shape of x.

    >>> normal_cdf([0.0, -40.0]).tolist()
    [0.5, 0.0]
    """
    import numpy as np

    scaled = -np.asarray(x, dtype=np.float64) / math.sqrt(2.0)
    return 0.5 * np.fromiter(map(math.erfc, scaled.ravel().tolist()), np.float64, scaled.size).reshape(scaled.shape)


@lru_cache(maxsize=64)
def normal_quantile(p: float) -> float:
    """Return what a standard normal variable is at most, with probability p.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return NormalDist().inv_cdf(p)


def log_factorials(n: npt.NDArray[Any]) -> Floats:
    """Return the natural logarithm of n! for each whole number n >= 0: float64, in the shape of n."""
    import numpy as np

    values, index = np.unique(n, return_inverse=True)
    return np.fromiter((math.lgamma(v + 1.0) for v in values.tolist()), np.float64, len(values))[index]


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the probability that a beta variable with a, b > 0 is at most x: I(x; a, b).

    >>> round(beta_cdf(0.5, 2, 3), 4)
    0.6875
    """
    if x <= 0.0 or x >= 1.0:
        return float(x > 0.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _density_by_x(x, a, b) * _fraction(1.0 - x, b, a) / b
    return _density_by_x(x, a, b) * _fraction(x, a, b) / a


@lru_cache(maxsize=1 << 16)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Return x with I(x; a, b) = p, 0 < p < 1; exact to 15 digits up to p = 1/2, to 9 beyond.

    >>> round(beta_quantile(0.6875, 2, 3), 4)
    0.5
    """
    low, high = 0.0, 1.0
    x = a / (a + b)
    for _ in range(_STEPS):
        below = beta_cdf(x, a, b)
        if below < p:
            low = x
        else:
            high = x
        slope = _density_by_x(x, a, b) / (1.0 - x)  # of I over log x
        step = math.log(below / p) * below / slope if below > 0.0 and slope > 0.0 else math.inf
        next_x = x * math.exp(-step) if abs(step) < 700.0 else 0.0
        if not low < next_x < high:
            if abs(next_x - x) <= 4 * _CLOSE * x:  # rounding alone: both bounds are next to x
                return x
            next_x = (low + high) / 2
        if abs(next_x - x) <= _CLOSE * x or high - low <= _CLOSE * low:
            return next_x
        x = next_x
    return x


@lru_cache(maxsize=256)
def student_quantile(p: float, freedom: float) -> float:
    """Return what Student's t with so many degrees of freedom is at most, with probability 1/2 <= p < 1.

    >>> round(student_quantile(0.975, 2), 4)
    4.3027
    """
    if p == 0.5:
        return 0.0
    x = beta_quantile(2.0 * (1.0 - p), freedom / 2.0, 0.5)
    return math.sqrt(freedom * (1.0 - x) / x)


def binomial_quantile(p: float, trials: int, rate: float) -> int:
    """Return the least k such that at most k of the trials succeed with probability p or more.

    >>> binomial_quantile(0.5, 10, 0.5), binomial_quantile(0.0125, 500, 0.01)
    (5, 1)
    """
    low, high = -1, trials  # at most -1 never, at most all of them surely
    while high - low > 1:
        k = (low + high) // 2
        if 1.0 - beta_cdf(rate, k + 1.0, trials - k) >= p:
            high = k
        else:
            low = k
    return high


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function crosses 0 between two ends at which its signs differ, by halving to the last bit.

    >>> round(root(lambda x: x * x - 2, 0, 2), 12)
    1.414213562373
    """
    at_low = function(low)
    if at_low == 0.0 or low == high:
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if (function(middle) < 0.0) == (at_low < 0.0):
            low = middle
        else:
            high = middle
    return high


def _density_by_x(x: float, a: float, b: float) -> float:
    """Return x^a (1 - x)^b / B(a, b): the binomial probability of a in a + b, times a b / (a + b)."""
    n = a + b
    exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent -= _deviance(a, n * x) + _deviance(b, n * (1.0 - x))
    return math.sqrt(a * b / (2.0 * math.pi * n)) * math.exp(exponent)


def _stirling_error(n: float) -> float:
    """Return log n! minus Stirling's formula, log(√(2πn) (n/e)^n), for n > 0."""
    if n <= 15.0:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - _HALF_LOG_2PI
    s0, s1, s2, s3, s4 = _STIRLING
    m = 1.0 / (n * n)
    return (s0 - (s1 - (s2 - (s3 - s4 * m) * m) * m) * m) / n


def _deviance(x: float, mean: float) -> float:
    """Return x log(x / mean) + mean - x without loss of digits where the two are close (Loader's bd0)."""
    if mean <= 0.0:
        return math.inf
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total, term = (x - mean) * v, 2.0 * x * v
    for j in range(1, 1000):
        term *= v * v
        following = total + term / (2 * j + 1)
        if following == total:
            break
        total = following
    return total


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of I(x; a, b), by Lentz's method; x is at most about the mean."""
    c, d = 1.0, 1.0 / _apart(1.0 - (a + b) * x / (a + 1.0))
    out = d
    for m in range(1, 1_000_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / _apart(1.0 + numerator * d)
            c = _apart(1.0 + numerator / c)
            out *= c * d
        if abs(c * d - 1.0) <= _CLOSE * 2:
            break
    return out


def _apart(value: float) -> float:
    """Keep a divisor away from 0."""
    return value if abs(value) > _TINY else _TINY
