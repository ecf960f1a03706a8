r"""SipHash-2-4 (Aumasson and Bernstein, 2012) of many short texts: what the ids of shards are made of.

.. code-block:: text

    text "4417749000"     4 4 1 7 7 4 9 0 | 0 0 . . . . . 10      blocks of 8 bytes, little-endian; the last one has
                                                                  what is left, zeros, and the length in its last byte
    v0 … v3               the state, four words; two rounds for each block, four at the end
    texts, ends           texts after each other; text c ends at ends[c + 1] and begins where the one before ends

Compared with a reference implementation and the paper's own example in the tests.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, kernel, wraps_around

Bytes = npt.NDArray[np.uint8]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@inlined_kernel
@wraps_around
def _round(v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64) -> State:
    """One SipRound: section 2.2, figure 2.1."""
    v0, v2 = v0 + v1, v2 + v3
    v1 = (v1 << np.uint64(13) | v1 >> np.uint64(51)) ^ v0
    v3 = (v3 << np.uint64(16) | v3 >> np.uint64(48)) ^ v2
    v0 = v0 << np.uint64(32) | v0 >> np.uint64(32)
    v2, v0 = v2 + v1, v0 + v3
    v1 = (v1 << np.uint64(17) | v1 >> np.uint64(47)) ^ v2
    v3 = (v3 << np.uint64(21) | v3 >> np.uint64(43)) ^ v0
    v2 = v2 << np.uint64(32) | v2 >> np.uint64(32)
    return v0, v1, v2, v3


@kernel
def siphash_texts(key: Words, texts: Bytes, ends: Int64s, first: int, out: Words) -> None:
    """Set out uint64[n] to the hashes of n texts, those with the codes from `first` on; key uint64[2]."""
    for n in range(len(out)):
        code = first + n
        begin, end = ends[code] if code > 0 else 0, ends[code + 1]
        v0, v1 = key[0] ^ np.uint64(0x736F6D6570736575), key[1] ^ np.uint64(0x646F72616E646F6D)
        v2, v3 = key[0] ^ np.uint64(0x6C7967656E657261), key[1] ^ np.uint64(0x7465646279746573)
        size = end - begin
        for block in range((size >> 3) + 1):
            word = np.uint64(0)
            at = begin + 8 * block
            for i in range(min(8, end - at)):
                word |= np.uint64(texts[at + i]) << np.uint64(8 * i)
            if at + 8 > end:
                word |= np.uint64(size & 255) << np.uint64(56)
            v3 ^= word
            for _ in range(2):
                v0, v1, v2, v3 = _round(v0, v1, v2, v3)
            v0 ^= word
        v2 ^= np.uint64(255)
        for _ in range(4):
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        out[n] = v0 ^ v1 ^ v2 ^ v3
