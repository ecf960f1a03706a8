"""Re-identification rates over several k against 1/k, by Kolmogorov and Smirnov (Pàmies-Estrems et al. 2023, 5.3).

>>> d, p = against_bound([0.13, 0.05, 0.02], [3, 10, 30])
>>> round(d, 2), round(p, 2)
(0.33, 1.0)
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["against_bound"]


def against_bound(rates: Sequence[float], ks: Sequence[int]) -> tuple[float, float]:
    """Return the two-sample statistic D of the rates against 1/k, and its exact two-sided p-value.

    A large p says only that the rates do not differ from 1/k in distribution. Whether each is below 1/k is another
    question, and answered one by one.
    """
    size = len(rates)
    if size != len(ks) or not size:
        raise ValueError("as many rates as k are needed, and at least one")
    ours, bounds = np.sort(rates), np.sort(1 / np.asarray(ks))
    points = np.concatenate([ours, bounds])
    below = np.searchsorted(ours, points, "right") - np.searchsorted(bounds, points, "right")
    apart = int(np.abs(below).max())
    return apart / size, _at_least(apart, size)


def _at_least(apart: int, size: int) -> float:
    """Return the share of the orders of two samples, `size` each, whose counts are somewhere `apart` or more.

    It is counted in whole numbers: SciPy's ks_2samp rounds, and takes an approximation where its result passes 1.
    """
    if apart == 0:
        return 1.0
    # ways[d] orders so far are never `apart` away, and have now d more of the one sample than of the other
    ways = {0: 1}
    for _ in range(2 * size):
        step: dict[int, int] = {}
        for difference, count in ways.items():
            for there in (difference - 1, difference + 1):
                if abs(there) < apart:
                    step[there] = step.get(there, 0) + count
        ways = step
    orders = comb(2 * size, size)
    return (orders - ways.get(0, 0)) / orders
