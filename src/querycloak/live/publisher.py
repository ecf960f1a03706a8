"""How lines that have left are published: in epochs, with coarser times, under ids of a period.

Lines come from the converter as they would leave without all this, with ids of the run. Here they are split once more
to find their users and times, and written with other ones, in the order in which they are to leave. The lines of an
open epoch are kept until it is closed; all of them then have one time, that of the epoch.

The *present* is the newest time of all records that have entered, of those that are believed
(`methods/stream/clock.py`). The time of an epoch is the present at its first record; where epochs are lengths of time,
the begin of that length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, Count, read_plain, require, take
from querycloak.live import _join_kernels as join
from querycloak.logs import _records_kernels as records
from querycloak.logs.durations import DAY, round_down
from querycloak.logs.query_log import MISSING_TIME
from querycloak.logs.records import COLUMNS, RecordReader
from querycloak.logs.time_texts import known_pattern, read_times, write_times
from querycloak.methods.stream.clock import Clock
from querycloak.methods.stream.keyed_ids import KeyedIds, id_key

if TYPE_CHECKING:
    import polars as pl

    from querycloak.arrays.vocabulary import Vocabulary
    from querycloak.live.secret import IdSecret
    from querycloak.logs.layout import Layout
    from querycloak.logs.problems import Problems
    from querycloak.logs.query_log import Times
    from querycloak.logs.records import RecordBatch
    from querycloak.methods.stream.publishing_settings import PublishingSettings
    from querycloak.randomness import Randomness

__all__ = ["Leaving", "Publisher"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

TIME: Final = COLUMNS["time"]
DAYS_KNOWN: Final = 366
"""Days, the last that came, of which it is known who had an id: a bit per user and day. Of others an id may be counted
twice."""
NO_DAY: Final = -(1 << 44)
"""The day of records without a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Leaving:
    """Lines that leave, in their order."""

    data: bytes
    user: Int64s
    """int64[n]: code of each record's new user"""
    asker: Int32s
    """int32[n]: code of the user who asked"""
    record: Int64s
    """int64[n]: running numbers"""

    @classmethod
    def joined(cls, parts: list[Leaving]) -> Leaving:
        """Return all of them as one."""
        empty = np.zeros(0, dtype=np.int64)
        return cls(
            b"".join(part.data for part in parts),
            np.concatenate([empty, *(part.user for part in parts)]),
            np.concatenate([empty.astype(np.int32), *(part.asker for part in parts)]),
            np.concatenate([empty, *(part.record for part in parts)]),
        )

    def __len__(self) -> int:
        return len(self.user)


