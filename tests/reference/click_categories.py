"""Categories learned from clicks, with fractions and loops: votes, ridge regression, threshold."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction


def votes(clicks: list[tuple[str, str, int]]) -> Counter:
    """(query, category) → people, from (user, query, category) of each click: one vote per person and query."""
    times = Counter(clicks)
    chosen = {}
    for (user, query, category), n in sorted(times.items()):
        best = chosen.get((user, query))
        if best is None or n > times[user, query, best]:  # of equally frequent ones the first category stays
            chosen[user, query] = category
    return Counter((query, category) for (_, query), category in chosen.items())


def ridge(rows: list[list[int]], count: list[int], target: list[int], classes: int, penalty: Fraction) -> list:
    """(xᵀ w x + λ I)⁻¹ xᵀ w y, with λ the penalty times the mean of the diagonal: exact fractions."""
    d = len(rows[0])
    g = [[Fraction(sum(n * r[i] * r[j] for r, n in zip(rows, count, strict=True))) for j in range(d)] for i in range(d)]
    ridge = penalty * sum(g[i][i] for i in range(d)) / d
    for i in range(d):
        g[i][i] += ridge
        for c in range(classes):
            hits = zip(rows, count, target, strict=True)
            g[i].append(Fraction(sum(n * r[i] for r, n, t in hits if t == c)))
    for i in range(d):
        g[i] = [value / g[i][i] for value in g[i]]
        for other in range(d):
            if other != i:
                g[other] = [a - g[other][i] * b for a, b in zip(g[other], g[i], strict=True)]
    return [row[d:] for row in g]


def threshold(best: list[float], right: list[bool], count: list[int], precision: float, least: int) -> float | None:
    """The smallest score s such that enough is answered from s on, and enough of that is right."""
    for s in sorted(set(best)):
        given = [(ok, n) for score, ok, n in zip(best, right, count, strict=True) if score >= s]
        total = sum(n for _, n in given)
        if total >= least and sum(n for ok, n in given if ok) >= precision * total:
            return s
    return None
