"""Distances between users, read row by row: all are kept where they fit in memory, else a row is computed on request.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> from querycloak.distances.user_concepts import user_concepts
>>> t = Taxonomy.from_parents([-1, 0, 1, 1], [["top"], ["sports"], ["diving"], ["surfing"]])
>>> d = distances_of(user_concepts(np.array([0, 1, 1]), np.array([2, 2, 3]), 2, t))
>>> round(float(d.row(0)[1]) / SCALE, 6)  # (0 + 0 + 2/3) / 3
0.222222
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from querycloak.distances import _distance_kernels as kernels
from querycloak.distances._distance_kernels import SCALE

if TYPE_CHECKING:
    from querycloak.distances.user_concepts import UserConcepts

__all__ = ["MATRIX_USERS", "SCALE", "Distances", "Matrix", "distances_of"]

MATRIX_USERS: Final = 20_000
"""up to so many users all distances are kept (4 n² bytes: 1.6 GB); above, each row is computed on request"""


class Distances(Protocol):
    """Symmetric distances between n users, integers in units of 1 / SCALE."""

    def __len__(self) -> int:
        """Count the users."""
        ...

    def row(self, u: int) -> npt.NDArray[np.int32]:
        """Return the distances of user u to all: int32[n], not to be written to."""
        ...

    def sums(self) -> npt.NDArray[np.int64]:
        """Return the sum of the distances of each user to all: int64[n]."""
        ...


class Matrix:
    """All distances in memory: int32[n, n]."""

    def __init__(self, values: npt.NDArray[np.int32]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def row(self, u: int) -> npt.NDArray[np.int32]:
        """Return the distances of user u to all."""
        return np.asarray(self.values[u])

    def sums(self) -> npt.NDArray[np.int64]:
        """Return the sum of each row."""
        return np.asarray(self.values.sum(axis=1, dtype=np.int64))


class OnDemand:
    """Rows computed on request: O(n) memory, about ten times the work of a matrix."""

    def __init__(self, bags: UserConcepts) -> None:
        self._bags = bags

    def __len__(self) -> int:
        return len(self._bags.weight)

    def row(self, u: int) -> npt.NDArray[np.int32]:
        """Compute the distances of user u to all."""
        return kernels.row(self._bags, u)

    def sums(self) -> npt.NDArray[np.int64]:
        """Compute every row once and add it up."""
        return np.array([self.row(u).sum(dtype=np.int64) for u in range(len(self))], dtype=np.int64)


def distances_of(bags: UserConcepts, most_kept: int = MATRIX_USERS) -> Distances:
    """Return the semantic distance (Batet et al. 2013, eq. 4) between users who all have a concept.

    Both forms return the same integers.
    """
    if len(bags.weight) <= most_kept:
        return Matrix(kernels.matrix(bags))
    return OnDemand(bags)
