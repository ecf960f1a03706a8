"""Quotas: how much each member gives to what its group publishes, in whole numbers.

>>> quotas(np.array([0, 0, 0]), np.array([5, 4, 1])).tolist()  # mean length 10/3, so 3: 5/3, 4/3 and 1/3
[2, 1, 0]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["group_slices", "quotas"]


def group_slices(group: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the members of groups 0, 1, …: start int64[groups + 1] and member int32[n], ascending in each group."""
    member = np.argsort(group, kind="stable").astype(np.int32)
    start = np.searchsorted(group[member], np.arange(int(group.max(initial=-1)) + 2))
    return start.astype(np.int64), member


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
    place = np.arange(len(group)) - np.searchsorted(group[order], group[order])
    share[order] += place < extra[group[order]]
    return np.asarray(share, dtype=np.int64)
