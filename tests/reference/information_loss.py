"""Ward's clustering by trying every pair at every step, and entropies with dictionaries."""

from __future__ import annotations

import math
from collections import Counter


def ward(square) -> list[tuple[int, int, float]]:
    """Merge the nearest pair, ties the lowest, by Lance and Williams' update."""
    d = [list(row) for row in square]
    size = dict.fromkeys(range(len(d)), 1)
    merged = []
    while len(size) > 1:
        between, i, j = min((d[i][j], i, j) for i in size for j in size if i < j)
        merged.append((i, j, between))
        for r in size:
            if r not in {i, j}:
                total = size[i] + size[j] + size[r]
                new = ((size[i] + size[r]) * d[i][r] + (size[j] + size[r]) * d[j][r] - size[r] * between) / total
                d[i][r] = d[r][i] = new
        size[i] += size.pop(j)
    return merged


def inner(square, clusters) -> float:
    """Inner sum of squares from its definition: pairs over the size of their cluster."""
    return sum(sum(square[a][b] for a in c for b in c if a < b) / len(c) for c in clusters)


def cut(merged, n, clusters) -> list[set[int]]:
    parts = {i: {i} for i in range(n)}
    for i, j, _ in merged[: n - clusters]:
        parts[i] |= parts.pop(j)
    return list(parts.values())


def entropy(labels) -> float:
    return -sum(c / len(labels) * math.log2(c / len(labels)) for c in Counter(labels).values())


def partition_distance(a, b) -> float:
    """Eq. 8."""
    joint = entropy(list(zip(a, b, strict=True)))
    return 0.0 if joint == 0 else (2 * joint - entropy(a) - entropy(b)) / joint
