"""Re-identification rates over several k against 1/k, by Kolmogorov and Smirnov (Pàmies-Estrems et al. 2023, 5.3).

>>> d, p = against_bound([0.13, 0.05, 0.02], [3, 10, 30])
>>> round(d, 2), round(p, 2)
(0.33, 1.0)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["against_bound"]


def against_bound(rates: Sequence[float], ks: Sequence[int]) -> tuple[float, float]:
    """Return the two-sample statistic D of the rates against 1/k, and its p-value in the limit of large samples.

    A large p says only that the rates do not differ from 1/k in distribution. Whether each is below 1/k is another
    question, and answered one by one.
    """
    if len(rates) != len(ks) or not len(rates):
        raise ValueError("as many rates as k are needed, and at least one")
    first, second = np.sort(np.asarray(rates, dtype=np.float64)), np.sort(1 / np.asarray(ks, dtype=np.float64))
    points = np.concatenate([first, second])
    gap = np.searchsorted(first, points, side="right") - np.searchsorted(second, points, side="right")
    d = float(np.abs(gap).max() / len(first))
    return d, _survival(d * math.sqrt(len(first) / 2))


def _survival(x: float) -> float:
    """Return P(K > x) of Kolmogorov's distribution."""
    if x < 0.2:  # the alternating series needs many terms here, and the value is 1 to ten digits
        return 1.0
    total = 2 * sum((-1) ** (j - 1) * math.exp(-2 * (j * x) ** 2) for j in range(1, 101))
    return float(min(1.0, max(0.0, total)))
