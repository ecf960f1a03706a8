"""Statistics that attacks and tasks share: the 95 % interval of a rate (Wilson's score interval).

>>> low, high = wilson(0.5, 100)
>>> round(low, 3), round(high, 3)
(0.404, 0.596)
"""

from __future__ import annotations

import math
from typing import Final

__all__ = ["CONFIDENCE", "normal_quantile", "wilson"]


CONFIDENCE: Final = 0.95


def normal_quantile() -> float:
    """Return how many standard errors the interval reaches to each side: 1.96."""
    from scipy.special import ndtri

    return float(ndtri((1 + CONFIDENCE) / 2))


def wilson(rate: float, targets: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate seen over so many targets; (0, 1) over none.

    A rate is the mean chance of being right, so `rate * targets` is an expected number of successes and need not be
    whole: an attacker who must choose between three equal candidates is right with chance 1/3. SciPy's
    `binomtest(...).proportion_ci(method="wilson")` takes whole successes only; this is the same formula, with the
    expected number in their place. Chances vary no more than draws of 0 and 1 with the same mean, so the interval is
    too wide rather than too narrow.
    """
    if targets == 0:
        return 0.0, 1.0
    z2 = normal_quantile() ** 2
    middle = (rate + z2 / (2 * targets)) / (1 + z2 / targets)
    half = math.sqrt(z2 * (rate * (1 - rate) / targets + z2 / (4 * targets**2))) / (1 + z2 / targets)
    return max(0.0, middle - half), min(1.0, middle + half)
