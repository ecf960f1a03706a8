"""The neighbourhoods of senses, many at once: the sums of `context.Senses`, before they become whole numbers."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel

Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Without = tuple[Int32s, int, int]
"""Rows that are left out: an array, and first and end of them there."""


class LabelRows(NamedTuple):
    """The taxonomy, and the vectors of the words of its labels."""

    parent: Int32s
    size: Int32s
    start: Int64s
    """int64[n + 1]: rows of concept c are row[start[c] : start[c + 1]]"""
    row: Int32s
    matrix: Int8s


@inlined_kernel
def _add(labels: LabelRows, concept: int, without: Without, total: Int64s) -> int:
    """Add the vectors of a concept's words, but some, and return how many these were."""
    count = 0
    for k in range(labels.start[concept], labels.start[concept + 1]):
        row = labels.row[k]
        left_out = False
        for w in range(without[1], without[2]):
            left_out = left_out or without[0][w] == row
        if not left_out:
            count += 1
            for d in range(len(total)):
                total[d] += labels.matrix[row, d]
    return count


@inlined_kernel
def _add_children(labels: LabelRows, concept: int, most: int, but: int, without: Without, total: Int64s) -> int:
    """Add the vectors of the first children of a concept; `but` is none of them, and does not count."""
    count, seen = 0, 0
    child, end = concept + 1, concept + labels.size[concept]
    while child < end and seen < most:
        if child != but:
            count += _add(labels, child, without, total)
            seen += 1
        child += labels.size[child]
    return count


@lean_kernel
def sum_neighbourhoods(
    labels: LabelRows,
    sense: Int32s,
    label: Int64s,
    without_start: Int64s,
    without: Int32s,
    weights: Int64s,
    nearest: int,
    total: Int64s,
    out: Floats,
) -> None:
    """Fill out float64[n, dimensions], zeros, with the neighbourhood of each sense.

    sense i is of label number label[i], whose words have the rows without[without_start[l] : without_start[l + 1]].
    weights: of itself, above, two above, below, beside. total int64[dimensions]: room.
    """
    for i in range(len(sense)):
        concept = int(sense[i])
        rows = (without, without_start[label[i]], without_start[label[i] + 1])
        parent = int(labels.parent[concept])
        higher = int(labels.parent[parent]) if parent >= 0 else -1
        for group in range(5):
            for d in range(len(total)):
                total[d] = 0
            count = 0
            if group == 0:
                count = _add(labels, concept, rows, total)
            elif group == 1 and parent >= 0:
                count = _add(labels, parent, rows, total)
            elif group == 2 and higher >= 0:
                count = _add(labels, higher, rows, total)
            elif group == 3:
                count = _add_children(labels, concept, nearest, -1, rows, total)
            elif group == 4 and parent >= 0:
                count = _add_children(labels, parent, nearest, concept, rows, total)
            if count:
                for d in range(len(total)):
                    out[i, d] += total[d] * weights[group] / count


@lean_kernel
def near_own(
    neighbourhood: Int8s,
    label: Int64s,
    own_start: Int64s,
    own: Int32s,
    matrix: Int8s,
    scale: int,
    total: Int64s,
    out: Floats,
) -> None:
    """Fill out float64[n] with the cosine of each neighbourhood and the words of its label, 0 where these have none.

    The words of label l have the rows own[own_start[l] : own_start[l + 1]]. total int64[dimensions]: room.
    """
    for i in range(len(label)):
        for d in range(len(total)):
            total[d] = 0
        for k in range(own_start[label[i]], own_start[label[i] + 1]):
            for d in range(len(total)):
                total[d] += matrix[own[k], d]
        square, product = 0, 0
        for d in range(len(total)):
            square += total[d] * total[d]
            product += neighbourhood[i, d] * total[d]
        length = sqrt(float(square))
        out[i] = float(product) / (scale * length) if length else 0.0
