"""The likelihood ratio of two sequences at all offsets, straight from the normal densities."""

from __future__ import annotations

import math


def log_normal(x: float) -> float:
    return -0.5 * x * x - 0.5 * math.log(2 * math.pi)


def log_pair(x: float, y: float, rho: float) -> float:
    """Log density of two standard normal variables with a correlation."""
    form = (x * x - 2 * rho * x * y + y * y) / (1 - rho * rho)
    return -0.5 * form - math.log(2 * math.pi) - 0.5 * math.log(1 - rho * rho)


def log_ratio(a: list[list[float]], b: list[list[float]], rho: float) -> float:
    """Log of the mean over offsets of density of the same rows / density of others; rows are lists of features."""
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    if not short:
        return 0.0
    ratios = []
    for offset in range(len(long) - len(short) + 1):
        ratio = 0.0
        for i, row in enumerate(short):
            for x, y in zip(row, long[offset + i], strict=True):
                ratio += log_pair(x, y, rho) - log_normal(x) - log_normal(y)
        ratios.append(math.exp(ratio))
    return math.log(sum(ratios) / len(ratios))
