"""Partitions of users: Ward's clustering, the number of clusters by Calinski and Harabasz, and how far two differ.

>>> partition_distance(np.array([0, 0, 1, 1]), np.array([5, 5, 9, 9]))
0.0
>>> partition_distance(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
1.0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from querycloak.measures._ward_kernels import ward

__all__ = ["Tree", "partition_distance"]

Ints = npt.NDArray[np.integer[Any]]


class Tree:
    """The order in which n users merge into clusters, by Ward's criterion."""

    def __init__(self, distance: npt.NDArray[np.float64]) -> None:
        """Cluster by distances: float64[n, n], symmetric, 0 on the diagonal."""
        self.n = len(distance)
        self._merged, self._height = _merges(distance)

    def within(self) -> npt.NDArray[np.float64]:
        """Return the inner sum of squares (sum over pairs of d² / size) with n, n - 1, … 1 clusters: float64[n]."""
        return np.concatenate([[0.0], np.cumsum(self._height / 2)])

    def best_cut(self) -> int:
        """Choose the number of clusters, 2 to √n, by Calinski and Harabasz 1974; ties: the fewest.

        Above √n the index says little: it grows without bound as clusters shrink to single users. One cluster where
        there are fewer than three users, or all distances are 0.
        """
        within = self.within()[::-1]  # with 1, 2, … n clusters
        if self.n < 3 or within[0] <= 0:
            return 1
        clusters = np.arange(2, max(math.isqrt(self.n), 2) + 1)
        inner = within[clusters - 1]
        with np.errstate(divide="ignore"):
            index = ((within[0] - inner) / (clusters - 1)) / (inner / (self.n - clusters))
        return int(clusters[np.argmax(index)])

    def cut(self, clusters: int) -> npt.NDArray[np.int32]:
        """Return each user's cluster when there are so many: int32[n], the lowest user of the cluster."""
        label = np.arange(self.n, dtype=np.int32)
        joined = label.copy()
        for low, high in self._merged[: max(self.n - clusters, 0)].tolist():
            joined[high] = low
        for i in range(self.n):  # joined[i] <= i, so the label it points to is already final
            label[i] = label[joined[i]]
        return label


def _merges(distance: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return the merges, nearest first: int32[n - 1, 2], and their squared heights: float64[n - 1].

    A cluster is called by its lowest user, and the lower of two comes first. A squared height is twice the rise of the
    inner sum of squares that the merge costs. Merges of equal height come as `ward` found them.
    """
    n = len(distance)
    if n < 2:
        return np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.float64)
    slots, height = ward(distance.copy())
    order = np.argsort(height, kind="stable")
    below = list(range(n))  # another user of the cluster, or the user itself where it is the lowest

    def lowest(user: int) -> int:
        while below[user] != user:
            below[user] = user = below[below[user]]
        return user

    merged = np.empty((n - 1, 2), dtype=np.int32)
    for s, (a, b) in enumerate(slots[order].tolist()):  # a slot is the number of one of its users
        low, high = sorted((lowest(a), lowest(b)))
        merged[s] = low, high
        below[high] = low
    return merged, height[order] ** 2


def _entropy(labels: Ints) -> float:
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(share * np.log2(share)).sum())


def partition_distance(a: Ints, b: Ints) -> float:
    """Return López de Mántaras' distance of two partitions, 0 to 1 (Batet et al. 2013, eq. 8).

    dPart = (2 H(A, B) - H(A) - H(B)) / H(A, B), where H is the entropy of a partition; 0 where both are one cluster.
    """
    if len(a) == 0:
        return 0.0
    _, code_a = np.unique(a, return_inverse=True)
    _, code_b = np.unique(b, return_inverse=True)
    joint = _entropy(code_a.astype(np.int64) * len(a) + code_b)
    if joint <= 0:
        return 0.0
    return min(max((2 * joint - _entropy(code_a) - _entropy(code_b)) / joint, 0.0), 1.0)
