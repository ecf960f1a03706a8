"""Kernel of the click graph: queries are joined by shared documents; remove the best joined until none is.

The memory:

    documents_of   Ragged, row q = the documents that query q led to
    queries_of     Ragged, row d = the queries that led to document d: the same, inverted
    stamp          int64[queries]: -1 = removed; else the last turn in which the query was counted, 0 = never. A turn is
                   one count of one degree, so a query that shares several documents is counted once
    heap           (-degree, query) with the degree as it was when last counted

What holds between two turns: every query left with a degree above 0 is in the heap once, with its degree or more.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["disconnect"]

Int64s = npt.NDArray[np.int64]


@kernel
def _degree(q: int, turn: int, documents_of: Ragged, queries_of: Ragged, stamp: Int64s) -> int:
    """Count the queries left that share a document with q."""
    degree = 0
    stamp[q] = turn  # q is not its own neighbour
    for i in range(documents_of.start[q], documents_of.start[q + 1]):
        d = documents_of.values[i]
        for j in range(queries_of.start[d], queries_of.start[d + 1]):
            other = queries_of.values[j]
            if 0 <= stamp[other] < turn:
                degree += 1
                stamp[other] = turn
    return degree


@kernel
def disconnect(documents_of: Ragged, queries_of: Ragged) -> npt.NDArray[np.bool_]:
    """Remove queries, highest degree first, until no two share a document: bool[queries], True = removed.

    Degrees only fall, so a degree is counted again when its query comes first: if it fell, the query goes back. Ties:
    the lowest query.
    """
    n = len(documents_of.start) - 1
    stamp = np.zeros(n, dtype=np.int64)
    turn = 0
    heap = [(np.int64(0), np.int64(0)) for _ in range(0)]  # empty, and yet of a known type for the compiler
    for q in range(n):
        turn += 1
        degree = _degree(q, turn, documents_of, queries_of, stamp)
        if degree > 0:
            heapq.heappush(heap, (np.int64(-degree), np.int64(q)))
    while len(heap) > 0:
        known, first = heapq.heappop(heap)
        q = int(first)
        turn += 1
        degree = _degree(q, turn, documents_of, queries_of, stamp)
        if degree == -known:
            stamp[q] = -1
        elif degree > 0:
            heapq.heappush(heap, (np.int64(-degree), np.int64(q)))
    return stamp < 0
