"""Many random words at a time: a fresh key of the operating system, stretched by ChaCha20.

The operating system makes a long answer in the same way: Linux takes a key of 32 bytes from its generator, and returns
the stream of ChaCha20 under it. Here the key is fetched and the stream is made by us, which takes a sixth of the time.
Each call has a key of its own, which is used for nothing else and not kept: there is no state that could be stolen,
shared by two threads, or copied by a fork. Why that is as good: ADR 158.

>>> len(set(BulkRandomness().words(10_000).tolist()))
10000
>>> BulkRandomness().describe()
"the operating system's random generator, with ChaCha20 under a fresh key of it for each block of words"
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays import _chacha_kernels as kernels
from querycloak.arrays.jit import compiles
from querycloak.randomness import Randomness

__all__ = ["BulkRandomness"]

CONSTANTS: Final = np.frombuffer(b"expand 32-byte k", dtype="<u4").astype(np.uint32)
KEY_BYTES: Final = 32
FEW: Final = 1 << 9
"""Words up to which the operating system is asked for them all."""
MOST: Final = 1 << 24
"""Words under one key: far from where the counter of blocks would begin again."""


class BulkRandomness(Randomness):
    """The operating system's randomness, for those who need much of it."""

    def __init__(self) -> None:
        super().__init__()

    def describe(self) -> str:
        """Describe where the randomness comes from, for the privacy statement."""
        return f"{super().describe()}, with ChaCha20 under a fresh key of it for each block of words"

    def child(self, name: str) -> BulkRandomness:  # noqa: ARG002 - no two calls have anything in common
        """Return a separate source."""
        return BulkRandomness()

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        """Draw n random 64-bit words: uint64[n]."""
        if n <= FEW or not compiles():
            return super().words(n)
        parts = [_stream(min(MOST, n - first)) for first in range(0, n, MOST)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _stream(n: int) -> npt.NDArray[np.uint64]:
    """Return n words of ChaCha20 under a key that is used once: counter and nonce begin with 0."""
    key = np.frombuffer(os.urandom(KEY_BYTES), dtype=np.uint32)
    state = np.concatenate([CONSTANTS, key, np.zeros(4, dtype=np.uint32)])
    out = np.empty(-(-2 * n // kernels.WORDS) * kernels.WORDS, dtype=np.uint32)
    kernels.fill_blocks(state, out)
    return out[: 2 * n].view(np.uint64)
