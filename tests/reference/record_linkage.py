"""Eq. 10 with counters."""

from __future__ import annotations

from collections import Counter


def record_linkage(original, published, truth) -> float:
    chances = []
    for queries, right in zip(published, truth, strict=True):
        common = [(Counter(queries) & Counter(own)).total() for own in original]
        linked = [u for u, n in enumerate(common) if n == max(common)]
        chances.append(1 / len(linked) if right in linked else 0.0)
    return sum(chances) / len(chances) if chances else 0.0
