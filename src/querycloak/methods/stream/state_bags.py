"""Bags of the stream machines as plain arrays: written out in their order, and built again block after block.

A bag is three columns of a table: where its block begins in the arena, how many items it has, how many fit. A bag of
one item has no block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Arena", "items_of", "next_power_of_two", "positions_of", "within"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Arena:
    """The blocks of bags, one after the other. A bag of one item has no block: the item is kept in its place."""

    def __init__(self) -> None:
        self.top = 0
        self.largest = 0
        self._parts: list[Int32s] = []

    def bags(self, items: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> Int32s:
        """int32[bags, 3]: where, size, capacity of bags with these items, bag after bag."""
        capacity = np.zeros(len(sizes), dtype=np.int64)
        large = sizes > 1
        capacity[large] = np.maximum(4, 1 << np.ceil(np.log2(sizes[large])).astype(np.int64))
        begin = np.cumsum(capacity) - capacity
        first = np.cumsum(sizes, dtype=np.int64) - sizes
        block = np.zeros(int(capacity.sum()), dtype=np.int32)
        inside = np.repeat(large, sizes)
        block[(np.repeat(begin - first, sizes) + np.arange(len(items)))[inside]] = items[inside]
        out = np.zeros((len(sizes), 3), dtype=np.int32)
        out[large, 0] = self.top + begin[large]
        out[sizes == 1, 0] = items[first[sizes == 1]]
        out[:, 1], out[:, 2] = sizes, capacity
        self._parts.append(block)
        self.top += len(block)
        self.largest = max(self.largest, int(capacity.max(initial=0)))
        return out

    def joined(self) -> Int32s:
        """int32: all blocks."""
        return np.concatenate(self._parts)


def items_of(arena: Int32s, bags: Int32s, column: int) -> tuple[Int64s, Int32s]:
    """int64: the items of bags, bag after bag in their order; int32[bags]: how many each has."""
    where, size, capacity = (bags[:, column + i].astype(np.int64) for i in range(3))
    alone = np.repeat((capacity == 0), size)
    first = np.repeat(where - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
    items = arena[np.where(alone, 0, first)].astype(np.int64)
    items[alone] = np.repeat(where, size)[alone]
    return items, size.astype(np.int32)


def positions_of(slots: Int64s, rows: int) -> Int32s:
    """int32[rows]: the position of each slot."""
    out = np.full(rows, -1, dtype=np.int32)
    out[slots] = np.arange(len(slots))
    return out


def within(group: npt.NDArray[Any]) -> Int64s:
    """int64[n]: position of each within its group, of groups that are sorted."""
    begin = np.flatnonzero(np.diff(group, prepend=-1))
    return np.arange(len(group)) - np.repeat(begin, np.diff(np.append(begin, len(group))))


def next_power_of_two(least: int) -> int:
    """Return the smallest power of two that is not below a number."""
    return 1 << (least - 1).bit_length()
