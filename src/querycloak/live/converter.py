"""From records to records: what enters the engine, and the lines of what leaves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, Count, part, prefixed, read_plain, require, take
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live import _join_kernels as join
from querycloak.live.publisher import Leaving, Publisher
from querycloak.live.reader import Reader
from querycloak.live.timekeeper import Timekeeper
from querycloak.live.waiting_lines import WaitingLines
from querycloak.logs.durations import round_down
from querycloak.logs.query_log import MISSING_TIME
from querycloak.methods.stream import engine_state
from querycloak.methods.stream.delays import BUCKETS, Delays
from querycloak.methods.stream.stream_texts import KINDS
from querycloak.releases.checks import check_departures

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.live.reader import Batch
    from querycloak.live.sharding import Sharding
    from querycloak.live.timekeeper import Event
    from querycloak.logs.layout import Layout
    from querycloak.logs.problems import Problems
    from querycloak.methods.stream.engine import Departures
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
    """What one batch, or the clock, let out."""

    data: memoryview
    """lines, ready to be written"""
    user: Int64s
    """int64[n]: code of each record's published user"""
    asker: Int32s
    """int32[n]: code of the user who asked"""
    delay: Int64s
    """int64[n]: records that entered after it and before it was published"""
    named: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    """ids of an epoch or a day that were not published before: the code of the user, and the first row with it"""

    @classmethod
    def joined(cls, parts: list[Published]) -> Published:
        """Return all of them as one."""
        if len(parts) == 1:
            return parts[0]
        empty = np.zeros(0, dtype=np.int64)
        begin = np.cumsum([0, *(len(part.user) for part in parts)]).tolist()
        return cls(
            memoryview(b"".join(part.data for part in parts)),
            np.concatenate([empty, *(part.user for part in parts)]),
            np.concatenate([empty.astype(np.int32), *(part.asker for part in parts)]),
            np.concatenate([empty, *(part.delay for part in parts)]),
            {
                text: (code, first + row)
                for first, part in zip(begin, parts, strict=False)
                for text, (code, row) in part.named.items()
            },
        )


