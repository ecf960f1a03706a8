"""Many random words of many names: the stream of ChaCha20 under the key of each name (`keyed_randomness.py`).

The key of a name is BLAKE2b of the name under the secret, a pseudo-random function; under it ChaCha20 makes as many
words as are wanted, as for `bulk_randomness.py`. The words of a name are a function of the secret and the name alone,
and a longer answer begins with a shorter one: whoever runs out of words asks again for more, and goes on.

>>> from querycloak.keyed_randomness import KeyedRandomness
>>> from querycloak.randomness import Randomness
>>> streams = Streams.of(["ann", "bob"], KeyedRandomness(Randomness(seed=7)))
>>> bool((streams.words(100)[:, :10] == streams.words(10)).all())
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays import _chacha_kernels as kernels
from querycloak.arrays.bulk_randomness import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.keyed_randomness import KeyedRandomness

__all__ = ["BLOCK", "Streams"]

BLOCK = kernels.WORDS // 2
"""Words that are made at a time, of 64 bits: to ask for fewer costs as much."""


class Streams(NamedTuple):
    """The streams of some names."""

    key: npt.NDArray[np.uint32]
    """uint32[streams, 8]; secret, as the words are"""
    number: npt.NDArray[np.uint32]
    """uint32[streams], part of the nonce: a name may have many streams"""

    def __repr__(self) -> str:
        return f"Streams({len(self.key)})"

    @classmethod
    def of(cls, names: Iterable[str], keyed: KeyedRandomness) -> Streams:
        """Return the first stream of each name."""
        key = keyed.keys(names)
        return cls(key, np.zeros(len(key), dtype=np.uint32))

    def numbered(self, n: int) -> Streams:
        """Return n streams of each name in turn, numbered from 0; the first one is that of `of`."""
        number = np.arange(n, dtype=np.uint32)
        return Streams(np.repeat(self.key, n, axis=0), np.tile(number, len(self.key)))

    def take(self, which: npt.NDArray[Any] | slice) -> Streams:
        """Return some of the streams."""
        return Streams(self.key[which], self.number[which])

    def words(self, n: int, purpose: int = 0) -> npt.NDArray[np.uint64]:
        """Return the first n words of each stream: uint64[streams, n]; each purpose has words of its own."""
        state = np.concatenate([CONSTANTS, np.zeros(12, dtype=np.uint32)])
        state[kernels.COUNTER + 2] = purpose
        out = np.empty((len(self.key), -(-n // BLOCK) * kernels.WORDS), dtype=np.uint32)
        kernels.fill_streams(self.key, self.number, state, out.reshape(-1))
        return out.view(np.uint64)[:, :n]
