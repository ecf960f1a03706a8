"""Kernels of the worst-case loss: the largest ratio of two probabilities of one outcome, over all pairs of inputs.

An outcome o has probability weight(c, o) / total(c) from the input c. All inputs at one level below one ancestor of o,
those below the ancestor's child that leads to o left out, give o the same weight (`cells_of` of the draws, seen from
the other end; the weight is symmetric). So of each such cell only the smallest and the largest total matter, and a
cell is two slices of `near`:

    Z       float64[concepts]     total weight from each input
    least   float64[steps, near]  least[k, i] = the smallest Z of near[i : i + 2^k]; the same for `most`, the largest

Steps double, so the extremes of any slice are those of two overlapping spans. Every pass is O(cells), never O(pairs).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.methods.dp._semantic_dp_kernels import Cells

__all__ = ["worst_losses"]

Floats = npt.NDArray[np.float64]

BEGIN, LENGTH = 0, 1  # columns of run
CANDIDATES = 1  # of far
LEAST, MOST = 0, 1  # rows of an extreme


@kernel
def _is_twin(cells: Cells, c: int) -> bool:
    """Return whether c and the concept before it can change places: neighbours without anything near below them."""
    return bool(
        c > 0
        and cells.parent[c] == cells.parent[c - 1]
        and cells.group[c] == cells.group[c - 1]
        and cells.top[c] == cells.top[c - 1]
        and cells.first[c + 1] - cells.first[c] == 1
        and cells.first[c] - cells.first[c - 1] == 1
    )


@kernel
def _total(cells: Cells, concept: int, weights: Floats, far_weight: float) -> float:
    """Return the total weight of all candidates from one input."""
    total: float = far_weight * cells.far[cells.group[concept], CANDIDATES]
    node, child = concept, -1
    while True:
        shared = cells.level[node] + 1
        begin, end = cells.first[node], cells.first[node + 1]
        for r in range(begin, end):
            count = cells.run[r, LENGTH]
            if child >= 0 and r > begin:
                c = cells.first[child] + (r - begin - 1)
                if c < cells.first[child + 1]:
                    count -= cells.run[c, LENGTH]
            union = cells.level[concept] + 1 + cells.level[node] + (r - begin) + 1 - shared
            total += count * weights[shared, union]
        if node == cells.top[concept]:
            return total
        child, node = node, cells.parent[node]


@kernel
def _extremes(table: Floats, which: int, begin: int, end: int, found: Floats) -> None:
    """Widen found[LEAST], found[MOST] by the totals of near[begin:end]."""
    if end <= begin:
        return
    k = 0
    while (2 << k) <= end - begin:
        k += 1
    other = end - (1 << k)
    if which == LEAST:
        found[LEAST] = min(found[LEAST], table[k, begin], table[k, other])
    else:
        found[MOST] = max(found[MOST], table[k, begin], table[k, other])


@kernel
def _spans(z: Floats, which: int) -> Floats:
    """float64[steps, near]: the extreme of each span of 1, 2, 4, … totals."""
    n = len(z)
    steps = 1
    while (1 << steps) <= n:
        steps += 1
    out = np.empty((steps, n))
    out[0] = z
    for k in range(1, steps):
        half = 1 << (k - 1)
        for i in range(n - (1 << k) + 1):
            a, b = out[k - 1, i], out[k - 1, i + half]
            out[k, i] = min(a, b) if which == LEAST else max(a, b)
    return out


@kernel
def worst_losses(cells: Cells, weights: Floats, far_weight: float, size: npt.NDArray[np.int64]) -> Floats:
    """float64[domains]: ln of the largest ratio, the input without a concept (uniform) among the inputs.

    `weights` float64[domains, shared + 1, union + 1], each in (0, 1]; `size` int64[domains], concepts of each.
    """
    n, groups = len(cells.parent), len(cells.far)
    total = np.zeros(n)
    of_group = np.empty((groups, 2))
    of_group[:, LEAST], of_group[:, MOST] = np.inf, 0.0
    for c in range(n):
        g = cells.group[c]
        if g < 0:
            continue
        total[c] = total[c - 1] if _is_twin(cells, c) else _total(cells, c, weights[cells.home[g]], far_weight)
        of_group[g, LEAST] = min(of_group[g, LEAST], total[c])
        of_group[g, MOST] = max(of_group[g, MOST], total[c])
    z = total[cells.near]
    least, most = _spans(z, LEAST), _spans(z, MOST)
    out = np.zeros(len(size))
    found = np.empty(2)
    for o in range(n):
        g = cells.group[o]
        if g < 0 or _is_twin(cells, o):
            continue
        d = cells.home[g]
        high = low = 1.0 / size[d]  # from the input without a concept
        node, child = o, -1
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
                weight = weights[d, shared, cells.level[o] + 1 + cells.level[node] + (r - begin) + 1 - shared]
                found[LEAST], found[MOST] = np.inf, 0.0
                _extremes(least, LEAST, at, cut_at, found)
                _extremes(least, LEAST, cut_at + cut, at + length, found)
                _extremes(most, MOST, at, cut_at, found)
                _extremes(most, MOST, cut_at + cut, at + length, found)
                high, low = max(high, weight / found[LEAST]), min(low, weight / found[MOST])
            if node == cells.top[o]:
                break
            child, node = node, cells.parent[node]
        for other in range(groups):  # inputs of the other groups of the domain: o is far from them
            if other != g and cells.home[other] == d and of_group[other, MOST] > 0:
                high, low = max(high, far_weight / of_group[other, LEAST]), min(low, far_weight / of_group[other, MOST])
        out[d] = max(out[d], math.log(high / low))
    return out
