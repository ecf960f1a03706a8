"""Ward's clustering by chains of nearest neighbours.

A chain goes from a cluster to its nearest one, from that to its nearest, and so on; distances along it fall, so it ends
with two that are nearest to each other. Those merge, whatever else does, and the chain goes on from what is left of it
(Murtagh 1983, "A survey of recent advances in hierarchical clustering algorithms"): n² steps in all. A slot of the
matrix is a cluster:

    distance    float64[n, n], between the clusters of two slots; overwritten
    size        int64[n], users in the cluster of a slot, 0 = merged into another
    chain       int64[n], slots

Where clusters are equally near, the one before in the chain is taken, so that a chain has no circle, and else the
lowest slot. The merged cluster has the higher of the two slots.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["ward"]


@kernel
def ward(distance: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the merges as they were found: slots int64[n - 1, 2], the lower first, and heights float64[n - 1]."""
    n = len(distance)
    size = np.ones(n, dtype=np.int64)
    chain = np.empty(n, dtype=np.int64)
    length = 0
    first = 0  # no slot below is in use
    merged = np.empty((n - 1, 2), dtype=np.int64)
    height = np.empty(n - 1, dtype=np.float64)
    for step in range(n - 1):
        if length == 0:
            while size[first] == 0:
                first += 1
            chain[0] = first
            length = 1
        x, y, least = chain[0], -1, np.inf
        while True:
            x = chain[length - 1]
            y, least = -1, np.inf
            if length > 1:
                y = chain[length - 2]
                least = distance[x, y]
            for i in range(n):
                if size[i] != 0 and i != x and distance[x, i] < least:
                    y, least = i, distance[x, i]
            if length > 1 and y == chain[length - 2]:
                break
            chain[length] = y
            length += 1
        length -= 2
        low, high = min(x, y), max(x, y)
        merged[step, 0], merged[step, 1], height[step] = low, high, least
        n_low, n_high = size[low], size[high]
        size[low], size[high] = 0, n_low + n_high
        for i in range(n):
            if size[i] != 0 and i != high:
                share = 1.0 / (n_low + n_high + size[i])
                new = math.sqrt(  # Lance and Williams 1967
                    (size[i] + n_low) * share * distance[i, low] * distance[i, low]
                    + (size[i] + n_high) * share * distance[i, high] * distance[i, high]
                    - size[i] * share * least * least
                )
                distance[i, high] = distance[high, i] = new
    return merged, height
