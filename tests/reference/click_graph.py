"""Removal from the query graph, with the graph built again after every removal."""

from __future__ import annotations


def disconnect(documents: list[set[int]]) -> list[bool]:
    """documents[q] are what query q led to; True = removed."""
    left = {q for q in range(len(documents)) if documents[q]}
    while True:
        degree = {q: sum(p != q and bool(documents[p] & documents[q]) for p in left) for q in left}
        if not any(degree.values()):
            return [bool(documents[q]) and q not in left for q in range(len(documents))]
        left.remove(max(degree, key=lambda q: (degree[q], -q)))
