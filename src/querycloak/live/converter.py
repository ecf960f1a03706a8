"""From records to records: what enters the engine, and the lines of what leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, Count, part, prefixed, read_plain, require, take
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live import _join_kernels as join
from querycloak.live.reader import Reader
from querycloak.methods.stream import engine_state
from querycloak.methods.stream.delays import BUCKETS, Delays
from querycloak.methods.stream.stream_texts import KINDS
from querycloak.releases.checks import check_departures

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.live.reader import Batch
    from querycloak.logs.layout import Layout
    from querycloak.logs.problems import Problems
    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.randomness import Randomness

__all__ = ["Converter", "Published"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

KIND_COUNT: Final = len(KINDS)
NONE_LEFT: Final = 1 << 62
"""Fewest candidates while no record has left."""


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What one batch let out."""

    data: memoryview
    """lines, ready to be written"""
    user: Int64s
    """int64[n]: code of each record's published user"""
    asker: Int32s
    """int32[n]: code of the user who asked"""


class ConverterState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved of a converter next to its arrays."""

    left: Count
    total_delay: Count
    longest_delay: Count
    fewest: Annotated[int, msgspec.Meta(ge=0, le=NONE_LEFT)]
    engine: dict[str, Any]
    reader: dict[str, Any]


class Converter:
    """The engine, the reader of its records, and the bytes of the records that wait.

    A batch may be converted while the next one is read: what the reader adds to (users, ids, the tree) the converter
    only looks up, and what is there never changes.
    """

    def __init__(
        self,
        layout: Layout,
        method: str,
        settings: StreamSettings,
        random: Randomness,
        problems: Problems,
        taxonomy: Callable[[], Taxonomy] = load_wordnet,
        *,
        safe_csv: bool = False,
    ) -> None:
        """`taxonomy` is called when the label of a concept is looked for; `safe_csv` is that of the reader."""
        self.engine = settings.engine(method, random.child("engine"))
        self.reader = Reader(
            layout, settings, self.engine.tree, random.child("ids"), problems, taxonomy, safe_csv=safe_csv
        )
        self.left = 0
        self.delays = Delays()
        self.fewest = NONE_LEFT
        self.seen = np.zeros(0, dtype=np.bool_)
        """bool[users]: whether a user's id has been published"""
        self.kinds = np.zeros(KIND_COUNT, dtype=np.int64)
        """int64[3]: how many records have left as a whole query, a phrase, a label"""
        # before and after the user, bare, asker, kind
        self._waiting: dict[int, tuple[bytes, bytes, bool, int, int]] = {}

    def __repr__(self) -> str:
        return f"Converter({self.engine!r}, {self.reader!r})"

    def push(self, batch: Batch) -> Published:
        """Let the records of a batch enter, and write those that leave."""
        first, user = self.engine.entered, batch.user
        out = self.engine.push_codes(user, batch.node)
        if batch.users > len(self.seen):
            self.seen = np.concatenate([self.seen, np.zeros(batch.users - len(self.seen), dtype=np.bool_)])
        self.left += len(out)
        self.delays.add(out.delay)
        self.fewest = min(self.fewest, int(out.candidates.min(initial=NONE_LEFT)))
        self.seen[out.user] = True

        record = out.record - first
        stored, cuts, kinds = self._waited(out.record[record < 0])
        self.kinds += np.bincount(batch.kind[record[record >= 0]], minlength=KIND_COUNT)
        self.kinds += np.bincount(kinds, minlength=KIND_COUNT)
        left = np.zeros(len(user), dtype=np.bool_)
        asker = np.empty(len(out), dtype=np.int32)
        fresh = (np.frombuffer(batch.data, dtype=np.uint8), batch.cuts, user)
        data = join.join_lines(fresh, (stored, cuts), record, out.user, batch.ids, batch.id_width, left, asker)
        check_departures(self.engine.k, asker, out.user, out.candidates)  # the gate: nothing is written yet
        self._keep(batch, np.flatnonzero(~left), first)
        return Published(data.data, out.user, asker)

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what `from_state` needs: the engine, the reader, and the bytes of what waits."""
        engine, about_engine = engine_state.to_state(self.engine)
        reader, about_reader = self.reader.to_state()
        waiting = [self._waiting[number] for number in engine["number"].tolist()]
        lengths = [len(text) for before, after, *_ in waiting for text in (before, after)]
        texts = b"".join(text for before, after, *_ in waiting for text in (before, after))
        arrays = {
            **prefixed("engine", engine),
            **prefixed("reader", reader),
            "waiting.texts": np.frombuffer(texts, dtype=np.uint8),
            "waiting.lengths": np.array(lengths, dtype=np.int64),
            "waiting.bare": np.array([bare for _, _, bare, _, _ in waiting], dtype=np.uint8),
            "waiting.kind": np.array([kind for *_, kind in waiting], dtype=np.uint8),
            "kinds": self.kinds.copy(),
            "delays": self.delays.counts.copy(),
            "seen": self.seen.astype(np.uint8),
        }
        delays = (self.delays.total, self.delays.longest)
        plain = ConverterState(self.left, *delays, self.fewest, about_engine, about_reader)
        return arrays, msgspec.to_builtins(plain)

    def from_state(self, arrays: Arrays, plain: dict[str, Any]) -> None:
        """Bring a new converter of the same layout, settings and seed into a saved state.

        BadStateError where the state contradicts itself: kernels look up users and nodes without checking their codes.
        """
        said = read_plain(plain, ConverterState)
        engine = part("engine", arrays)
        engine_state.from_state(self.engine, engine, said.engine)
        self.reader.from_state(part("reader", arrays), said.reader)
        users = len(self.reader.users)
        for name in ("asker", "holder"):
            take(engine, name, np.int32, high=users - 1)
        self.seen = take(arrays, "seen", np.uint8, high=1).astype(np.bool_)
        require(len(self.seen) <= users, "only users that are known are published")
        n = self.engine.waiting
        texts = take(arrays, "waiting.texts", np.uint8).tobytes()
        lengths = take(arrays, "waiting.lengths", np.int64, length=2 * n, low=0, high=len(texts))
        bare = take(arrays, "waiting.bare", np.uint8, length=n, high=1)
        kind = take(arrays, "waiting.kind", np.uint8, length=n, high=KIND_COUNT - 1)
        self.kinds = take(arrays, "kinds", np.int64, length=KIND_COUNT, low=0).copy()
        require(int(self.kinds.sum()) == said.left, "each record that left was of one kind")
        delays = take(arrays, "delays", np.int64, length=BUCKETS, low=0, high=said.left)
        require(int(delays.sum()) == said.left, "each record that left had one delay")
        self.delays = Delays.from_state(delays, said.total_delay, said.longest_delay)
        ends = np.cumsum(lengths)  # at most 2^31 lengths below 2^63 / 2^31 each: no sum leaves 64 bits
        require((int(ends[-1]) if n else 0) == len(texts), "every byte belongs to a record that waits")
        cuts = [0, *ends.tolist()]
        for i, number in enumerate(engine["number"].tolist()):
            before, after = texts[cuts[2 * i] : cuts[2 * i + 1]], texts[cuts[2 * i + 1] : cuts[2 * i + 2]]
            self._waiting[number] = (before, after, bool(bare[i]), int(engine["asker"][i]), int(kind[i]))
        self.left, self.fewest = said.left, said.fewest

    def _waited(self, records: Int64s) -> tuple[Bytes, Int64s, Int64s]:
        """Return the bytes of records from earlier batches, which leave now, where the parts of each begin; kinds."""
        cuts = np.empty((len(records), 5), dtype=np.int64)
        kinds = np.zeros(len(records), dtype=np.int64)
        parts: list[bytes] = []
        at = 0
        for i, record in enumerate(records.tolist()):
            before, after, bare, asker, kinds[i] = self._waiting.pop(record)
            gap = at + len(before)
            cuts[i] = (at, gap, gap + len(after), bare, asker)
            parts += (before, after)
            at = gap + len(after)
        return np.frombuffer(b"".join(parts), dtype=np.uint8), cuts, kinds

    def _keep(self, batch: Batch, stay: Int64s, first: int) -> None:
        """Keep the bytes of the records that wait."""
        data, askers, kinds = batch.data, batch.user[stay].tolist(), batch.kind[stay].tolist()
        for i, asker, kind, cuts in zip(stay.tolist(), askers, kinds, batch.cuts[stay].tolist(), strict=True):
            begin, user_begin, user_end, end, bare = cuts
            self._waiting[first + i] = (data[begin:user_begin], data[user_end:end], bool(bare), asker, kind)
