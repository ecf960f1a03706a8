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
    """The order in which n users merge into clusters."""

    def __init__(self, distance: npt.NDArray[np.float64]) -> None:
        """Cluster by distances: float64[n, n]."""
        self.n = len(distance)
        self._merged, self._height = ward(distance * distance)

    def within(self) -> npt.NDArray[np.float64]:
        """Return the inner sum of squares (sum over pairs of d² / size) with n, n - 1, … 1 clusters: float64[n]."""
        return np.concatenate([[0.0], np.cumsum(self._height / 2)])

    def best_cut(self) -> int:
        """Choose the number of clusters, 2 to √n, by Calinski and Harabasz 1974; ties: the fewest.

        Above √n the index says little: it grows without bound as clusters shrink to single users. One cluster where all
        users are at the same place, or fewer than three are there.
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
        above = label.copy()
        for low, high in self._merged[: max(self.n - clusters, 0)].tolist():
            above[high] = low
        for i in range(self.n):  # a cluster's number is its lowest user's: those above are settled before
            label[i] = label[above[i]] if above[i] != i else i
        return label


def _entropy(labels: Ints) -> float:
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(share * np.log2(share)).sum())


def partition_distance(a: Ints, b: Ints) -> float:
    """Return López de Mántaras' distance of two partitions, 0 to 1 (Batet et al. 2013, eq. 8).

    dPart = (2 H(A, B) - H(A) - H(B)) / H(A, B), H the entropy of a partition; 0 where both are one cluster.
    """
    if len(a) == 0:
        return 0.0
    _, code_a = np.unique(a, return_inverse=True)
    _, code_b = np.unique(b, return_inverse=True)
    joint = _entropy(code_a.astype(np.int64) * len(a) + code_b)
    if joint <= 0:
        return 0.0
    return min(max((2 * joint - _entropy(code_a) - _entropy(code_b)) / joint, 0.0), 1.0)
