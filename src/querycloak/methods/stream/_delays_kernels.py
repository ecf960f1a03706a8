"""Delays into their buckets: see `delays`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import lean_kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int16s = npt.NDArray[np.int16]
Int64s = npt.NDArray[np.int64]


@lean_kernel
def count_delays(delay: Int64s, short: Int16s, parts: int, counts: Int64s) -> tuple[int, int]:
    """Count delays int64[n] in their buckets; return their sum and the longest.

    Those below 2 * `parts` have a bucket each; every power of two above has `parts` of them. short int16[*]: buckets of
    short delays, which are looked up: a loop over their bits would end where no processor expects it.
    """
    total, longest = 0, 0
    for i in range(len(delay)):
        d = int(delay[i])
        total += d
        longest = max(longest, d)
        if d < len(short):
            counts[short[d]] += 1
            continue
        above = 0
        while d >> above >= 2 * parts:
            above += 1
        counts[above * parts + (d >> above)] += 1
    return total, longest
