"""The score of the timing attack, grain by grain, from Poisson probabilities."""

from __future__ import annotations

import math

__all__ = ["score"]

TRUST, PRIOR, SURE = 0.25, 5.0, 0.9


def log_poisson(count: int, mean: float) -> float:
    return count * math.log(max(mean, 1e-12)) - mean - math.lgamma(count + 1)


def score(known: list[int], i: int, ids: list[list[int]], slot: list[int], rate: float, own: float) -> float:
    """Score of a person with known searches per grain and the id i; ids: the rows per grain of all ids."""
    rows, everybody = ids[i], [sum(column) for column in zip(*ids, strict=True)]
    last = max(g for g, c in enumerate(known) if c)
    total, n, theirs = sum(everybody[:last]), sum(known[:last]), sum(rows[:last])
    out = 0.0
    for g in range(last):
        share = everybody[g] / total if total else 0.0
        mean = rate * (own * known[g] + (1 - own) * n * share) + (own / 2 if known[g] else 0.0)
        out += (1 + 2 * own) * log_poisson(rows[g], mean) - log_poisson(rows[g], theirs * share)
    least = max(round(rate * known[last]), 1)
    tail = sum(other[last] >= least for other in ids) / len(ids)
    if tail:
        out += math.log(own * ((SURE / tail if rows[last] >= least else 0.0) + 1 - SURE) + 1 - own)
    slots = max(slot) + 1
    usual = [1.0 + sum(e for e, s in zip(everybody, slot, strict=True) if s == x) for x in range(slots)]
    usual = [u / sum(usual) for u in usual]
    habit = [PRIOR * usual[x] + sum(c for c, s in zip(known, slot, strict=True) if s == x) for x in range(slots)]
    for g in range(last + 1, len(known)):
        out += TRUST * rows[g] * math.log(habit[slot[g]] / sum(habit) / usual[slot[g]])
    return out
