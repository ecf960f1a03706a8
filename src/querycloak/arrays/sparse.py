"""Sparse matrices: rows of columns, each with a value; what attacks and tasks need of them, and no more.

>>> counts = Sparse.of(np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([1.0, 5.0, 2.0]), (2, 3))
>>> counts.dense().tolist()
[[5.0, 0.0, 0.0], [0.0, 0.0, 3.0]]
>>> counts.transposed().dense().tolist()
[[5.0, 0.0], [0.0, 0.0], [0.0, 3.0]]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays._sparse_kernels import dot_rows, order_by, product, times_dense
from querycloak.arrays.ragged import Ragged

__all__ = ["Sparse"]

Ints = npt.NDArray[np.integer[Any]]


class Sparse(NamedTuple):
    """A matrix of which most values are 0; a named tuple, so that kernels take it as one argument."""

    start: npt.NDArray[np.int64]
    """int64[rows + 1], as in `Ragged`"""
    column: npt.NDArray[np.int32]
    """int32[m], distinct within a row"""
    value: npt.NDArray[Any]
    """float32[m] or float64[m]"""
    width: int
    """how many columns there are"""

    @classmethod
    def of(cls, row: Ints, column: Ints, value: npt.NDArray[Any], shape: tuple[int, int]) -> Sparse:
        """Add up the values of equal (row, column) pairs, in the order in which they come; columns ascend in a row."""
        rows, width = shape
        _, by_column = order_by(column, width, np.arange(len(column)))
        _, order = order_by(row, rows, by_column)
        row, column = row[order], column[order]
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
        total = np.bincount(np.cumsum(first) - 1, weights=value[order], minlength=int(first.sum()))
        start = np.zeros(rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(row[first], minlength=rows), out=start[1:])
        return cls(start, column[first].astype(np.int32), total.astype(value.dtype), width)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.start) - 1

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """int64[m]: the row of each value."""
        return Ragged(self.start, self.column).owner

    def take(self, which: Ints) -> Sparse:
        """Return rows by number, each as often as it is named, in the order named."""
        taken = Ragged(self.start, np.arange(len(self.column))).take(which)
        return Sparse(taken.start, self.column[taken.values], self.value[taken.values], self.width)

    def transposed(self) -> Sparse:
        """Return the matrix whose rows are the columns of this one."""
        start, order = order_by(self.column, self.width, np.arange(len(self.column)))
        return Sparse(start, self.owner[order].astype(np.int32), self.value[order], self.rows)

    def dense(self) -> npt.NDArray[Any]:
        """Return the matrix with its zeros: T[rows, width]."""
        out = np.zeros((self.rows, self.width), dtype=self.value.dtype)
        out[self.owner, self.column] = self.value
        return out

    def times(self, other: Sparse) -> Sparse:
        """Multiply by another sparse matrix; the columns of a row come in no particular order."""
        return Sparse(*product(self, other), other.width)

    def times_dense(self, dense: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Multiply by a dense matrix, float64[width, n]: float64[rows, n]."""
        return times_dense(self, np.ascontiguousarray(dense))

    def dot_rows(self, which: npt.NDArray[np.int64], vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Multiply some rows by a vector, float32[width]: float32[rows named]."""
        return dot_rows(self, which, vector)
