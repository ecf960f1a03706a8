"""The semantic distance from its definitions: sets of ancestors and all pairs of concepts."""

from __future__ import annotations

from collections import Counter  # noqa: TC003
from fractions import Fraction

SCALE = 1 << 30


def ancestors(parent, c) -> set[int]:
    """T(c): the concept and its ancestors, the root left out."""
    out = set()
    while parent[c] >= 0:
        out.add(c)
        c = parent[c]
    return out


def delta_exact(parent, c1, c2) -> Fraction:
    """Eq. 1; the root against itself is 0."""
    t1, t2 = ancestors(parent, c1), ancestors(parent, c2)
    if not t1 | t2:
        return Fraction(0)
    return 1 - Fraction(len(t1 & t2), len(t1 | t2))


def rounded(t1: set[int], t2: set[int]) -> int:
    """Eq. 1 of two sets of ancestors, in units of 1 / SCALE."""
    union = len(t1 | t2)
    return (SCALE * (union - len(t1 & t2)) + union // 2) // union if union else 0


def delta(parent, c1, c2) -> int:
    return rounded(ancestors(parent, c1), ancestors(parent, c2))


def directed(parent, a: Counter, b: Counter) -> int:
    theirs = [ancestors(parent, d) for d in b]
    total = 0
    for c, w in a.items():
        mine = ancestors(parent, c)
        total += w * min(rounded(mine, t) for t in theirs)
    weight = sum(a.values())
    return (total + weight // 2) // weight


def distance(parent, a: Counter, b: Counter) -> int:
    """Eq. 4, in units of 1 / SCALE, rounded where the kernel rounds."""
    wa, wb = sum(a.values()), sum(b.values())
    total = wa * directed(parent, a, b) + wb * directed(parent, b, a)
    return (total + (wa + wb) // 2) // (wa + wb)


def distance_exact(parent, a: Counter, b: Counter) -> Fraction:
    total = sum(w * min(delta_exact(parent, c, d) for d in b) for c, w in a.items())
    total += sum(w * min(delta_exact(parent, c, d) for d in a) for c, w in b.items())
    return total / (sum(a.values()) + sum(b.values()))


def matrix(parent, bags: list[Counter]) -> list[list[int]]:
    n = len(bags)
    d = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            d[i][j] = d[j][i] = distance(parent, bags[i], bags[j])
    return d
