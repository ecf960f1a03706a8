"""A digest of what a log says, the same for two readings of the same rows.

It covers every value that a log holds, in the order of the rows: users as the reader normalised them, queries, times,
ranks, addresses, categories and columns without a role. It does not cover how the log lay in its file: format, names of
columns with a role, compression. Codes are numbered again by first appearance, so that words which no row uses, and the
order of a vocabulary, play no part.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from querycloak.logs.query_log import Codes, QueryLog

__all__ = ["content_digest"]

FORM: Final = b"querycloak log content 1"
"""Named first, so that a later form of this digest cannot be taken for this one."""


def content_digest(log: QueryLog) -> bytes:
    """Return the SHA-256 of what a log says.

    >>> from querycloak.logs.query_log import QueryLog
    >>> logs = [QueryLog.of(["ann"], [query]) for query in ("tea", "tea", "te")]
    >>> one, same, other = (content_digest(log) for log in logs)
    >>> one == same, one == other
    (True, False)
    """
    digest = hashlib.sha256()
    for part in _parts(log):
        digest.update(len(part).to_bytes(8, "little"))  # no part can pass for the end of the one before
        digest.update(part)
    return digest.digest()


def _parts(log: QueryLog) -> Iterator[bytes]:
    yield FORM
    yield len(log).to_bytes(8, "little")
    for codes, words in (
        (log.user, log.users),
        (log.query, log.queries),
        (log.url, log.urls),
        (log.category, log.categories),
    ):
        yield from (b"-",) if codes is None or words is None else _coded(codes, words)
    for name, numbers, kind in (("time", log.time, "<i8"), ("rank", log.rank, "<i4")):
        yield b"-" if numbers is None else name.encode() + np.ascontiguousarray(numbers, dtype=kind).tobytes()
    for column in [] if log.extra is None else log.extra.iter_columns():
        yield column.name.encode()
        yield column.is_null().to_numpy().tobytes()
        yield from _texts(_as_texts(column))


def _coded(codes: Codes, words: pl.Series) -> Iterator[bytes]:
    """Yield codes by first appearance, and the words they stand for."""
    first = np.full(len(words), len(codes), dtype=np.int64)  # int64[words], the first row of each
    known = np.flatnonzero(codes != NO_CODE)[::-1]
    first[codes[known]] = known  # of several rows of one word the last assignment is kept: the first row
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]  # int64[words in use]
    again = np.full(len(words) + 1, NO_CODE, dtype="<i4")  # code -1 reads the last entry
    again[order] = np.arange(len(order))
    yield again[codes].tobytes()
    yield from _texts(words.gather(order))


def _texts(words: pl.Series) -> Iterator[bytes]:
    """Yield the lengths of texts, and the texts one after the other."""
    yield words.str.len_bytes().to_numpy().astype("<i8").tobytes()
    yield "".join(words.to_list()).encode()


def _as_texts(column: pl.Series) -> pl.Series:
    import polars as pl

    return column.cast(pl.String).fill_null("")
