"""Ids made of a secret key, a user and a period: whoever has the key makes the same ones, in any order and any process.

An id is BLAKE2b, keyed with 32 secret bytes, of the period and the user's id. Without the key nobody can tell ids from
random ones, or the ids of one user in two periods from those of two users. With 16 hexadecimal digits two
of a million ids are the same once in tens of millions of periods; with 16 decimal ones, where users are numbers, once
in sixteen thousand.

>>> ids = KeyedIds(bytes(32), digits=True)
>>> ids.width, len(ids.of([b"17", b"18"], 3)), ids.of([b"17"], 3) == ids.of([b"17"], 4)
(16, 32, False)
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from querycloak.randomness import Randomness

__all__ = ["KeyedIds", "id_key"]

KEY_BYTES: Final = 32
DIGITS: Final = 16
LEAST: Final = 10**15
ROOM: Final = 8 * 10**15
"""Decimal ids are LEAST and the ROOM numbers after it: all of them below 2^53, so that every reader of JSON keeps them
apart."""
HEX: Final = 16


def id_key(random: Randomness) -> bytes:
    """Return the key of a run: the first words of a source of its own."""
    return random.words(KEY_BYTES // 8).astype("<u8").tobytes()


class KeyedIds:
    """The ids of one key."""

    def __init__(self, key: bytes, *, digits: bool) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self._base = blake2b(key=key, digest_size=8, person=b"querycloak ids")
        self.digits = digits
        self.width = DIGITS if digits else HEX

    def __repr__(self) -> str:
        return f"KeyedIds({self.width} {'decimal' if self.digits else 'hexadecimal'} digits)"

    def of(self, users: Iterable[bytes], period: int) -> bytes:
        """Return the ids of users in a period, each of `width` bytes, after each other."""
        head = self._base.copy()
        head.update(period.to_bytes(8, "little", signed=True))
        if not self.digits:
            return b"".join([self._digest(head, user).hex().encode() for user in users])
        # The 2^64 values are shared out over 8 * 10^15 ids: some have one more of about 2,300 than others, which tells
        # nothing of the user.
        return b"".join([b"%d" % (LEAST + int.from_bytes(self._digest(head, user)) % ROOM) for user in users])

    @staticmethod
    def _digest(head: blake2b, user: bytes) -> bytes:
        made = head.copy()
        made.update(user)
        return made.digest()
