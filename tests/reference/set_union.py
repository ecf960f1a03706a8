"""Set union in plain Python: tails by adding up probabilities, weights one user at a time, sets as sets."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache

__all__ = ["count_parts", "exact_tail", "gaussian_masses", "runs_of", "sums", "weights"]


@lru_cache(maxsize=64)
def gaussian_masses(scale):
    """Return {x: P(X = x)} of the discrete Gaussian, as far as floating point reaches (40 deviations are 1e-347)."""
    reach = math.ceil(38 * scale) + 2
    mass = [math.exp(-x * x / (2 * scale * scale)) for x in range(reach + 1)]
    whole = math.fsum(mass) + math.fsum(mass[1:])
    return {x: mass[abs(x)] / whole for x in range(-reach, reach + 1)}


def exact_tail(m, scale):
    """P(X >= m), by adding the small ones first."""
    masses = gaussian_masses(scale)
    if m <= 0:
        return 1.0 - exact_tail(1 - m, scale)  # P(X >= m) = 1 - P(X <= m - 1) = 1 - P(X >= 1 - m)
    return math.fsum(p for x, p in masses.items() if x >= m)


def weights(costs, unit, whole=1 << 20):
    """The weight of each item of one user: proportional to 1/cost², the squares at most unit² in sum."""
    parts = [whole // (c * c) for c in costs]
    root = math.isqrt(sum(p * p for p in parts))
    while root * root < sum(p * p for p in parts):
        root += 1
    out = [p * unit // root for p in parts]
    assert sum(w * w for w in out) <= unit * unit
    return out


def sums(sets, costs, unit):
    """Counter of the weights of all users' items; sets: one list of items per user."""
    out = Counter()
    for items in sets:
        for item, weight in zip(items, weights([costs[i] for i in items], unit), strict=True):
            out[item] += weight
    return out


def count_parts(sets, d, unit):
    """Counter of people: a user with more than d items counts for each in part, unit for a whole person."""
    out = Counter()
    for items in sets:
        t = len(items)
        part = unit if t <= d else math.isqrt(unit * unit * d // t)
        assert Fraction(t * part * part) <= Fraction(d * unit * unit)
        for item in items:
            out[item] += part
    return out


def runs_of(words, longest, stop):
    """The runs of at most `longest` words that hold one that is no stop word, as tuples."""
    found = set()
    for i in range(len(words)):
        for j in range(i + 1, min(i + longest, len(words)) + 1):
            if any(w not in stop and any(c.isalnum() for c in w) for w in words[i:j]):
                found.add(tuple(words[i:j]))
    return found
