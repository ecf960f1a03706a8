"""Kernels of the semantic exponential mechanism: whole-number weights by cell, exact draws from random words.

The weight of a candidate is a whole number of at most 2^62. A total of up to 2^24 candidates takes up to 86 bits, so it
is kept in two limbs: `high` counts units of 2^40, `low` is below 2^40. All comparisons of a draw are between whole
numbers; the only floating-point step is `weigh`, whose rounding is always upwards.

The memory. `Cells` holds the public domains; made once, read only. A concept has rows first[c] .. first[c + 1] - 1 of
`run`, one for each level at and below it, and each is a slice of `near`:

    run    [row]     BEGIN, LENGTH
    far    [group]   BASE, CANDIDATES, SKIP_FROM (-1 = the concept itself), SKIP, LISTED (1 = BASE is in `listed`)

Scratch of one call of `draw`, filled by `cells_of` for one input concept. A cell is a set of candidates of one weight:

    piece  [cell]    AT, SIZE of a first slice of `near`, AT_2, SIZE_2 of a second, around what is cut out between them;
                     the far cell is last and has AT = -1
    total  [cell]    uint64: WEIGHT of one candidate; HIGH, LOW = running total of all cells up to this one

What holds: the running totals ascend, and the last one is the total of all weights; every candidate of the domain is in
exactly one cell. `state` is kept between calls: DONE inputs; CELL that the next one has drawn already, -1 = none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["FULL", "Cells", "Tables", "cells_of", "draw", "draw_each", "weigh"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

FULL = 1 << 62
"""Weight of the input concept itself."""

BEGIN, LENGTH = 0, 1  # columns of run
BASE, CANDIDATES, SKIP_FROM, SKIP, LISTED = range(5)  # of far
AT, SIZE, AT_2, SIZE_2 = range(4)  # of piece
WEIGHT, HIGH, LOW = range(3)  # of total
DONE, CELL = 0, 1  # of state

_LIMB = np.uint64(40)
_LOW = np.uint64((1 << 40) - 1)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Cells(NamedTuple):
    """The domains of a mechanism as flat arrays; n concepts, of which those outside all domains have group -1."""

    parent: Int32s
    """int32[n]"""
    level: Int32s
    """int32[n], edges below the root of the domain"""
    top: Int32s
    """int32[n], highest ancestor (or self) in the same group: candidates below it are near, all others far"""
    group: Int32s
    """int32[n], row of `far` and `home`; -1 = outside all domains"""
    first: Int64s
    """int64[n + 1], rows of `run` of a concept: one for each level at and below it"""
    run: Int32s
    """int32[rows, 2], BEGIN and LENGTH in `near` of the concept's near candidates at that level"""
    near: Int32s
    """int32[m], concepts by group kind and level, depth-first within"""
    far: Int64s
    """int64[groups, 5], the far candidates: CANDIDATES of them from BASE on, SKIP of them left out at SKIP_FROM"""
    listed: Int32s
    """int32[...], far candidates that are no slice of the taxonomy"""
    home: Int32s
    """int32[groups], number of the domain that a group is in"""


class Tables(NamedTuple):
    """Weights of candidates, one table for each pair (ε_q, domain); made by the calibration, read only."""

    near: Words
    """uint64[tables, shared + 1, union + 1], by number of shared ancestors and of all ancestors"""
    far: Words
    """uint64[tables], of candidates in another group"""


@kernel
def weigh(loss: Floats, rate: float, spread: float) -> Words:
    """Return uint64[...]: 2^62 · exp(-rate · min(1, loss / spread)), rounded up, at least 1, at most 2^62.

    The product of the rate with a number of at most 1 never rounds above the rate. The factor 1 + 2^-48 is more than
    the error of any exp in use (4 units of 2^-52), so every weight is at least 2^62 · exp(-rate): the ratio of two
    weights never exceeds exp(rate).
    """
    out = np.empty(loss.shape, dtype=np.uint64)
    for i in range(loss.shape[0]):
        for j in range(loss.shape[1]):
            x = math.exp(-rate * min(1.0, loss[i, j] / spread)) * (1.0 + 2.0**-48)
            out[i, j] = np.uint64(FULL) if x >= 1.0 else max(_ONE, np.uint64(math.ceil(x * 2.0**62)))
    return out


