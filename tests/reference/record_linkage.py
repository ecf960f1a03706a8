"""Eq. 10 with counters."""

from __future__ import annotations

from collections import Counter


def record_linkage(original, published, truth) -> tuple[float, float]:
    """Over the published, and over all m original users: who is not published is linked with chance 0."""
    chances = []
    for queries, right in zip(published, truth, strict=True):
        common = [(Counter(queries) & Counter(own)).total() for own in original]
        linked = [u for u, n in enumerate(common) if n == max(common)]
        chances.append(1 / len(linked) if right in linked else 0.0)
    of_person = {u: [c for c, right in zip(chances, truth, strict=True) if right == u] for u in truth}
    everybody = sum(sum(own) / len(own) for own in of_person.values()) / len(original)
    return sum(chances) / max(len(chances), 1), everybody
