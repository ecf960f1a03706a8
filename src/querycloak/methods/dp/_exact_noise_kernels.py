"""Kernel of exact noise: whole numbers from the words of many streams, as many of each (`_exact_noise.py`).

The memory:

.. code-block:: text

    words  uint64[streams, words]   those of a stream are used from left to right, three for each attempt
    out    int64[streams, each]     the numbers of each stream
    done   int64[streams]           how many numbers a stream has
    used   int64[streams]           how many of its words are used up

All four hold between calls: whoever brings more words of the same streams, or has made an attempt that this kernel
leaves alone, calls again.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["MOST_BLOCK", "draw_numbers"]

Int64s = npt.NDArray[np.int64]

MOST_BLOCK = 24
"""An attempt in a block beyond, one of 2^25, is left to whole numbers of any size."""
SURE = 2.0**-36
"""More than a chance is off: its exponent is at most 600, with four roundings of 2^-53; exp is good to 2^-50."""
TINY = 2.0**-200
"""More than a chance whose exponent is above 600."""


@kernel
def draw_numbers(
    words: npt.NDArray[np.uint64],
    laplace: bool,
    scale: float,
    width: int,
    out: Int64s,
    done: Int64s,
    used: Int64s,
) -> None:
    """Draw until each stream has its numbers, or its words run out, or an attempt is too close to tell."""
    size = np.uint64(width)
    last = ~((~size + np.uint64(1)) % size)  # the last word of the last full multiple of `width`
    for i in range(len(words)):
        n, at = done[i], used[i]
        while n < out.shape[1] and at + 3 <= words.shape[1]:
            first, second, third = words[i, at], words[i, at + 1], words[i, at + 2]
            block, bits = 0, first >> np.uint64(1)
            while block <= MOST_BLOCK and bits & np.uint64(1):
                block += 1
                bits >>= np.uint64(1)
            if block > MOST_BLOCK:
                break
            if second > last:
                at += 3
                continue
            x = block * width + np.int64(second % size)
            negative = (first & np.uint64(1)) != 0
            if negative and x == 0:
                at += 3
                continue
            z = x / scale
            chance = math.exp(-z if laplace else -z * z / 2.0) * 2.0**block
            low = np.float64(third >> np.uint64(11)) * 2.0**-53  # the uniform number is from here to 2^-53 more
            if low + 2.0**-53 <= chance * (1.0 - SURE) or x == 0:
                out[i, n] = -x if negative else x
                n += 1
            elif low < max(chance * (1.0 + SURE), TINY):
                break
            at += 3
        done[i], used[i] = n, at
