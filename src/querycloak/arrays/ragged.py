"""Rows of varying length in two flat arrays, and rows of counted values in three.

    start   [0, 2, 2, 5]         row r is values[start[r] : start[r + 1]]
    values  [7, 9,   4, 4, 8]    row 0 = [7, 9], row 1 is empty, row 2 = [4, 4, 8]

Both classes are named tuples of arrays, so kernels take them as one argument. They hold what users asked, members of
groups, or, inverted, the users of each query.

>>> rows = Ragged.of(np.array([2, 0, 2, 0, 2]), np.array([4, 7, 4, 9, 8]), rows=3)
>>> rows.to_lists()
[[7, 9], [], [4, 4, 8]]
>>> rows.take(np.array([2, 2, 1])).to_lists()
[[4, 4, 8], [4, 4, 8], []]
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CountedRows", "Ragged", "row_starts"]

Ints = npt.NDArray[np.integer[Any]]
Int64s = npt.NDArray[np.int64]


def row_starts(lengths: Ints) -> Int64s:
    """Return int64[n + 1], where each row begins, and where the last one ends.

    >>> row_starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


class Ragged(NamedTuple):
    """n rows of varying length.

    `len()` of a named tuple is its number of fields; the number of rows is `rows`.
    """

    start: Int64s
    """int64[n + 1], ascending from 0"""
    values: npt.NDArray[Any]
    """T[m], the values of all rows, one row after the other"""

    @classmethod
    def of(cls, owner: Ints, value: npt.NDArray[Any], rows: int) -> Ragged:
        """Put each value into the row of its owner, 0 .. rows - 1, in the order in which the values come."""
        positions = cls.positions(owner, rows)
        return cls(positions.start, value[positions.values])

    @classmethod
    def positions(cls, owner: Ints, rows: int) -> Ragged:
        """Return the positions at which each owner occurs, ascending: what `of` sorts by.

        >>> Ragged.positions(np.array([1, 0, 1]), rows=2).to_lists()
        [[1], [0, 2]]
        """
        return cls(row_starts(np.bincount(owner, minlength=rows)), np.argsort(owner, kind="stable"))

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[Any]], dtype: npt.DTypeLike) -> Ragged:
        """Lay plain lists out as rows."""
        start = row_starts(np.fromiter(map(len, lists), np.int64, len(lists)))
        return cls(start, np.fromiter((value for row in lists for value in row), dtype, int(start[-1])))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.start) - 1

    @property
    def lengths(self) -> Int64s:
        """int64[n]: how many values each row has."""
        return np.diff(self.start)

    @property
    def owner(self) -> Int64s:
        """int64[m]: the row of each value."""
        return np.repeat(np.arange(self.rows), self.lengths)

    def row(self, r: int) -> npt.NDArray[Any]:
        """Return one row, as a view."""
        return self.values[self.start[r] : self.start[r + 1]]

    def take(self, which: Ints) -> Ragged:
        """Return rows by number, each as often as it is named, in the order named."""
        start, index = _taken(self.start, which)
        return Ragged(start, self.values[index])

    def ascending(self) -> Ragged:
        """Return the rows with their values in ascending order."""
        return Ragged(self.start, self.values[np.lexsort((self.values, self.owner))])

    def distinct(self) -> Ragged:
        """Keep each value once per row. The rows must be ascending.

        >>> Ragged(np.array([0, 3, 4]), np.array([4, 4, 8, 8])).distinct().to_lists()
        [[4, 8], [8]]
        """
        owner = self.owner
        first = np.ones(len(self.values), dtype=np.bool_)
        first[1:] = (self.values[1:] != self.values[:-1]) | (owner[1:] != owner[:-1])
        return Ragged(row_starts(np.bincount(owner[first], minlength=self.rows)), self.values[first])

    def inverted(self, width: int) -> Ragged:
        """Return the rows that hold each value 0 .. width - 1, ascending: an inverted index.

        >>> Ragged(np.array([0, 2, 3]), np.array([0, 2, 2])).inverted(width=3).to_lists()
        [[0], [], [0, 1]]
        """
        return Ragged.of(self.values, self.owner.astype(np.int32), width)

    def sums(self, amount: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Add up one amount per value by row: T[n], 0 for an empty row.

        >>> Ragged(np.array([0, 2, 2, 3]), np.array([7, 9, 4])).sums(np.array([1, 10, 100])).tolist()
        [11, 0, 100]
        """
        out = np.zeros(self.rows, dtype=amount.dtype)
        full = np.flatnonzero(self.lengths)  # reduceat returns a neighbour's value for an empty row
        if len(full):
            out[full] = np.add.reduceat(amount, self.start[full])
        return out

    def to_lists(self) -> list[list[Any]]:
        """Return the rows as plain lists."""
        return [self.values[a:b].tolist() for a, b in pairwise(self.start.tolist())]


class CountedRows(NamedTuple):
    """n rows of distinct values, ascending, each with how often it occurs.

    >>> CountedRows.of(np.array([1, 0, 1, 1]), np.array([7, 3, 2, 7]), rows=2)[1:]
    (array([3, 2, 7], dtype=int32), array([1, 1, 2]))
    """

    start: Int64s
    """int64[n + 1], as in `Ragged`"""
    values: npt.NDArray[np.int32]
    """int32[m], distinct and ascending within a row"""
    counts: Int64s
    """int64[m], at least 1"""

    @classmethod
    def of(cls, owner: Ints, value: Ints, rows: int) -> CountedRows:
        """Count equal (owner, value) pairs; values are 0 or more."""
        width = int(value.max(initial=0)) + 1
        pairs, counts = np.unique(owner.astype(np.int64) * width + value, return_counts=True)
        start = np.searchsorted(pairs, np.arange(rows + 1, dtype=np.int64) * width).astype(np.int64)
        return cls(start, (pairs % width).astype(np.int32), counts.astype(np.int64))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.start) - 1

    @property
    def uncounted(self) -> Ragged:
        """The rows without the counts."""
        return Ragged(self.start, self.values)

    @property
    def lengths(self) -> Int64s:
        """int64[n]: how many distinct values each row has."""
        return np.diff(self.start)

    @property
    def owner(self) -> Int64s:
        """int64[m]: the row of each value."""
        return self.uncounted.owner

    def take(self, which: Ints) -> CountedRows:
        """Return rows by number, each as often as it is named, in the order named."""
        start, index = _taken(self.start, which)
        return CountedRows(start, self.values[index], self.counts[index])

    def keep(self, kept: npt.NDArray[np.bool_]) -> CountedRows:
        """Leave out the values that are not marked in bool[m]."""
        return CountedRows(row_starts(kept.astype(np.int64))[self.start], self.values[kept], self.counts[kept])

    def inverted(self, width: int) -> CountedRows:
        """Return the rows that hold each value 0 .. width - 1, with the same counts.

        >>> CountedRows(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([5, 6, 7])).inverted(width=2)[1:]
        (array([0, 0, 1], dtype=int32), array([5, 6, 7]))
        """
        positions = Ragged.positions(self.values, width)
        owner = self.owner[positions.values].astype(np.int32)
        return CountedRows(positions.start, owner, self.counts[positions.values])


def _taken(start: Int64s, which: Ints) -> tuple[Int64s, Int64s]:
    """Return the starts of the rows named, and the index of each of their values in the old array."""
    first, lengths = start[:-1][which], np.diff(start)[which]
    taken = row_starts(lengths)
    return taken, np.arange(taken[-1]) + np.repeat(first - taken[:-1], lengths)
