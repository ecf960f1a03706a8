"""Randomness on a cluster: one secret of the driver, and from it the words of each user, item or block by its name.

Spark runs a task again where an executor was lost or is slow, and computes a lazy table again wherever it is asked for.
If a task asked the operating system for its randomness, the second run would draw something else: the gate could look
at one table and the writer publish another, and an attacker who saw both would learn from their difference. So the
driver draws 32 bytes from the operating system once, and everything random is a function of (secret, purpose, name):
a task that runs twice draws the same twice, whatever the partitions are. Words are BLAKE2b with the secret as its key,
a pseudo-random function: without the secret nobody can tell them from those of the operating system. With a seed
the secret is a hash of it, for experiments only.

>>> ids = KeyedRandomness(seed=7).child("ids")
>>> ids.words(["ann", "bob"], 2).tolist() == ids.words(["bob", "ann"], 2)[::-1].tolist()
True
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KeyedRandomness"]

SECRET_BYTES: Final = 32
WORDS_PER_DIGEST: Final = 8
"""64-bit words of one digest of BLAKE2b"""


class KeyedRandomness:
    """Random words by name. It is sent to executors as it is; its repr does not show the secret."""

    def __init__(self, seed: int | None = None, *, _secret: bytes | None = None) -> None:
        Randomness(seed)  # refuses what is no seed
        self.seed = seed
        if _secret is None:
            _secret = os.urandom(SECRET_BYTES) if seed is None else _of_seed(seed)
        self._secret = _secret

    def __repr__(self) -> str:
        return f"KeyedRandomness({'secret' if self.seed is None else f'seed={self.seed}'})"

    def describe(self) -> str:
        """Describe where the randomness comes from, for the privacy statement."""
        if self.seed is not None:
            return Randomness(self.seed).describe()
        return "a secret key of the driver's operating system, used for this release alone and kept nowhere"

    def child(self, purpose: str) -> KeyedRandomness:
        """Return a separate source, so that the draws of one purpose say nothing about those of another."""
        secret = hashlib.blake2b(purpose.encode(), key=self._secret, digest_size=SECRET_BYTES, person=b"child").digest()
        return KeyedRandomness(self.seed, _secret=secret)

    def of(self, name: str) -> Randomness:
        """Return the source of one user, item or block: as many words as are wanted, in order."""
        key = hashlib.blake2b(name.encode(), key=self._secret, digest_size=SECRET_BYTES, person=b"of").digest()
        return Randomness(key=key)

    def words(self, names: Iterable[str], n: int = 1) -> npt.NDArray[np.uint64]:
        """Return n words of each name, at most 8: uint64[names, n]; cheaper than `of` for many names."""
        if not 1 <= n <= WORDS_PER_DIGEST:
            raise ValueError(f"a name has from 1 to {WORDS_PER_DIGEST} words, not {n}")
        secret, size = self._secret, 8 * n
        digests = b"".join(
            hashlib.blake2b(name.encode(), key=secret, digest_size=size, person=b"words").digest() for name in names
        )
        return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, n)


def _of_seed(seed: int) -> bytes:
    return hashlib.sha256(f"querycloak/spark/{seed}".encode()).digest()
