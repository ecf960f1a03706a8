"""From records to records: what enters the engine, and the lines of what leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.live import _lines_kernels as lines
from querycloak.live.reader import Reader

if TYPE_CHECKING:
    from querycloak.live.layout import Layout
    from querycloak.live.problems import Problems
    from querycloak.live.reader import Batch
    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.randomness import Randomness

__all__ = ["Converter", "Published"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What one batch let out."""

    data: memoryview
    """lines, ready to be written"""
    user: Int64s
    """int64[n]: code of each record's published user"""
    asker: Int32s
    """int32[n]: code of the user who asked"""


class Converter:
    """The engine with what surrounds it: the reader of the records, and the bytes of those that wait.

    A batch may be converted while the next one is read: what the reader adds to (users, ids, the tree) the converter
    only looks up, and what is there never changes.
    """

    def __init__(
        self, layout: Layout, method: str, settings: StreamSettings, random: Randomness, problems: Problems
    ) -> None:
        self.engine = settings.engine(method, random.child("engine"))
        self.reader = Reader(layout, settings, self.engine.tree, random.child("ids"), problems)
        self.left = 0
        self.total_delay = 0
        self.fewest = 1 << 62
        self.seen = np.zeros(0, dtype=np.bool_)
        """bool[users]: whether a user's id has been published"""
        self._waiting: dict[int, tuple[bytes, bytes, bool, int]] = {}  # before and after the user, bare, asker

    def __repr__(self) -> str:
        return f"Converter({self.engine!r}, {self.reader!r})"

    def push(self, batch: Batch) -> Published:
        """Let the records of a batch enter, and write those that leave."""
        first, user = self.engine.entered, batch.user
        out = self.engine.push_codes(user, batch.node)
        if batch.users > len(self.seen):
            self.seen = np.concatenate([self.seen, np.zeros(batch.users - len(self.seen), dtype=np.bool_)])
        self.left += len(out)
        self.total_delay += int(out.delay.sum())
        self.fewest = min(self.fewest, int(out.candidates.min(initial=1 << 62)))
        self.seen[out.user] = True

        record = out.record - first
        stored, places = self._waited(out.record[record < 0])
        left = np.zeros(len(user), dtype=np.bool_)
        asker = np.empty(len(out), dtype=np.int32)
        fresh = (np.frombuffer(batch.data, dtype=np.uint8), batch.spans, user)
        data = lines.join_lines(fresh, (stored, places), record, out.user, batch.ids, batch.id_width, left, asker)
        self._keep(batch, np.flatnonzero(~left), first)
        return Published(data.data, out.user, asker)

    def _waited(self, records: Int64s) -> tuple[Bytes, Int64s]:
        """Return the bytes of records from earlier batches, which leave now, and where things stand in them."""
        places = np.empty((len(records), 5), dtype=np.int64)
        parts: list[bytes] = []
        at = 0
        for i, record in enumerate(records.tolist()):
            before, after, bare, asker = self._waiting.pop(record)
            gap = at + len(before)
            places[i] = (at, gap, gap + len(after), bare, asker)
            parts += (before, after)
            at = gap + len(after)
        return np.frombuffer(b"".join(parts), dtype=np.uint8), places

    def _keep(self, batch: Batch, stay: Int64s, first: int) -> None:
        """Keep the bytes of the records that wait."""
        data, askers = batch.data, batch.user[stay].tolist()
        for i, asker, span in zip(stay.tolist(), askers, batch.spans[stay].tolist(), strict=True):
            begin, end, user_begin, user_end = span[:4]
            bare = not span[lines.FLAGS] & lines.QUOTED
            self._waiting[first + i] = (data[begin:user_begin], data[user_end:end], bare, asker)
