"""Sweeping within the stream: a query that too few users have asked so far, or with an identifier, does not enter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, require, take
from querycloak.methods.stream._sweep_kernels import count_users, keep_pairs
from querycloak.texts.identifiers import find_identifiers

if TYPE_CHECKING:
    from querycloak.methods.stream.stream_statement import StreamSettings

__all__ = ["PERSONAL", "AskedEnough", "is_personal", "rare_name", "sweeps"]

Int32s = npt.NDArray[np.int32]

PERSONAL = "personal identifier"
"""Why a record was left out."""


def rare_name(least: int) -> str:
    """Say why a record was left out: its query was too rare when it came."""
    return f"asked by fewer than {least} users so far"


def sweeps(settings: StreamSettings) -> bool:
    """Tell whether anything is to be swept."""
    return settings.identifiers or settings.min_query_users > 1


class AskedEnough:
    """Which records ask what at least `least` distinct users have asked so far, counting the record's own.

    The counts look back and never forward: what is let in does not depend on what comes later, and a query that is let
    in once is let in ever after.

    >>> asked = AskedEnough(2)
    >>> asked.tell(np.array([0, 0, 0, 1, 0], np.int32), np.array([7, 7, 8, 7, 7], np.int32)).tolist()
    [False, False, True, False, True]
    """

    def __init__(self, least: int) -> None:
        self.least = least
        self._users = np.zeros(1024, dtype=np.int32)
        self._pairs = np.zeros(1024, dtype=np.uint64)
        self._used = np.zeros(1, dtype=np.int64)

    def tell(self, query: Int32s, user: Int32s) -> npt.NDArray[np.bool_]:
        """bool[n]: of records in their order, by codes of query and user, both >= 0."""
        queries = int(query.max(initial=-1)) + 1
        if queries > len(self._users):
            self._users = np.concatenate([self._users, np.zeros(2 * queries - len(self._users), dtype=np.int32)])
        enough = np.zeros(len(query), dtype=np.bool_)
        done = 0
        while True:
            done += count_users(
                query[done:], user[done:], self.least, self._users, self._pairs, self._used, enough[done:]
            )
            if done == len(query):
                return enough
            self._make_room()

    def to_arrays(self) -> Arrays:
        """Return the counts of users by query, and the pairs of query and user that are still needed, sorted."""
        users = self._users[: int(np.max(np.flatnonzero(self._users), initial=-1)) + 1].copy()
        pairs = self._pairs[self._pairs != 0]
        few = users[(pairs >> np.uint64(32)).astype(np.int64) - 1] < self.least
        return {"users": users, "pairs": np.sort(pairs[few])}

    def restore(self, arrays: Arrays, queries: int, users: int) -> None:
        """Go on from `to_arrays`, with so many queries and users known; BadStateError where that cannot be."""
        counts = take(arrays, "users", np.int32, low=0, high=self.least)
        pairs = take(arrays, "pairs", np.uint64)
        query = (pairs >> np.uint64(32)).astype(np.int64) - 1
        user = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
        require(len(counts) <= queries, "only queries that are known were asked")
        require((query >= 0).all() and (query < len(counts)).all() and (user < users).all(), "pairs are of known codes")
        require(len(np.unique(pairs)) == len(pairs), "each pair is there once")
        few = counts < self.least
        require(few[query].all(), "pairs are of queries that few have asked")
        found = np.bincount(query, minlength=len(counts))
        require(np.array_equal(found[few], counts[few]), "each user of a query that few have asked is there")
        self._users = counts.copy() if len(counts) else np.zeros(1024, dtype=np.int32)
        self._pairs = np.zeros(max(1024, 1 << (4 * len(pairs)).bit_length()), dtype=np.uint64)
        self._used[0] = keep_pairs(pairs, self._users, self.least, self._pairs)

    def _make_room(self) -> None:
        """Forget the pairs of queries that have enough users; where that is not much, take twice the room."""
        kept = np.zeros(len(self._pairs), dtype=np.uint64)
        self._used[0] = keep_pairs(self._pairs, self._users, self.least, kept)
        if 4 * int(self._used[0]) > len(kept):
            larger = np.zeros(2 * len(kept), dtype=np.uint64)
            keep_pairs(kept, self._users, self.least, larger)
            kept = larger
        self._pairs = kept


def is_personal(queries: list[str]) -> npt.NDArray[np.bool_]:
    """bool[n]: whether a query holds what looks like a mail address, a phone number or the like."""
    import polars as pl

    found: npt.NDArray[np.bool_] = find_identifiers(pl.Series(queries, dtype=pl.String)) != 0
    return found