@kernel
def cells_of(cells: Cells, concept: int, weights: Words, far_weight: np.uint64, piece: Int64s, total: Words) -> int:
    """Fill the cells of one input concept; return how many there are.

    A cell is the near candidates at one level below one ancestor, those below the ancestor's child that leads to the
    input left out: all have the same weight (equation 5 depends on levels only). The last cell holds the far ones.
    """
    n = 0
    high, low = _ZERO, _ZERO
    node, child = concept, -1
    while True:
        shared = cells.level[node] + 1
        begin, end = cells.first[node], cells.first[node + 1]
        for r in range(begin, end):
            at, length = cells.run[r, BEGIN], cells.run[r, LENGTH]
            cut_at, cut = at + length, 0
            if child >= 0 and r > begin:
                c = cells.first[child] + (r - begin - 1)
                if c < cells.first[child + 1]:
                    cut_at, cut = cells.run[c, BEGIN], cells.run[c, LENGTH]
            if length == cut:
                continue
            # the union of both ancestor sets: level(input) + 1, and level(candidate) + 1, less the shared ones
            union = cells.level[concept] + 1 + cells.level[node] + (r - begin) + 1 - shared
            weight = weights[shared, union]
            count = np.uint64(length - cut)
            low += count * (weight & _LOW)
            high += count * (weight >> _LIMB) + (low >> _LIMB)
            low &= _LOW
            piece[n, AT], piece[n, SIZE] = at, cut_at - at
            piece[n, AT_2], piece[n, SIZE_2] = cut_at + cut, at + length - cut_at - cut
            total[n, WEIGHT], total[n, HIGH], total[n, LOW] = weight, high, low
            n += 1
        if node == cells.top[concept]:
            break
        child, node = node, cells.parent[node]
    others = cells.far[cells.group[concept], CANDIDATES]
    if others > 0:
        low += np.uint64(others) * (far_weight & _LOW)
        high += np.uint64(others) * (far_weight >> _LIMB) + (low >> _LIMB)
        low &= _LOW
        piece[n, AT], piece[n, SIZE], piece[n, AT_2], piece[n, SIZE_2] = -1, others, 0, 0
        total[n, WEIGHT], total[n, HIGH], total[n, LOW] = far_weight, high, low
        n += 1
    return n


@kernel
def _mask(bound: np.uint64) -> np.uint64:
    """Return the smallest 2^b - 1 that covers 0 .. bound - 1."""
    mask = bound - _ONE
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    return mask


@kernel
def _locate(cells: Cells, concept: int, piece: Int64s, cell: int, index: np.int64) -> np.int64:
    """Return the concept at an index of a cell."""
    if piece[cell, AT] >= 0:
        if index < piece[cell, SIZE]:
            return np.int64(cells.near[piece[cell, AT] + index])
        return np.int64(cells.near[piece[cell, AT_2] + index - piece[cell, SIZE]])
    g = cells.group[concept]
    base, skip_from, skip = cells.far[g, BASE], cells.far[g, SKIP_FROM], cells.far[g, SKIP]
    if skip_from < 0:
        skip_from = concept - base
    if index >= skip_from:
        index += skip
    return np.int64(cells.listed[base + index] if cells.far[g, LISTED] else base + index)


@kernel
def _cell_above(total: Words, n: int, high: np.uint64, low: np.uint64) -> int:
    """Return the first of n cells whose running total is above a number."""
    cell, right = 0, n - 1
    while cell < right:
        middle = (cell + right) // 2
        if high < total[middle, HIGH] or (high == total[middle, HIGH] and low < total[middle, LOW]):
            right = middle
        else:
            cell = middle + 1
    return cell


