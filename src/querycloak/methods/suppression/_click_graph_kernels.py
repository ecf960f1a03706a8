"""Kernel of the click graph: queries are joined by shared documents; remove the best joined until none is."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["disconnect"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def _degree(
    q: int, turn: int, start: Int64s, document: Int32s, post_start: Int64s, post_query: Int32s, stamp: Int64s
) -> int:
    """Count the queries left that share a document with q. stamp: int64[queries], -1 = removed, else below `turn`."""
    degree = 0
    stamp[q] = turn
    for i in range(start[q], start[q + 1]):
        d = document[i]
        for j in range(post_start[d], post_start[d + 1]):
            other = post_query[j]
            if 0 <= stamp[other] < turn:
                degree += 1
                stamp[other] = turn
    return degree


@kernel
def disconnect(start: Int64s, document: Int32s, post_start: Int64s, post_query: Int32s) -> npt.NDArray[np.bool_]:
    """Remove queries, highest degree first, until no two share a document: bool[queries], True = removed.

    Query q led to document[start[q]] …; document d was reached from post_query[post_start[d]] …. Degrees only fall, so
    a degree is counted again when its query comes first: if it fell, the query goes back. Ties: the lowest query.
    """
    n = len(start) - 1
    stamp = np.zeros(n, dtype=np.int64)
    turn = 0
    heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for q in range(n):
        turn += 1
        degree = _degree(q, turn, start, document, post_start, post_query, stamp)
        if degree > 0:
            heapq.heappush(heap, (np.int64(-degree), np.int64(q)))
    while len(heap) > 0:
        known, first = heapq.heappop(heap)
        q = int(first)
        turn += 1
        degree = _degree(q, turn, start, document, post_start, post_query, stamp)
        if degree == -known:
            stamp[q] = -1
        elif degree > 0:
            heapq.heappush(heap, (np.int64(-degree), np.int64(q)))
    return stamp < 0
