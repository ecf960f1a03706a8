"""Randomness by name: from one secret, the words of each user, item or block, whoever asks for them and how often.

Spark runs a task again where an executor was lost or is slow, and computes a lazy table again wherever it is asked for.
If a task asked the operating system for its randomness, the second run would draw something else: the gate could look
at one table and the writer publish another, and an attacker who saw both would learn from their difference. So the
driver draws 32 bytes once, from the source that a method is given (`randomness.py`), and everything random is a
function of (secret, name): a task that runs twice draws the same twice, whatever the partitions are. Words are BLAKE2b
with the secret as its key, a pseudo-random function: without the secret nobody can tell them from those of the
operating system. One machine draws ids in the same way, so that with a seed both publish the same table.

>>> ids = KeyedRandomness(Randomness(seed=7).child("ids"))
>>> ids.words(["ann", "bob"], 2).tolist() == ids.words(["bob", "ann"], 2)[::-1].tolist()
True
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["KeyedRandomness"]

SECRET_WORDS: Final = 4
WORDS_PER_DIGEST: Final = 8
"""64-bit words of one digest of BLAKE2b"""


class KeyedRandomness:
    """Random words by name. It is sent to executors as it is; its repr does not show the secret."""

    def __init__(self, source: Randomness) -> None:
        """Draw the secret from a source; a new purpose needs a new child of it."""
        self._secret = source.words(SECRET_WORDS).astype("<u8").tobytes()

    def __repr__(self) -> str:
        return "KeyedRandomness(secret)"

    def of(self, name: str) -> Randomness:
        """Return the source of one user, item or block: as many words as are wanted, in order."""
        key = hashlib.blake2b(name.encode(), key=self._secret, digest_size=32, person=b"of").digest()
        return Randomness(key=key)

    def words(self, names: Iterable[str], n: int = 1, turn: int = 0) -> npt.NDArray[np.uint64]:
        """Return n words of each name, at most 8: uint64[names, n]; cheaper than `of` for many names.

        Each `turn` has words of its own.
        """
        if not 1 <= n <= WORDS_PER_DIGEST:
            raise ValueError(f"a name has from 1 to {WORDS_PER_DIGEST} words, not {n}")
        secret, size, salt = self._secret, 8 * n, turn.to_bytes(16, "little")
        digests = b"".join(
            hashlib.blake2b(name.encode(), key=secret, digest_size=size, person=b"words", salt=salt).digest()
            for name in names
        )
        return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, n)

    def keys(self, names: Iterable[str]) -> npt.NDArray[np.uint32]:
        """Return the key of the stream of each name, for `arrays.keyed_streams`: uint32[names, 8]."""
        fresh = hashlib.blake2b(key=self._secret, digest_size=32, person=b"stream")
        digests = bytearray()
        for name in names:
            one = fresh.copy()
            one.update(name.encode())
            digests += one.digest()
        return np.frombuffer(bytes(digests), dtype="<u4").astype(np.uint32).reshape(-1, 8)

    def candidates(self, names: Iterable[str], turn: int = 0, *, digits: bool = False) -> list[str]:
        """Return the id that each name would have: 16 hexadecimal digits, or 12 decimal ones.

        Two names may have the same one; both then take that of the next turn (`identifiers`).
        """
        words = self.words(names, turn=turn)[:, 0].tolist()
        return [str(10**11 + word % (9 * 10**11)) for word in words] if digits else [f"{word:016x}" for word in words]

    def identifiers(
        self, names: Sequence[str], *, avoid: Collection[str] = frozenset(), digits: bool = False
    ) -> list[str]:
        """Return distinct ids of distinct names, none of them in `avoid`; the order of the names does not matter.

        A name whose candidate is another's too, or taken, or to be avoided, goes to the next turn.
        """
        out = dict.fromkeys(names, "")
        taken: set[str] = set()
        open_names, turn = list(names), 0
        while open_names:
            found = self.candidates(open_names, turn, digits=digits)
            often = Counter(found)
            good = {
                name: id_
                for name, id_ in zip(open_names, found, strict=True)
                if often[id_] == 1 and id_ not in taken and id_ not in avoid
            }
            out |= good
            taken |= set(good.values())
            open_names, turn = [name for name in open_names if name not in good], turn + 1
        return list(out.values())
