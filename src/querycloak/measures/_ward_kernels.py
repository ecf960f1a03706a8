"""Kernel of agglomerative clustering by Ward's criterion, over distances between users."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["ward"]

Int32s = npt.NDArray[np.int32]
Float64s = npt.NDArray[np.float64]


@kernel
def _scan(square: npt.NDArray[np.float64], alive: npt.NDArray[np.bool_], i: int) -> tuple[int, float]:
    """Find the nearest cluster after i; ties: the lowest index."""
    best, at = np.inf, -1
    for j in range(i + 1, len(alive)):
        if alive[j] and square[i, j] < best:
            best, at = square[i, j], j
    return at, best


@kernel
def ward(square: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int32], Float64s]:
    """Merge clusters, nearest first: merged int32[n - 1, 2] (the lower number stays), height float64[n - 1].

    square: float64[n, n], squared distances; overwritten. Lance and Williams' update keeps, for any two clusters, twice
    the rise of the inner sum of squares that merging them costs. Ties: the lowest pair.
    """
    n = len(square)
    size = np.ones(n, dtype=np.float64)
    alive = np.ones(n, dtype=np.bool_)
    merged = np.empty((max(n - 1, 0), 2), dtype=np.int32)
    height = np.empty(max(n - 1, 0), dtype=np.float64)
    nearest = np.full(n, -1, dtype=np.int64)
    far = np.full(n, np.inf, dtype=np.float64)
    for u in range(n - 1):
        nearest[u], far[u] = _scan(square, alive, u)
    for step in range(n - 1):
        i = int(np.argmin(far))
        j = int(nearest[i])
        between = far[i]
        merged[step, 0], merged[step, 1], height[step] = i, j, between
        alive[j] = False
        far[j] = np.inf
        for r in range(n):
            if alive[r] and r != i:
                total = size[i] + size[j] + size[r]
                new = (size[i] + size[r]) * square[i, r] + (size[j] + size[r]) * square[j, r] - size[r] * between
                new /= total
                square[i, r] = new
                square[r, i] = new
        size[i] += size[j]
        for r in range(n):
            if not alive[r]:
                continue
            if r == i or nearest[r] == i or nearest[r] == j:
                nearest[r], far[r] = _scan(square, alive, r)
            elif r < i and (square[r, i] < far[r] or (square[r, i] == far[r] and i < nearest[r])):
                nearest[r], far[r] = i, square[r, i]
    return merged, height