class ConverterState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved of a converter next to its arrays."""

    before: Count
    left: Count
    dropped: Count
    total_delay: Count
    longest_delay: Count
    fewest: Annotated[int, msgspec.Meta(ge=0, le=NONE_LEFT)]
    engine: dict[str, Any]
    reader: dict[str, Any]
    publisher: dict[str, Any]
    timekeeper: dict[str, Any]


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
        sharding: Sharding | None = None,
    ) -> None:
        """`taxonomy` is called when the label of a concept is looked for; `safe_csv` is that of the reader.

        `sharding`: which part of the stream is taken; None = all of it.
        """
        self.engine = settings.engine(method, random.child("engine"))
        self.reader = Reader(
            layout,
            settings,
            self.engine.tree,
            random.child("ids"),
            problems,
            taxonomy,
            safe_csv=safe_csv,
            sharding=sharding,
        )
        self._sharding = sharding
        self.before = 0
        """running numbers that were used up before this shard took over what waits; its own records come after"""
        self.left = 0
        self.delays = Delays()
        self.fewest = NONE_LEFT
        self.seen = np.zeros(0, dtype=np.bool_)
        """bool[users]: whether a user's id has been published"""
        self.kinds = np.zeros(KIND_COUNT, dtype=np.int64)
        """int64[3]: how many records have left as a whole query, a phrase, a label"""
        self.dropped = 0
        """records that waited too long"""
        secret = None if sharding is None else sharding.secret
        self.publisher = Publisher(layout, settings, random, self.reader.users, problems, secret)
        self.timekeeper = Timekeeper(settings)
        self._epoch_records = settings.epoch_records
        self._waiting = WaitingLines()
        self._ids = self.reader.id_table()

    def __repr__(self) -> str:
        return f"Converter({self.engine!r}, {self.reader!r})"

    @property
    def kept(self) -> int:
        """How many records have left into the open epoch."""
        return self.publisher.kept

    @property
    def published_ids(self) -> int:
        """How many different ids were published."""
        return self.publisher.published_ids if self.publisher.changes_ids else int(self.seen.sum())

    def push(self, batch: Batch) -> Published:
        """Let the records of a batch enter, and write those that leave."""
        if batch.users > len(self.seen):
            self.seen = np.concatenate([self.seen, np.zeros(batch.users - len(self.seen), dtype=np.bool_)])
        self._ids = (batch.ids, batch.id_width)
        if self._sharding is not None and self.publisher.changes_ids:
            self.publisher.digits = self.reader.digits
        parts: list[Published] = []
        has_times = self.reader.reads_times  # where nobody asks for times there are none
        present = batch.time.copy() if has_times else batch.time  # what the clock shows, of the first `seen` records
        at, seen, size = 0, 0, len(batch.user)
        while True:
            self._apply(self.timekeeper.known(self.engine.entered), parts)
            if at == size:
                break
            if at == seen:  # until the next event, which may end the first epoch
                event = self.timekeeper.known_until(self.engine.entered)
                seen = size if event is None else min(size, at + event - self.engine.entered)
                if has_times:
                    present[at:seen] = self.publisher.presents(batch.time[at:seen], self.engine.entered)
            end = self._until(present[:seen], at, parts)
            self._enter(batch, at, end, parts)
            if has_times:
                self.publisher.follow(present[at:end])
            if self.engine.entered - self.publisher.begin == self._epoch_records:
                self._close(parts)
            at = end
        return self._joined(parts)

    def tick(self) -> Published:
        """Do what the clock asks for, now."""
        parts: list[Published] = []
        if not self.timekeeper.is_idle:
            entered = self.engine.entered
            has_records = entered > self.publisher.begin or self.publisher.kept > 0
            self.timekeeper.entered(entered, epoch_has_records=has_records)
            self._apply(self.timekeeper.decide(entered, self.publisher.epoch), parts)
        return Published.joined(parts)

    def finish(self) -> Published:
        """Let the last epoch out: nothing comes any more."""
        parts: list[Published] = []
        if self.publisher.settings.epoch is not None:
            self._close(parts)
        return self._joined(parts, last=True)

    def _joined(self, parts: list[Published], *, last: bool = False) -> Published:
        """Return what leaves; where that is something, the journal says that it does."""
        out = Published.joined(parts)
        if len(out.user):
            self.timekeeper.publishes(self.engine.entered, last=last)
        return out

    def _until(self, present: Int64s, at: int, parts: list[Published]) -> int:
        """Return the end of the records that enter before an epoch ends; close an epoch before."""
        publisher, end = self.publisher, len(present)
        if self._epoch_records is not None:
            end = min(end, at + publisher.begin + self._epoch_records - self.engine.entered)
        if publisher.settings.epoch_seconds is not None:
            period = round_down(present[at:end], publisher.settings.epoch or "")
            if publisher.time != MISSING_TIME and int(period[0]) > publisher.time:
                self._close(parts)
            if publisher.time == MISSING_TIME:
                publisher.follow(present[at : at + 1])
            known = period != MISSING_TIME
            if known.any():
                later = np.flatnonzero(known & (period != period[known][0]))
                end = at + int(later[0]) if len(later) else end
        return end

    def _enter(self, batch: Batch, begin: int, end: int, parts: list[Published]) -> None:
        """Let some records of a batch enter."""
        first, user = self.engine.entered, batch.user[begin:end]
        out = self.engine.push_codes(user, batch.node[begin:end])
        data = np.frombuffer(batch.data, dtype=np.uint8)
        fresh = join.Fresh(data, batch.cuts[begin:end], user, batch.kind[begin:end], first)
        self._leave(out, fresh, parts)

    def _leave(self, out: Departures, fresh: join.Fresh, parts: list[Published]) -> None:
        """Write what leaves, and keep the lines of what entered and waits."""
        self.fewest = min(self.fewest, int(out.candidates.min(initial=NONE_LEFT)))
        left = np.zeros(len(fresh.user), dtype=np.bool_)
        asker = np.empty(len(out), dtype=np.int32)
        ids, width = self._ids
        found = (asker, self.kinds)
        data = join.join_lines(fresh, self._waiting.arrays, out.record, out.user, ids, width, left, found)
        check_departures(self.engine.k, asker, out.user, out.candidates)  # the gate: nothing is written yet
        if len(out.dropped_record):
            self.dropped += len(out.dropped_record)
            is_new = out.dropped_record >= fresh.first
            left[out.dropped_record[is_new] - fresh.first] = True
            self._waiting.forget(out.dropped_record[~is_new])
        self._waiting.keep(fresh, left)
        if not self.publisher.rewrites:
            self._count(out.user, out.delay)
            parts.append(Published(data.data, out.user, asker, out.delay))
            return
        leaving = Leaving(data.tobytes(), out.user, asker, out.record)
        if self.publisher.settings.epoch is not None:
            self.publisher.keep(leaving)
            return
        written, named = self.publisher.write(leaving)
        self._count(out.user, out.delay)
        parts.append(Published(memoryview(written.data), written.user, written.asker, out.delay, named))

    def _close(self, parts: list[Published]) -> None:
        """Close the open epoch."""
        entered = self.engine.entered
        found, named = self.publisher.close(entered)
        check_departures(0, found.asker, found.user, np.zeros(len(found), dtype=np.int64))
        delay = entered - 1 - found.record
        self._count(found.user, delay)
        parts.append(Published(memoryview(found.data), found.user, found.asker, delay, named))

    def _count(self, user: Int64s, delay: Int64s) -> None:
        """Count records that are published."""
        self.left += len(user)
        self.delays.add(delay)
        join.mark_seen(user, self.seen)

    def _apply(self, events: list[Event], parts: list[Published]) -> None:
        """Do what the clock has decided."""
        entered = self.engine.entered
        for event in events:
            require(event.at == entered, "events are of their records")
            if event.kind == "expire":
                require(event.value <= entered, "only what has entered has waited")
                self._leave(self.engine.expire(event.value), _nothing_new(entered), parts)
            elif event.kind == "close":
                publisher = self.publisher
                require(publisher.settings.epoch_seconds and event.value == publisher.epoch, "an epoch ends once")
                self._close(parts)

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what `from_state` needs: the engine, the reader, and the bytes of what waits."""
        engine, about_engine = engine_state.to_state(self.engine)
        reader, about_reader = self.reader.to_state()
        published, about_publisher = self.publisher.to_state()
        arrays = {
            **prefixed("engine", engine),
            **prefixed("reader", reader),
            **prefixed("waiting", self._waiting.to_arrays(engine["number"])),
            **prefixed("publisher", published),
            "kinds": self.kinds.copy(),
            "delays": self.delays.counts.copy(),
            "seen": self.seen.astype(np.uint8),
        }
        delays = (self.delays.total, self.delays.longest)
        plain = ConverterState(
            self.before,
            self.left,
            self.dropped,
            *delays,
            self.fewest,
            about_engine,
            about_reader,
            about_publisher,
            self.timekeeper.to_state(),
        )
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
        askers = np.asarray(engine["asker"], dtype=np.int32)
        self._waiting = WaitingLines.from_arrays(part("waiting", arrays), engine["number"], askers, KIND_COUNT)
        self.kinds = take(arrays, "kinds", np.int64, length=KIND_COUNT, low=0).copy()
        known = self.reader.users  # the reader's own, which its state has replaced
        self.publisher.from_state(part("publisher", arrays), said.publisher, known, self.engine.entered)
        self.timekeeper.from_state(said.timekeeper, self.engine.entered)
        require(int(self.kinds.sum()) == said.left + self.publisher.kept, "each record that left was of one kind")
        gone = said.before + said.left + self.publisher.kept + said.dropped + self.engine.waiting
        require(gone == self.engine.entered, "what entered has left, was dropped, or waits")
        delays = take(arrays, "delays", np.int64, length=BUCKETS, low=0, high=said.left)
        require(int(delays.sum()) == said.left, "each record that left had one delay")
        self.delays = Delays.from_state(delays, said.total_delay, said.longest_delay)
        self.before, self.left, self.dropped, self.fewest = said.before, said.left, said.dropped, said.fewest
        if users > len(self.seen):
            self.seen = np.concatenate([self.seen, np.zeros(users - len(self.seen), dtype=np.bool_)])
        self._ids = self.reader.id_table()


def _nothing_new(entered: int) -> join.Fresh:
    """Return a batch without records, after so many."""
    none = np.zeros(0, dtype=np.int32)
    cuts = np.zeros((0, join.CUTS), dtype=np.int32)
    return join.Fresh(np.zeros(0, dtype=np.uint8), cuts, none, np.zeros(0, dtype=np.int8), entered)
