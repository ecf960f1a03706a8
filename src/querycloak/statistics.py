"""Statistics that attacks, tasks and audits share: intervals of a rate, by Wilson's score and by Clopper and Pearson.

>>> low, high = wilson(0.5, 100)
>>> round(low, 3), round(high, 3)
(0.404, 0.596)
"""

from __future__ import annotations

import math
from typing import Final

from querycloak.distributions import beta_quantile
from querycloak.distributions import normal_quantile as _normal_quantile

__all__ = ["CONFIDENCE", "at_least", "at_most", "normal_quantile", "wilson"]


CONFIDENCE: Final = 0.95


def normal_quantile() -> float:
    """Return how many standard errors the interval reaches to each side: 1.96."""
    return _normal_quantile((1 + CONFIDENCE) / 2)


def wilson(rate: float, targets: float) -> tuple[float, float]:
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


def at_least(successes: int, trials: int, error: float) -> float:
    """Return what a rate is at least, wrong with a probability of at most `error` (Clopper and Pearson 1934).

    Exact for any rate and number of trials, unlike Wilson's: what a proof of a fault needs.

    >>> round(at_least(100, 100, 0.001), 3), at_least(0, 100, 0.001)
    (0.933, 0.0)
    """
    return beta_quantile(error, float(successes), float(trials - successes + 1)) if successes else 0.0


def at_most(successes: int, trials: int, error: float) -> float:
    """Return what a rate is at most, wrong with a probability of at most `error` (Clopper and Pearson 1934).

    >>> round(at_most(0, 100, 0.001), 3), at_most(100, 100, 0.001)
    (0.067, 1.0)
    """
    return 1.0 - at_least(trials - successes, trials, error)
