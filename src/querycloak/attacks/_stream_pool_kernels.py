"""Where the id of an asker is published next: counted in a rehearsal, then used to name askers.

Rows are those of a stream, top-level category by category, each in the order of publication. A target is a row `own`,
asked when row `asked` of its category was published, whose category ends before row `end`. Both kernels look at the
rows from `asked` on; every row falls into a cell [common sets of the two chains, bin of the gap]. A gap is counted to
the `moment` of a row: the row itself, or the first row of its epoch, since the order of an epoch tells nothing.

The memory of `name_by_pool`, made and owned by one call; stamps say of which target a value is:

    weight   float64[ids], sum of the logarithms of the ratios of the id's rows
    stamp    int64[ids], the last target that `weight` is of
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

Float64s = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def _common(chain: Int32s, a: int, b: int) -> int:
    """Return how many sets two rows share, from the widest down."""
    shared = 0
    while shared < chain.shape[1] and chain[a, shared] >= 0 and chain[a, shared] == chain[b, shared]:
        shared += 1
    return shared


@kernel
def count_rows(
    own: Int64s, asked: Int64s, end: Int64s, asker: Int32s, asker_share: Float64s, user: Int32s, chain: Int32s,
    moment: Int64s, bins: Int64s,
) -> tuple[Float64s, Float64s]:  # fmt: skip
    """Return by cell how many rows are of the asker of a target, and how many would be if ids came by their share.

    `user` int32[rows], `chain` int32[rows, width], `moment` int64[rows], `bins` int64[window] = bin of each gap;
    float64[width + 1, bins].
    """
    found = np.zeros((chain.shape[1] + 1, bins.max() + 1))
    expected = np.zeros(found.shape)
    for i in range(len(own)):
        for p in range(asked[i], end[i]):
            if moment[p] - asked[i] >= len(bins):
                break
            if p != own[i]:
                common, gap = _common(chain, own[i], p), bins[moment[p] - asked[i]]
                found[common, gap] += user[p] == asker[i]
                expected[common, gap] += asker_share[i]
    return found, expected


@kernel
def name_by_pool(
    own: Int64s, asked: Int64s, end: Int64s, user: Int32s, share: Float64s, chain: Int32s, moment: Int64s, bins: Int64s,
    ratio: Float64s, ids: int,
) -> Int32s:  # fmt: skip
    """Return for each target the id named, int32[targets], -1 where none is.

    `share` float64[rows] = share of the row's id of all rows of its category; `ratio` = found / expected by cell.
    """
    weight, stamp = np.zeros(ids), np.full(ids, -1, np.int64)
    named = np.full(len(own), -1, np.int32)
    logs = np.log(ratio)
    for i in range(len(own)):
        last = asked[i]
        more = 0.0
        while last < end[i] and moment[last] - asked[i] < len(bins):
            p = last
            last += 1
            if p == own[i]:
                continue
            common, gap, u = _common(chain, own[i], p), bins[moment[p] - asked[i]], user[p]
            if stamp[u] != i:
                stamp[u], weight[u] = i, 0.0
            weight[u] += logs[common, gap]
            more += ratio[common, gap] - 1
        best = -np.inf
        for p in range(asked[i], last):
            u = user[p]
            if p != own[i] and u != user[own[i]]:
                value = np.log(share[p]) + weight[u] - share[p] * more
                if value > best:
                    best, named[i] = value, u
    return named
