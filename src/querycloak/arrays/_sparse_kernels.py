"""Sparse matrices: sorting their entries, and three products.

A matrix comes as `Sparse` (`sparse.py`): row r has the entries start[r] .. start[r + 1] - 1 of `column` and `value`. A
product goes row by row (Gustavson 1978), with the memory of one row of the result:

    total   [width], the sum of each column of the row; what it holds of other rows is never read
    last    int64[width], the last row that had the column, -1 = none
    met     int32[width], the columns of the row, in the order in which they were met

Sums are added in the order of the entries, so that results do not depend on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.sparse import Sparse

__all__ = ["dot_rows", "order_by", "product", "times_dense"]


@kernel
def order_by(
    key: npt.NDArray[Any], size: int, given: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Sort positions by their key, 0 .. size - 1; equal keys stay in the order given (a counting sort).

    Return where each key begins, int64[size + 1], and the positions, int64[m].
    """
    start = np.zeros(size + 1, dtype=np.int64)
    for i in range(len(key)):
        start[key[i] + 1] += 1
    for k in range(size):
        start[k + 1] += start[k]
    free = start[:size].copy()
    order = np.empty(len(given), dtype=np.int64)
    for i in range(len(given)):
        k = key[given[i]]
        order[free[k]] = given[i]
        free[k] += 1
    return start, order


@kernel
def product(a: Sparse, b: Sparse) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Multiply two sparse matrices: start, column and value; of a row the column that was met last comes first."""
    rows, width = len(a.start) - 1, b.width
    last = np.full(width, -1, dtype=np.int64)
    start = np.zeros(rows + 1, dtype=np.int64)
    for r in range(rows):  # how many columns each row has
        n = 0
        for i in range(a.start[r], a.start[r + 1]):
            inner = a.column[i]
            for j in range(b.start[inner], b.start[inner + 1]):
                column = b.column[j]
                if last[column] != r:
                    last[column] = r
                    n += 1
        start[r + 1] = start[r] + n
    last[:] = -1
    met = np.empty(width, dtype=np.int32)
    total = np.empty(width, dtype=b.value.dtype)
    out_column = np.empty(start[rows], dtype=np.int32)
    out_value = np.empty(start[rows], dtype=b.value.dtype)
    for r in range(rows):
        n = 0
        for i in range(a.start[r], a.start[r + 1]):
            inner, factor = a.column[i], a.value[i]
            for j in range(b.start[inner], b.start[inner + 1]):
                column = b.column[j]
                if last[column] != r:
                    last[column] = r
                    total[column] = factor * b.value[j]
                    met[n] = column
                    n += 1
                else:
                    total[column] += factor * b.value[j]
        for i in range(n):
            column = met[n - 1 - i]
            out_column[start[r] + i] = column
            out_value[start[r] + i] = total[column]
    return start, out_column, out_value


@kernel
def times_dense(a: Sparse, dense: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Multiply a sparse matrix by a dense one, float64[width, n]: float64[rows, n]."""
    rows, n = len(a.start) - 1, dense.shape[1]
    out = np.zeros((rows, n), dtype=np.float64)
    for r in range(rows):
        for i in range(a.start[r], a.start[r + 1]):
            inner, factor = a.column[i], a.value[i]
            for j in range(n):
                out[r, j] += factor * dense[inner, j]
    return out


@kernel
def dot_rows(a: Sparse, which: npt.NDArray[np.int64], dense: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Multiply some rows by a vector, float32[width]: float32[rows named], in single precision."""
    out = np.zeros(len(which), dtype=np.float32)
    for i in range(len(which)):
        for j in range(a.start[which[i]], a.start[which[i] + 1]):
            out[i] += a.value[j] * dense[a.column[j]]
    return out