@kernel
def draw_each(
    cells: Cells, tables: Tables, order: Int64s, concept: Int32s, table: Int32s, words: Words, out: Int32s
) -> None:
    """Draw for each input from words of its own, uint64[inputs, words], in the order `order`, which is that of `draw`.

    An input whose words run out is left at -1. Whoever asks again brings more words that begin with the same ones: the
    draw then goes the same way and on, so nothing is begun again with other words, which would be a bias.
    """
    size = (tables.near.shape[1] + 1) * (tables.near.shape[1] + 1) + 1
    piece = np.empty((size, 4), dtype=np.int64)
    total = np.empty((size, 3), dtype=np.uint64)
    last_table, last_concept = -1, -1
    n = 0
    high_mask = _ZERO
    for at in order:
        c, t = concept[at], table[at]
        if t != last_table or c != last_concept:
            n = cells_of(cells, c, tables.near[t], tables.far[t], piece, total)
            high_mask = _mask(total[n - 1, HIGH] + _ONE)
            last_table, last_concept = t, c
        used, cell = 0, -1
        while cell < 0 and used + 2 <= words.shape[1]:
            high, low = words[at, used] & high_mask, words[at, used + 1] & _LOW
            used += 2
            if high < total[n - 1, HIGH] or (high == total[n - 1, HIGH] and low < total[n - 1, LOW]):
                cell = _cell_above(total, n, high, low)
        out[at] = -1
        if cell < 0:
            continue
        length = piece[cell, SIZE] + piece[cell, SIZE_2]
        if length == 1:
            out[at] = _locate(cells, c, piece, cell, np.int64(0))
        mask = _mask(np.uint64(length))
        while out[at] < 0 and used < words.shape[1]:
            index = np.int64(words[at, used] & mask)
            used += 1
            if index < length:
                out[at] = _locate(cells, c, piece, cell, index)


@kernel
def draw(
    cells: Cells,
    tables: Tables,
    order: Int64s,
    concept: Int32s,
    table: Int32s,
    words: Words,
    state: Int64s,
    out: Int32s,
) -> None:
    """Draw for the inputs order[state[DONE]:] until they or the words run out; `state` says where to go on.

    `order` must bring equal (table, concept) together, so that cells are filled once for all of them. `out`
    is filled at the indices that `order` names. A number below a total is drawn by masking words and drawing again when
    it is not below: no modulo bias.

    Where words run out between the cell and the concept, the cell is kept in `state`: to draw it again would favour
    cells of one candidate, which need no second draw, and the probabilities would no longer be those of the proof.
    """
    size = (tables.near.shape[1] + 1) * (tables.near.shape[1] + 1) + 1
    piece = np.empty((size, 4), dtype=np.int64)
    total = np.empty((size, 3), dtype=np.uint64)
    last_table, last_concept = -1, -1
    n, used = 0, 0
    high_mask = _ZERO
    while state[DONE] < len(order):
        at = order[state[DONE]]
        c, t = concept[at], table[at]
        if t != last_table or c != last_concept:
            n = cells_of(cells, c, tables.near[t], tables.far[t], piece, total)
            high_mask = _mask(total[n - 1, HIGH] + _ONE)
            last_table, last_concept = t, c
        cell = state[CELL]
        if cell < 0:
            while True:  # a number below the total of all weights
                if used + 2 > len(words):
                    return
                high, low = words[used] & high_mask, words[used + 1] & _LOW
                used += 2
                if high < total[n - 1, HIGH] or (high == total[n - 1, HIGH] and low < total[n - 1, LOW]):
                    break
            cell = _cell_above(total, n, high, low)
        length = piece[cell, SIZE] + piece[cell, SIZE_2]
        index = np.int64(0)
        if length > 1:
            mask = _mask(np.uint64(length))
            while True:
                if used + 1 > len(words):
                    state[CELL] = cell
                    return
                index = np.int64(words[used] & mask)
                used += 1
                if index < length:
                    break
        out[at] = _locate(cells, c, piece, cell, index)
        state[DONE] += 1
        state[CELL] = -1
