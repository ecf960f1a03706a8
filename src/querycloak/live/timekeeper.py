"""What the clock decides in a stream: which records have waited too long, and when an epoch of a length of time ends.

A run with a checkpoint must do the same again after a crash, and no clock says the same twice. So each decision is an
*event* at a running number, which is in the journal of the checkpoint, on disk, before anything that depends on it is
written; a run that goes on takes events from there as long as there are any, and only then looks at the clock. That
nothing was decided is an event, too: before records are published, the journal says how many had entered by then.

Within a process time is the monotonic clock's: a wall clock that is set, or jumps, changes nothing. Between two starts
there is only the wall clock: what passed between the save and the start counts as waiting, and less than nothing counts
as nothing. A wall clock that was set forward meanwhile makes records leave earlier, never later.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec

from querycloak.arrays.checks import Count, read_plain, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from querycloak.methods.stream.publishing_settings import PublishingSettings

__all__ = ["Event", "Timekeeper"]

LOOKS: Final = 64
"""Marks that are kept within the longest age: a record may wait longer by so much of it."""
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that the clock has decided."""

    number: Count
    """how many events came before it"""
    at: Count
    """how many records had entered"""
    kind: Literal["expire", "close", "pass", "end"]
    """records below `value` have waited too long; the open epoch, with the number `value`, ends; records are published
    that depend on all decisions so far; the last ones are, and nothing is decided any more"""
    value: Count = 0


class TimekeeperState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved."""

    events: Count
    wall: float
    """seconds since 1970, when it was saved"""
    marks: list[tuple[Seconds, Count]]
    """seconds ago, and how many records had entered then"""
    opened: Seconds | None
    """seconds ago that the open epoch had its first record; None = it has none"""
    ended: Count | None = None
    """how many records had entered when the last ones were published, by a start that was killed after that"""


class Timekeeper:
    """Decides by the clock, or by the journal of an earlier start."""

    def __init__(
        self,
        settings: PublishingSettings,
        *,
        by_clock: bool = True,
        journal: Callable[[Event], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`by_clock` = epochs of a length of time also end by the clock, as in a stream that may fall silent."""
        self._max_age = settings.max_age
        self._epoch_seconds = settings.epoch_seconds if by_clock else None
        self._journal = journal
        self._clock, self._wall = clock, wall
        self._marks: deque[tuple[float, int]] = deque()
        self._opened: float | None = None
        self._known: deque[Event] = deque()
        self._ended_at = -1
        self.events = 0
        """events so far"""

    def __repr__(self) -> str:
        return f"Timekeeper({self.events:,} events)"

    @property
    def is_idle(self) -> bool:
        """Nothing depends on the clock."""
        return self._max_age is None and self._epoch_seconds is None and not self._known

    def replay(self, events: Iterable[Event]) -> None:
        """Take the events of an earlier start that this one has still to come to."""
        last = 0
        for event in events:
            require(event.at >= last, "events are in their order")
            last = event.at
            if event.number >= self.events:
                require(event.number == self.events + len(self._known), "no event is missing")
                self._known.append(event)

    def known_until(self, entered: int) -> int | None:
        """Return after how many records the next known event is; None = there is none."""
        if self._known:
            require(self._known[0].at >= entered, "no event is of the past")
            return self._known[0].at
        return None

    def known(self, entered: int) -> list[Event]:
        """Return the known events after so many records, once."""
        out = []
        while self._known and self._known[0].at == entered:
            out.append(self._known.popleft())
            self.events += 1
            if out[-1].kind == "end":
                self._ended_at = entered
        return out

    @property
    def is_replaying(self) -> bool:
        """There are known events to come: the journal is still needed, whatever is saved meanwhile."""
        return bool(self._known)

    def publishes(self, entered: int, *, last: bool = False) -> None:
        """Note in the journal that records are published, after so many had entered: all of them, where the run ends.

        A run that goes on from before decides nothing until it is there again.
        """
        if self._journal is not None and not self._known and self._ended_at != entered:
            self._add(entered, "end" if last else "pass", 0)

    def entered(self, entered: int, *, epoch_has_records: bool) -> None:
        """Note that so many records have entered by now, and whether any of them in the open epoch."""
        now = self._clock()
        if self._max_age is not None:
            if len(self._marks) > 1 and now - self._marks[-2][0] < self._max_age / LOOKS:
                self._marks.pop()  # too near to the one before: the later of two is enough
            if not self._marks or self._marks[-1][1] != entered:
                self._marks.append((now, entered))
        if not epoch_has_records:
            self._opened = None
        elif self._opened is None:
            self._opened = now

    def decide(self, entered: int, epoch: int) -> list[Event]:
        """Return what the clock decides after so many records, in the journal already."""
        if self._known or self._ended_at == entered:
            return []
        now, found = self._clock(), []
        before = 0
        while self._max_age is not None and self._marks and now - self._marks[0][0] >= self._max_age:
            before = self._marks.popleft()[1]
        if before:
            found.append(("expire", before))
        if self._epoch_seconds is not None and self._opened is not None and now - self._opened >= self._epoch_seconds:
            self._opened = None
            found.append(("close", epoch))
        return [self._add(entered, kind, value) for kind, value in found]

    def _add(self, entered: int, kind: str, value: int) -> Event:
        """Make the next event, and have it in the journal."""
        event = Event(self.events, entered, kind, value)  # type: ignore[arg-type]
        if self._journal is not None:
            self._journal(event)
        self.events += 1
        return event

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` needs."""
        now = self._clock()
        marks = [(max(0.0, now - at), entered) for at, entered in self._marks]
        opened = None if self._opened is None else max(0.0, now - self._opened)
        ended = None if self._ended_at < 0 else self._ended_at
        return dict(msgspec.to_builtins(TimekeeperState(self.events, self._wall(), marks, opened, ended)))

    def from_state(self, plain: object, entered: int) -> None:
        """Go on after a save, when so many records had entered; BadStateError where the state is none."""
        said = read_plain(plain, TimekeeperState)
        ages, counts = [age for age, _ in said.marks], [n for _, n in said.marks]
        require(ages == sorted(ages, reverse=True) and counts == sorted(counts), "marks are in their order")
        require(all(n <= entered for n in counts), "marks are of records that entered")
        now, away = self._clock(), max(0.0, self._wall() - said.wall)
        require(said.ended is None or said.ended <= entered, "what ended had entered")
        self.events = said.events
        self._ended_at = -1 if said.ended is None else said.ended
        self._marks = deque((now - age - away, n) for age, n in said.marks)
        self._opened = None if said.opened is None else now - said.opened - away
