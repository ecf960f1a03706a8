"""The 95 % interval of a rate over queries, where the queries of one person are right or wrong together.

>>> import numpy as np
>>> rate, low, high = clustered(np.repeat([0.0, 1.0], 500), person=np.arange(1000) // 10)  # 100 people, 10 texts each
>>> round(rate, 2), round(low, 2), round(high, 2)
(0.5, 0.4, 0.6)
>>> rate, low, high = clustered(np.tile([0.0, 1.0], 500), person=np.arange(1000))
>>> round(low, 2), round(high, 2)
(0.47, 0.53)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.statistics import wilson

if TYPE_CHECKING:
    from querycloak.attacks.interval import Float64s, Interval

__all__ = ["clustered"]


def clustered(success: Float64s, person: npt.NDArray[np.integer[Any]], weight: Float64s | None = None) -> Interval:
    """Return the mean chance of being right with its 95 % interval; success: float64[targets], person: int[targets].

    `weight`: float64[targets], 1 for a target that counts in full, less where it counts in part; None = all in full.

    An attacker who tells two members of a group apart does so for most of their queries at once, so a thousand queries
    of ten people say no more than a few dozen draws. Wilson's interval is taken over the effective number of targets
    (Kish 1965): the number of independent draws that would vary as much as the mean over people does. It is at most the
    number of targets; where nothing varies (all right, or all wrong) it is the number of people.
    """
    if len(success) == 0:
        return 0.0, 0.0, 1.0
    counts = np.ones(len(success)) if weight is None else weight
    n = float(counts.sum())
    rate = min(float(counts @ success) / n, 1.0)  # a sum of parts may be 1 and a bit
    of = np.unique(person, return_inverse=True)[1]
    error = np.bincount(of, weights=counts * (success - rate))  # float64[people], adds up to 0
    people = len(error)
    variance = float(error @ error) / n**2 * people / max(people - 1, 1)
    effective = rate * (1 - rate) / variance if variance > 1e-12 else people
    low, high = wilson(rate, max(round(min(n, effective)), 1))
    return rate, min(low, rate), max(high, rate)
