"""Randomness as an argument: from the operating system; from a secret key of it; or from a seed, for experiments.

Every draw is made from 64-bit words, so all sources share one code path, and with a seed or a key a run repeats byte
for byte. A key is for runs that may be cut off: whoever continues them draws the same again. Its words are SHAKE-256 of
the key and a running number: without the key nobody can tell them from those of the operating system.

>>> Randomness(seed=7).integers(10, 5).tolist() == Randomness(seed=7).integers(10, 5).tolist()
True
>>> Randomness().describe()
"the operating system's random generator"
"""

from __future__ import annotations

import hashlib
import os
from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError

__all__ = ["Randomness"]


KEY_BYTES: Final = 32
BLOCK: Final = 1 << 12
"""Words of a key that are made at a time."""


class Randomness:
    """A source of random 64-bit words, and of numbers, orders and ids made from them."""

    def __init__(self, seed: int | None = None, *, key: bytes | None = None, _path: str = "") -> None:
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
            raise ParameterError.of("seed", "an integer >= 0", seed)
        if key is not None and (seed is not None or len(key) != KEY_BYTES):
            raise ValueError(f"a key has {KEY_BYTES} bytes, and no seed goes with it")
        self.seed = seed
        self._key = key
        self._path = _path
        self._bits: np.random.Philox | None = None
        self._drawn = 0
        """words drawn from the key"""
        self._made: tuple[int, npt.NDArray[np.uint64]] | None = None
        if seed is not None:
            digest = hashlib.sha256(f"querycloak/{seed}/{_path}".encode()).digest()
            self._bits = np.random.Philox(key=np.frombuffer(digest[:16], dtype=np.uint64).copy())

    def describe(self) -> str:
        """Describe where the randomness comes from, for the privacy statement."""
        if self.seed is not None:
            return "a seed: repeatable, for experiments only"
        if self._key is not None:
            return "a secret key of the operating system's random generator, deleted when the run ends"
        return "the operating system's random generator"

    def child(self, name: str) -> Randomness:
        """Return a separate source for a named part, so that the draws of one part do not change those of another."""
        return Randomness(self.seed, key=self._key, _path=f"{self._path}/{name}")

    @property
    def repeats(self) -> bool:
        """The same words can be drawn again: there is a seed or a key."""
        return self.seed is not None or self._key is not None

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        """Draw n random 64-bit words: uint64[n]."""
        if self._key is not None:
            return self._words_of_key(n)
        if self._bits is None:
            return np.frombuffer(os.urandom(8 * n), dtype=np.uint64).copy()
        return np.asarray(self._bits.random_raw(n), dtype=np.uint64)

    @property
    def position(self) -> int:
        """How many words a source with a seed or a key has drawn."""
        if self._key is not None:
            return self._drawn
        if self._bits is None:
            raise ParameterError("Only randomness with a seed or a key has a position.")
        state = self._bits.state  # blocks of four words; `buffer_pos` of the last block are used up
        blocks = sum(int(part) << 64 * i for i, part in enumerate(state["state"]["counter"]))
        return 4 * blocks - (4 - int(state["buffer_pos"]))

    def wind_to(self, position: int) -> None:
        """Go to where a source with a seed or a key has drawn so many words."""
        if self._key is not None:
            self._drawn = position
            return
        fresh = Randomness(self.seed, _path=self._path)
        if fresh._bits is None:
            raise ParameterError("Only randomness with a seed or a key has a position.")
        fresh._bits.advance(position // 4)
        fresh.words(position % 4)
        self._bits = fresh._bits

    def _words_of_key(self, n: int) -> npt.NDArray[np.uint64]:
        """Draw the next n words of the key: block i is SHAKE-256 of key, path and i."""
        assert self._key is not None
        first, skip = divmod(self._drawn, BLOCK)
        self._drawn += n
        blocks = [self._block(i) for i in range(first, -(-self._drawn // BLOCK))]
        return np.concatenate([np.empty(0, dtype=np.uint64), *blocks])[skip : skip + n]

    def _block(self, number: int) -> npt.NDArray[np.uint64]:
        """Return a block of the key's words; the last one made is kept, since most draws are small."""
        assert self._key is not None
        if self._made is None or self._made[0] != number:
            path = self._path.encode()
            text = self._key + len(path).to_bytes(8, "little") + path + number.to_bytes(16, "little")
            words = np.frombuffer(hashlib.shake_256(text).digest(8 * BLOCK), dtype="<u8").astype(np.uint64)
            self._made = (number, words)
        return self._made[1]

    def uniform(self, n: int) -> npt.NDArray[np.float64]:
        """Draw n numbers in [0, 1), multiples of 2^-53: float64[n]."""
        return (self.words(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def integers(self, bound: int, n: int) -> npt.NDArray[np.int64]:
        """Draw n integers from 0 to bound - 1, without bias: int64[n]."""
        if bound < 1:
            raise ParameterError.of("bound", "an integer >= 1", bound)
        # 2^64 is rarely a multiple of the bound: words above the last full multiple would favour small remainders.
        reject_from = (1 << 64) - (1 << 64) % bound
        out = self.words(n)
        if reject_from < 1 << 64:
            bad = np.flatnonzero(out >= np.uint64(reject_from))
            while bad.size:
                out[bad] = self.words(bad.size)
                bad = bad[out[bad] >= np.uint64(reject_from)]
        return (out % np.uint64(bound)).astype(np.int64)

    def permutation(self, n: int) -> npt.NDArray[np.int64]:
        """Draw a random order of 0 to n - 1: int64[n]. Where two of the random keys are equal, all are drawn again."""
        while True:
            keys = self.words(n)
            order = np.argsort(keys, kind="stable")
            ordered = keys[order]
            if not (ordered[1:] == ordered[:-1]).any():
                return order.astype(np.int64)

    def identifiers(self, n: int, *, avoid: frozenset[str] | set[str] = frozenset(), digits: bool = False) -> list[str]:
        """Draw n distinct ids that are not in `avoid`: 16 hexadecimal digits, or 12 decimal ones."""
        out: dict[str, None] = {}
        while len(out) < n:
            for word in self.words(n - len(out)).tolist():
                text = str(10**11 + word % (9 * 10**11)) if digits else f"{word:016x}"
                if text not in avoid:
                    out[text] = None
        return list(out)
