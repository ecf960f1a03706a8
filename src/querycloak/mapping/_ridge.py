"""Ridge regression that has the same answer, bit for bit, on every machine and any number of cores.

.. code-block:: text

    x   int[n, d + 1]   rows of whole numbers up to LENGTH: the direction of a query's words, and a constant
    G   xᵀ w x          sums of whole numbers below 2^53: exact in float64, in whatever order a library adds them
    W   (G + λ I)⁻¹ xᵀy  by Gauss-Jordan with elementwise operations alone, whose results IEEE 754 fixes
    W'  W times a power of two, rounded to whole numbers, so that scores x W' are exact again
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["LENGTH", "directions", "gram", "scores", "solve", "weights"]

LENGTH: Final = 1_016
"""Length of a row before rounding, and the constant at its end."""
_EXACT: Final = 2**53

Floats = npt.NDArray[np.float64]


def directions(sums: npt.NDArray[np.int64]) -> Floats:
    """Return rows of length `LENGTH`, rounded to whole numbers, with the constant at their end; zeros stay zeros."""
    length = np.sqrt((sums * sums).sum(axis=1)).astype(np.float64)
    out = np.full((len(sums), sums.shape[1] + 1), float(LENGTH))
    out[:, :-1] = np.rint(sums / np.maximum(length, 1.0)[:, None] * LENGTH)
    return out


def gram(
    x: Floats, weight: npt.NDArray[np.int64], target: npt.NDArray[np.integer[Any]], classes: int
) -> tuple[Floats, Floats]:
    """Return xᵀ w x and xᵀ w y, where y has a 1 in the column of each row's target."""
    weighted = x * weight[:, None]
    y = np.zeros((len(x), classes))
    y[np.arange(len(x)), target] = 1.0
    return weighted.T @ x, weighted.T @ y


def solve(a: Floats, b: Floats) -> Floats:
    """Solve a x = b for a positive definite matrix; no pivot is looked for, and none is needed."""
    n = len(a)
    both = np.concatenate([a, b], axis=1).astype(np.float64)
    for i in range(n):
        both[i] = both[i] / both[i, i]
        factor = both[:, i].copy()
        factor[i] = 0.0
        both -= factor[:, None] * both[i]
    return both[:, n:]


def weights(g: Floats, xy: Floats, penalty: float) -> Floats:
    """Return W': whole numbers[d + 1, classes]. The penalty is a share of the mean of G's diagonal.

    The power of two depends on d and the penalty alone, so that scores of two regressions can be compared: with targets
    of 0 and 1, no entry of W is above sqrt(votes / ridge), and the mean of G's diagonal is 2 LENGTH² votes / (d + 1).
    """
    n = len(g)
    largest = math.sqrt(n / (2 * penalty)) / LENGTH
    room = _EXACT / (4 * LENGTH * n * largest)  # a score is a sum of d + 1 products; rows are rounded, hence some slack
    ridge = penalty * float(np.trace(g)) / n
    return np.rint(solve(g + ridge * np.eye(n), xy) * 2.0 ** (math.frexp(room)[1] - 1))


def scores(x: Floats, w: Floats) -> Floats:
    """Return whole numbers[n, classes]."""
    return x @ w
