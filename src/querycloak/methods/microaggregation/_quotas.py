"""Quotas: how much each member gives to what its group publishes, in whole numbers.

>>> quotas(np.array([0, 0, 0]), np.array([5, 4, 1])).tolist()  # mean length 10/3, so 3: 5/3, 4/3 and 1/3
[2, 1, 0]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["quotas"]


def quotas(group: npt.NDArray[Any], length: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the share of each member, length / size of the group (eq. 7), rounded by largest remainder: int64[n].

    The shares of a group add up to its mean length, rounded half up, at least 1. Ties: the lowest index. The paper
    leaves the rounding open.
    """
    size = np.bincount(group)
    total = np.bincount(group, weights=length).astype(np.int64)
    share, remainder = np.divmod(length.astype(np.int64), size[group])
    target = np.maximum((2 * total + size) // np.maximum(2 * size, 1), 1)
    extra = target - np.bincount(group, weights=share).astype(np.int64)
    order = np.lexsort((np.arange(len(group)), -remainder, group))
    rank = np.arange(len(group)) - np.searchsorted(group[order], group[order])
    share[order] += rank < extra[group[order]]
    return np.asarray(share, dtype=np.int64)
