"""Classes: how many published users share each published log, from the release alone.

>>> from querycloak.logs.query_log import QueryLog
>>> class_sizes(QueryLog.of(["a", "a", "b", "b", "c"], ["x", "y", "y", "x", "x"])).tolist()
[2, 2, 1]
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.pairs import number_pairs

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import QueryLog

__all__ = ["class_of", "class_sizes", "distinct_logs"]


def class_sizes(published: QueryLog, *, ordered: bool = False) -> npt.NDArray[np.int64]:
    """int64[published users]: how many users have the same bag of rows (all columns but the user), the user included.

    What makes two bags the same is said at `class_of`.
    """
    of = class_of(published, ordered=ordered)
    return np.bincount(of).astype(np.int64)[of]


def class_of(published: QueryLog, *, ordered: bool = False) -> npt.NDArray[np.int64]:
    """int64[published users]: the class of each, numbered by its first user; users without a row are one class.

    With `ordered` the rows must be in the same order, too: whoever reads the table sees that.
    A bag is compared by the sum of two keyed 64-bit hashes over its rows, so nothing is sorted. Two different bags are
    taken for equal with a probability of about 2^-100; the keys are new on each call, so nobody can prepare a pair.
    """
    user, rows = published.user, _row_codes(published)
    if (
        len(user) and (np.diff(user) < 0).any()
    ):  # a release is ordered by user; any other log is brought into that order
        order = np.argsort(user, kind="stable")
        user, rows = user[order], rows[order]
    present, first, length = np.unique(user, return_index=True, return_counts=True)
    position = np.arange(len(user), dtype=np.uint64) - np.repeat(first, length).astype(np.uint64)
    sums = np.zeros((len(published.users), 2), dtype=np.uint64)
    for column in range(2 if len(user) else 0):
        key = np.frombuffer(os.urandom(8), dtype=np.uint64)[0]
        words = _mixed(rows, key)
        sums[present, column] = np.add.reduceat(_mixed(words + position, key) if ordered else words, first)
    _, first_user, of = np.unique(sums, axis=0, return_index=True, return_inverse=True)
    # by the first user: hashes have random keys, and their order would be another each time
    number = np.empty(len(first_user), dtype=np.int64)
    number[np.argsort(first_user)] = np.arange(len(first_user))
    return number[of.ravel()]


def distinct_logs(published: QueryLog) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return int64[published users], the distinct log of each, and int64[distinct logs], the first user of each.

    >>> from querycloak.logs.query_log import QueryLog
    >>> of, first = distinct_logs(QueryLog.of(["a", "a", "b", "c", "c"], ["x", "y", "x", "y", "x"]))
    >>> of.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    of = class_of(published)
    return of, np.unique(of, return_index=True)[1].astype(np.int64)


def _row_codes(published: QueryLog) -> npt.NDArray[np.uint64]:
    """uint64[rows]: equal for rows with the same query, category and further columns."""
    code = (published.query.astype(np.int64) + 1).astype(np.uint64)  # a missing one is 0, and leaves the high half free
    if published.category is not None:
        code |= (published.category.astype(np.int64) + 1).astype(np.uint64) << np.uint64(32)
    columns = [c.astype(np.int64) for c in (published.time, published.rank, published.url) if c is not None]
    if published.extra is not None:
        ranks = (column.rank("dense").fill_null(0) for column in published.extra.get_columns())
        columns += [rank.to_numpy().astype(np.int64) for rank in ranks]
    for further in columns:
        code = number_pairs(code, further)[0].astype(np.uint64)
    return code


def _mixed(words: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.uint64]:
    """Mix 64-bit words with a key (the finalizer of splitmix64)."""
    out = words + key
    out ^= key >> np.uint64(7)
    for factor, shift in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
        out ^= out >> np.uint64(shift)
        out *= np.uint64(factor)
    out ^= out >> np.uint64(31)
    return out
