"""How well two sequences of rows go together, over all offsets, for all pairs of a target and a published log.

The memory:

    Sequences   row r of log i is value[:, start[i] + r]; a line of `value` is one feature of the rows, centred and
                scaled, so that two rows that have nothing to do with each other have a correlation of 0
    ratio       float64[offsets], the log likelihood ratio at each offset; one per target, used again for every pair
    squares     float64[rows + logs], for each log the sums of squares of its first 0, 1, 2 … rows. They begin at 0 in
                each log, so that equal logs have equal sums to the last bit

Two values x and y of the same row are taken as normal with correlation rho; of different rows, as independent:

    log ratio = sum over rows and features of (rho x y - rho^2 (x^2 + y^2) / 2) / (1 - rho^2) - log(1 - rho^2) / 2
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, parallel_kernel

__all__ = ["Sequences", "add_log_ratios"]

Float64s = npt.NDArray[np.float64]


class Sequences(NamedTuple):
    """Logs as sequences of rows."""

    start: npt.NDArray[np.int64]
    """int64[logs + 1]"""
    value: npt.NDArray[np.float64]
    """float64[features, rows], contiguous"""


@parallel_kernel
def add_log_ratios(out: Float64s, known: Sequences, published: Sequences, rho: float, margin: float) -> None:
    """Compare each known sequence with each published one: the shorter slides along the longer.

    out: float64[targets, published], the log likelihood of the row counts; the log of the mean likelihood ratio over
    all offsets is added, 0 where one of the two is empty. Published logs whose row count is less likely than the best
    by more than `margin` are not looked at, and become -inf. Equal published sequences get values equal to the last
    bit, because their terms are added in the same order.
    """
    targets, logs = len(known.start) - 1, len(published.start) - 1
    features = published.value.shape[0]
    cross = rho / (1.0 - rho * rho)
    square = 0.5 * rho * rho / (1.0 - rho * rho)
    constant = -0.5 * np.log(1.0 - rho * rho) * features
    known_squares, squares = _sums_of_squares(known), _sums_of_squares(published)
    longest = 0
    for t in range(targets):
        longest = max(longest, known.start[t + 1] - known.start[t])
    for p in range(logs):
        longest = max(longest, published.start[p + 1] - published.start[p])
    for t in numba.prange(targets):
        ratio = np.empty(longest + 1, dtype=np.float64)
        a, n_a = known.start[t], known.start[t + 1] - known.start[t]
        least = -np.inf
        for p in range(logs):
            least = max(least, out[t, p] - margin)
        for p in range(logs):
            b, n_b = published.start[p], published.start[p + 1] - published.start[p]
            if out[t, p] < least:
                out[t, p] = -np.inf
                continue
            if n_a == 0 or n_b == 0:
                continue
            if n_a <= n_b:
                short, at, n, long, first = known.value, a, n_a, published.value, b
                inner, outer = known_squares[a + t :], squares[b + p :]
            else:
                short, at, n, long, first = published.value, b, n_b, known.value, a
                inner, outer = squares[b + p :], known_squares[a + t :]
            offsets = abs(n_b - n_a) + 1
            for offset in range(offsets):
                both = inner[n] + (outer[offset + n] - outer[offset])
                ratio[offset] = constant * n - square * both
            for f in range(features):
                for i in range(n):
                    x = cross * short[f, at + i]
                    y = long[f, first + i : first + i + offsets]
                    for offset in range(offsets):  # innermost, over a slice: it runs in vector instructions
                        ratio[offset] += x * y[offset]
            best = ratio[0]
            for offset in range(1, offsets):
                best = max(best, ratio[offset])
            total = 0.0
            for offset in range(offsets):
                if ratio[offset] > best - 40.0:  # the others change no digit of the sum
                    total += np.exp(ratio[offset] - best)
            out[t, p] += best + np.log(total / offsets)


@kernel
def _sums_of_squares(logs: Sequences) -> Float64s:
    """Return float64[rows + logs]: log i begins at start[i] + i, with a 0."""
    out = np.zeros(logs.start[-1] + len(logs.start), dtype=np.float64)
    for i in range(len(logs.start) - 1):
        total = 0.0
        for row in range(logs.start[i], logs.start[i + 1]):
            for f in range(logs.value.shape[0]):
                total += logs.value[f, row] * logs.value[f, row]
            out[row + i + 1] = total
    return out
