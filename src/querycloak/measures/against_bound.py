"""Re-identification rates over several k against 1/k, by Kolmogorov and Smirnov (Pàmies-Estrems et al. 2023, 5.3).

>>> d, p = against_bound([0.13, 0.05, 0.02], [3, 10, 30])
>>> round(d, 2), round(p, 2)
(0.33, 1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["against_bound"]


def against_bound(rates: Sequence[float], ks: Sequence[int]) -> tuple[float, float]:
    """Return the two-sample statistic D of the rates against 1/k, and its exact two-sided p-value.

    A large p says only that the rates do not differ from 1/k in distribution. Whether each is below 1/k is another
    question, and answered one by one.
    """
    if len(rates) != len(ks) or not len(rates):
        raise ValueError("as many rates as k are needed, and at least one")
    from scipy.stats import ks_2samp

    found = ks_2samp(rates, [1 / k for k in ks])
    return float(found.statistic), float(found.pvalue)
