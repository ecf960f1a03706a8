"""Algorithm 1 line by line: every centroid computed again, every choice by sorting."""

from __future__ import annotations


def mdav(d, k: int) -> list[list[int]]:
    x = list(range(len(d)))
    clusters = []

    def centroid():
        return min(x, key=lambda u: (sum(d[u][v] for v in x), u))

    def farthest(u):
        return min(x, key=lambda v: (-d[u][v], v))

    def cluster_around(u):
        near = sorted((v for v in x if v != u), key=lambda v: (d[u][v], v))[: k - 1]
        clusters.append(sorted([u, *near]))
        for v in clusters[-1]:
            x.remove(v)

    while len(x) >= 3 * k:
        r = farthest(centroid())
        cluster_around(r)
        cluster_around(farthest(r))
    if len(x) >= 2 * k:
        cluster_around(farthest(centroid()))
    clusters.append(sorted(x))
    return clusters
