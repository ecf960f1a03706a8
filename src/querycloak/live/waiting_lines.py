"""The lines of the records that wait, by running number: bytes in two arrays, and no Python object for each."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, require, take
from querycloak.live import _join_kernels as kernels

__all__ = ["WaitingLines"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LEAST_SLOTS: Final = 256
LEAST_BYTES: Final = 1 << 14


class WaitingLines:
    """Lines without their user, each with its asker, its kind, and whether the user was written without quotes."""

    def __init__(self) -> None:
        self.arrays = _empty(LEAST_SLOTS, LEAST_BYTES)
        """what the kernels work on, see `_join_kernels`"""

    def __len__(self) -> int:
        return int(self.arrays.counts[kernels.RECORDS])

    def __repr__(self) -> str:
        return f"WaitingLines({len(self):,})"

    @property
    def memory(self) -> int:
        """Bytes that they take."""
        return self.arrays.slots.nbytes + self.arrays.texts.nbytes

    def keep(self, fresh: kernels.Fresh, left: Bools) -> None:
        """Keep the lines of the records of a batch that have not left: left bool[n]."""
        self._make_room(*kernels.measure_staying(fresh.cuts, left))
        kernels.keep_lines(fresh, left, self.arrays)

    def forget(self, number: Int64s) -> None:
        """Forget records that were dropped: int64[n]."""
        kernels.forget_lines(self.arrays, number)

    def _make_room(self, records: int, size: int) -> None:
        """Make room for so many more records and bytes.

        What has left goes when the room is needed: then at least half of it is free afterwards, so that each byte is
        copied twice at most, on average, and memory is at most four times what waits.
        """
        slots, texts, counts = self.arrays
        wanted, live = int(counts[kernels.RECORDS]) + records, int(counts[kernels.LIVE]) + size
        if 2 * wanted <= len(slots) and int(counts[kernels.TOP]) + size + kernels.SLACK <= len(texts):
            return
        room = max(LEAST_SLOTS, 1 << (2 * wanted - 1).bit_length())
        self.arrays = _empty(room, max(LEAST_BYTES, 2 * live))
        kernels.move_waiting(slots, texts, self.arrays)

    def to_arrays(self, number: Int64s) -> Arrays:
        """Return what a checkpoint keeps of the records with these running numbers, in this order; not the askers."""
        slot = np.empty(len(number), dtype=np.int64)
        kernels.find_lines(self.arrays, number, slot)
        found, texts = self.arrays.slots[slot], self.arrays.texts
        begin, gap, end = (found[:, column] for column in (kernels.BEGIN, kernels.GAP, kernels.END))
        parts = [texts[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True)]
        return {
            "texts": np.concatenate([np.empty(0, dtype=np.uint8), *parts]),
            "lengths": np.stack([gap - begin, end - gap], axis=1).ravel(),
            "bare": (found[:, kernels.HOW] & 1).astype(np.uint8),
            "kind": (found[:, kernels.HOW] >> 1).astype(np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, number: Int64s, asker: Int32s, kinds: int) -> WaitingLines:
        """Return the lines of a checkpoint; BadStateError where the arrays are none. Running numbers are distinct."""
        n = len(number)
        texts = take(arrays, "texts", np.uint8)
        lengths = take(arrays, "lengths", np.int64, length=2 * n, low=0, high=len(texts))
        bare = take(arrays, "bare", np.uint8, length=n, high=1)
        kind = take(arrays, "kind", np.uint8, length=n, high=kinds - 1)
        ends = np.cumsum(lengths)  # at most 2^31 lengths below 2^63 / 2^31 each: no sum leaves 64 bits
        require((int(ends[-1]) if n else 0) == len(texts), "every byte belongs to a record that waits")
        rows = np.empty((n, kernels.SLOT_COLUMNS), dtype=np.int64)
        rows[:, kernels.NUMBER], rows[:, kernels.ASKER] = number, asker
        rows[:, kernels.BEGIN], rows[:, kernels.GAP], rows[:, kernels.END] = (
            (ends - lengths)[::2],
            ends[::2],
            ends[1::2],
        )
        rows[:, kernels.HOW] = 2 * kind.astype(np.int64) + bare
        made = cls()
        made._make_room(n, len(texts))
        kernels.move_waiting(rows, texts, made.arrays)
        return made


def _empty(slots: int, size: int) -> kernels.Waiting:
    """Return arrays in which nothing waits; `slots` is a power of two."""
    table = np.full((slots, kernels.SLOT_COLUMNS), kernels.FREE, dtype=np.int64)
    return kernels.Waiting(
        table, np.empty(size + kernels.SLACK, dtype=np.uint8), np.zeros(kernels.COUNTS, dtype=np.int64)
    )
