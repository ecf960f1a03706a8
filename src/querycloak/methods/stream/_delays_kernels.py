"""Delays into their buckets: see `delays`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import lean_kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int64s = npt.NDArray[np.int64]


@lean_kernel
def count_delays(delay: Int64s, exact: int, parts: int, counts: Int64s) -> tuple[int, int]:
    """Count delays int64[n] in their buckets; return their sum and the longest.

    Those below `exact` have a bucket each; every power of two above has `parts` of them, half as many as `exact`.
    """
    total, longest = 0, 0
    for i in range(len(delay)):
        d = int(delay[i])
        total += d
        longest = max(longest, d)
        above = 0
        while d >> above >= exact:
            above += 1
        if above > 0:
            d = exact + (above - 1) * parts + (d >> above) - parts
        counts[d] += 1
    return total, longest