class PublisherState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved of a publisher next to its arrays."""

    epoch: Count
    begin: Count
    time: Annotated[int, msgspec.Meta(ge=MISSING_TIME, lt=1 << 60)]
    clock: list[Annotated[int, msgspec.Meta(ge=MISSING_TIME, lt=1 << 60)]]
    published_ids: Count
    digits: bool | None
    words: Count | None
    days: list[Annotated[int, msgspec.Meta(ge=-(1 << 45), lt=1 << 45)]]


class Publisher:
    """The open epoch, and who has which id in which period."""

    def __init__(
        self,
        layout: Layout,
        settings: PublishingSettings,
        random: Randomness,
        users: Vocabulary,
        problems: Problems,
        secret: IdSecret | None = None,
    ) -> None:
        """`secret`: what shards make their ids of; None = ids are this run's own."""
        self.settings = settings
        self.has_time = any(column.role == "time" for column in layout.form.columns)
        self.epoch = 0
        """number of the open epoch"""
        self.begin = 0
        """running number of its first record"""
        self.time = int(MISSING_TIME)
        self.clock = Clock(settings)
        self._shown = int(MISSING_TIME)
        self.published_ids = 0
        self.digits: bool | None = None
        """ids of periods are decimal numbers"""
        self._random = random.child("epochs")
        self._shares_ids = secret is not None
        self._key = id_key(random.child("period ids")) if secret is None else secret.period_key
        self._users = users
        self._open: list[Leaving] = []
        self._days: dict[int, Bytes] = {}  # one bit per user: has had an id; the last used is the last
        self._splitter = RecordReader(layout, problems, collect=False, times=self.has_time)
        self._pattern = known_pattern(layout)

    def __repr__(self) -> str:
        return f"Publisher(epoch {self.epoch:,}, {self.kept:,} records kept)"

    @property
    def changes_ids(self) -> bool:
        """Ids are those of an epoch or a day."""
        return self.settings.ids in {"epoch", "day"}

    @property
    def rewrites(self) -> bool:
        """Lines are not published as they come here."""
        settings = self.settings
        return settings.epoch is not None or settings.time_grain is not None or self.changes_ids

    @property
    def kept(self) -> int:
        """How many records have left into the open epoch."""
        return sum(len(part) for part in self._open)

    @property
    def present(self) -> int:
        """What the clock showed after the records that `follow` was told of."""
        return self._shown

    def presents(self, time: Times, entered: int) -> Times:
        """Return what the clock shows after each of some records, the next ones, when so many have entered."""
        if self.settings.epoch is None:
            return time
        return self.clock.follow(time, in_epoch=entered - self.begin if self.epoch == 0 else None)

    def follow(self, present: Times) -> None:
        """Note what the clock shows after each of some records: int64[n]; the open epoch has its first known time.

        Where it was turned back, the open epoch has the time that it was turned back to.
        """
        known = present[np.searchsorted(present != MISSING_TIME, 1) :]
        if len(known):
            before = known[0] if self._shown == MISSING_TIME else self._shown
            turned = np.flatnonzero(np.diff(known, prepend=before) < 0)
            if len(turned):
                self.time = self._begin_of(int(known[turned[-1]]))
            elif self.time == MISSING_TIME:
                self.time = self._begin_of(int(known[0]))
            self._shown = int(known[-1])

    def _begin_of(self, time: int) -> int:
        """Return the time of an epoch that begins at this one."""
        if self.settings.epoch_seconds is None or time == MISSING_TIME:
            return time
        return int(round_down(np.array([time]), self.settings.epoch or "")[0])

    def keep(self, leaving: Leaving) -> None:
        """Keep lines until the open epoch is closed."""
        if len(leaving):
            self._open.append(leaving)

    def close(self, entered: int) -> tuple[Leaving, dict[bytes, tuple[int, int]]]:
        """Close the open epoch, after so many records have entered; return its lines, shuffled, and their new ids."""
        found = Leaving.joined(self._open)
        self._open = []
        order = self._random.permutation(len(found))
        if self.time == MISSING_TIME:  # no record entered in it: it has what waited for too long alone
            self.time = self._begin_of(self._shown)
        out = self.write(found, order)
        self.epoch += 1
        self.begin, self.time = entered, int(MISSING_TIME)
        return out

    def write(self, leaving: Leaving, order: Int64s | None = None) -> tuple[Leaving, dict[bytes, tuple[int, int]]]:
        """Return lines as they are published; and ids of a period that are new among them: their user and first row."""
        if not len(leaving):
            return leaving, {}
        order = np.arange(len(leaving)) if order is None else order
        found = self._splitter.split(leaving.data)
        if len(found.rows) != len(leaving) or (found.status != records.GOOD).any():
            raise ValueError("lines that leave cannot be split again")
        cuts, time = _cuts(found)[order], np.full(len(order), MISSING_TIME, dtype=np.int64)
        span, written = cuts[:, join.USER_BEGIN : join.USER_END + 1].copy(), None
        if self.has_time:
            came = self._splitter.texts(found, TIME).gather(order)
            known, way = read_times(came, self._pattern)
            time = self._published_times(known)
            if ((time == MISSING_TIME) & (known != MISSING_TIME)).any():
                raise ValueError("a time that is known cannot be written as it is to be published")
            if self.settings.epoch is not None or self.settings.time_grain is not None:
                span = np.ascontiguousarray(found.spans[order, 2 * TIME : 2 * TIME + 2])
                written = write_times(time, way, came)
        data, cuts = _replaced(found.data, cuts, span, written)
        out = Leaving(data, leaving.user[order], leaving.asker[order], leaving.record[order])
        return self._with_ids(out, cuts, time) if self.changes_ids else (out, {})

    def _published_times(self, time: Times) -> Times:
        """Return the times under which records with these are published; a missing one stays missing."""
        if self.settings.epoch is not None:
            time = np.where(time == MISSING_TIME, MISSING_TIME, self.time)
        return time if self.settings.time_grain is None else round_down(time, self.settings.time_grain)

    def _with_ids(self, leaving: Leaving, cuts: Int32s, time: Times) -> tuple[Leaving, dict[bytes, tuple[int, int]]]:
        """Write the ids of the period in place of those of the run."""
        if self.digits is None:
            self.digits = self._users.text(0).isdigit()
        ids = KeyedIds(self._key, digits=self.digits)
        # Epochs of a time are the same ones in all shards, whatever their number is there.
        timed = self._shares_ids and self.settings.epoch_seconds is not None and self.time != MISSING_TIME
        period = np.full(len(leaving), self.time if timed else self.epoch, dtype=np.int64)
        if self.settings.ids == "day":
            period = np.where(time == MISSING_TIME, NO_DAY, time // DAY)
        begin = np.empty(len(leaving), dtype=np.int64)
        texts: list[bytes] = []
        new: dict[bytes, tuple[int, int]] = {}
        size = 0
        for which in np.unique(period).tolist():
            rows = np.flatnonzero(period == which)
            users, first, inverse = np.unique(leaving.user[rows], return_index=True, return_inverse=True)
            made = ids.of((self._users.text(code) for code in users.tolist()), which)
            begin[rows] = size + ids.width * inverse
            texts.append(made)
            size += len(made)
            for i in self._first_seen(which, users).tolist():
                new[made[ids.width * i : ids.width * (i + 1)]] = (int(users[i]), int(rows[first[i]]))
        self.published_ids += len(new)
        source = np.frombuffer(b"".join(texts), dtype=np.uint8)
        span = cuts[:, join.USER_BEGIN : join.USER_END + 1].copy()
        quotes = np.zeros(len(leaving), dtype=np.uint8)
        room = np.empty(len(leaving.data) + ids.width * len(leaving), dtype=np.uint8)
        used = join.replace_queries(
            np.frombuffer(leaving.data, dtype=np.uint8),
            cuts,
            span,
            (source, begin, begin + ids.width, quotes),
            room,
            cuts.copy(),
        )
        return Leaving(room[:used].tobytes(), leaving.user, leaving.asker, leaving.record), new

    def _first_seen(self, period: int, users: Int64s) -> Int64s:
        """Return which of some users have no published id of this period yet; now they have."""
        if self.settings.ids == "epoch":
            return np.arange(len(users))
        seen = self._days.pop(period, None)
        if seen is None:
            seen = np.zeros(0, dtype=np.uint8)
            if len(self._days) == DAYS_KNOWN:
                del self._days[next(iter(self._days))]
        at = users >> 3
        if len(seen) <= at[-1]:
            seen = np.concatenate([seen, np.zeros(int(at[-1]) + 1 - len(seen), dtype=np.uint8)])
        bit = np.left_shift(1, users & 7).astype(np.uint8)
        first = np.flatnonzero(seen[at] & bit == 0)
        np.bitwise_or.at(seen, at, bit)
        self._days[period] = seen
        return first

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what `from_state` needs."""
        kept = Leaving.joined(self._open)
        arrays: Arrays = {
            "lines": np.frombuffer(kept.data, dtype=np.uint8),
            "user": kept.user,
            "asker": kept.asker,
            "record": kept.record,
        }
        for i, seen in enumerate(self._days.values()):
            arrays[f"day{i}"] = seen.copy()
        words = self._random.position if self._random.repeats else None
        numbers = (self.epoch, self.begin, self.time, self.clock.to_state(), self.published_ids)
        return arrays, msgspec.to_builtins(PublisherState(*numbers, self.digits, words, list(self._days)))

    def from_state(self, arrays: Arrays, plain: dict[str, Any], known: Vocabulary, entered: int) -> None:
        """Bring a new publisher, with these known users, into a saved state; BadStateError where that cannot be one."""
        said = read_plain(plain, PublisherState)
        self._users, users = known, len(known)
        n = len(take(arrays, "record", np.int64))
        lines = take(arrays, "lines", np.uint8).tobytes()
        kept = Leaving(
            lines,
            take(arrays, "user", np.int64, length=n, low=0, high=users - 1).copy(),
            take(arrays, "asker", np.int32, length=n, low=0, high=users - 1).copy(),
            take(arrays, "record", np.int64, length=n, low=0, high=entered - 1).copy(),
        )
        require(n == 0 or self.settings.epoch is not None, "only epochs keep lines")
        require(len(np.unique(kept.record)) == n, "each record leaves once")
        require((kept.asker != kept.user).all(), "no record leaves under its asker")
        require(said.begin <= entered, "the open epoch has begun")
        found = self._splitter.split(lines)
        sound = len(found.rows) == n and bool((found.status == records.GOOD).all())
        require(sound and (n == 0 or int(found.rows[-1, records.END]) == len(lines)), "kept lines are records")
        self._open = [kept] if n else []
        self.epoch, self.begin, self.time = said.epoch, said.begin, said.time
        self.clock.from_state(said.clock)
        self._shown = self.clock.present
        self.published_ids, self.digits = said.published_ids, said.digits
        require(len(set(said.days)) == len(said.days) <= DAYS_KNOWN, "each day is there once")
        for i, day in enumerate(said.days):
            seen = take(arrays, f"day{i}", np.uint8).copy()
            require(not np.unpackbits(seen, bitorder="little")[users:].any(), "only users that are known are published")
            self._days[day] = seen
        if self._random.repeats:
            require(said.words is not None, "a run that can be repeated says how many random words it drew")
            self._random.wind_to(said.words or 0)


def _cuts(found: RecordBatch) -> Int32s:
    """Return where lines, and the users in them, begin and end."""
    cuts = np.zeros((len(found.rows), join.CUTS), dtype=np.int32)
    cuts[:, join.LINE_BEGIN], cuts[:, join.LINE_END] = found.rows[:, records.BEGIN], found.rows[:, records.END]
    cuts[:, join.USER_BEGIN] = found.spans[:, 2 * records.USER]
    cuts[:, join.USER_END] = found.spans[:, 2 * records.USER + 1]
    return cuts


def _replaced(data: bytes, cuts: Int32s, span: Int32s, texts: pl.Series | None) -> tuple[bytes, Int32s]:
    """Return lines in the order of their cuts, with other texts at their spans; a null, or None for all, stays."""
    n = len(cuts)
    written = [None] * n if texts is None else texts.to_list()
    plain = [b"" if text is None else text.encode() for text in written]
    ends = np.cumsum([len(text) for text in plain], dtype=np.int64)
    begin = ends - np.array([len(text) for text in plain], dtype=np.int64)
    begin[[i for i, text in enumerate(written) if text is None]] = -1
    source = np.frombuffer(b"".join(plain), dtype=np.uint8)
    room = np.empty(len(data) + len(source), dtype=np.uint8)
    moved = cuts.copy()
    array = np.frombuffer(data, dtype=np.uint8)
    used = join.replace_queries(array, cuts, span, (source, begin, ends, np.zeros(n, dtype=np.uint8)), room, moved)
    return room[:used].tobytes(), moved
