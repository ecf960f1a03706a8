"""The two ends of a stream: what a run asks of a source and of a sink, whether they are files, pipes or brokers.

A run is drawn once (ADR 150): the same input gives the same output, byte for byte, whatever the batches and however
often it was killed. So each end only has to know its position:

- a **source** says after each batch where it is (`mark`), and can go back there (`wind_to`). What was read is released
  at the broker (`release`) only once a state that contains it is on disk.
- a **sink** knows how much of the output it has. A run that goes on from an older state makes the same output again,
  and the sink leaves out what it has already: nothing is lost, and nothing is there twice.

A mark is what a state keeps: plain values that JSON can hold, and no secret. It comes back from a file, so whoever
reads it checks it (`BadStateError`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Mark", "Sink", "Source"]

Mark = dict[str, Any]


class Source(Protocol):
    """Where records come from."""

    name: object
    """what messages show: a path, or an address without credentials"""
    is_live: bool
    """more may come at any time"""

    @property
    def is_whole(self) -> bool:
        """Whether each batch ends with a whole record, as messages do; else a record may go on in the next one."""

    ended: bool
    """nothing comes any more"""
    piece: int
    """bytes returned at once, about"""
    asked: list[int]
    """holds something as soon as the run is to stop: then nobody waits for more"""
    joins: Callable[[bytes], bool]
    """whether a message may be read together with others; False where it ends inside a quote"""

    @property
    def pending(self) -> int | None:
        """How many messages wait; None where that is not known."""

    @property
    def reconnects(self) -> int:
        """How often the connection was lost."""

    def first_lines(self) -> bytes:
        """Wait for at least one whole line, and return it with what came with it."""

    def next(self) -> bytes:
        """Return the next bytes; none at the end, or where the user asked to stop."""

    def mark(self, unfinished: int) -> Mark:
        """Return the position of all that was returned, but for so many bytes of a line that is not whole yet."""

    def wind_to(self, mark: Mark, sample: bytes) -> None:
        """Go on at a position; InputError where this is not the input that began with `sample` and was read so far."""

    ahead: frozenset[int]
    """which of the marks to pause at come after what was returned last; before that, after where it goes on"""

    def place_of(self, mark: Mark) -> Any:
        """Return a position as something that can be compared."""

    def pause_at(self, marks: list[Mark]) -> None:
        """Return no bytes from before and after one of these positions together; `ahead` is known from now on."""

    def release(self) -> None:
        """Note that a state with the last mark is on disk: what it contains is not asked for again."""

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the input still ends where it did when its run was finished."""

    def takes(self, target: str) -> bool:
        """Tell whether what a sink with this target sends comes back here."""

    def close(self) -> None:
        """Let go of what is open."""


class Sink(Protocol):
    """Where lines go."""

    name: object
    asked: list[int]
    """holds the number of a signal as soon as the run is to stop: then nobody waits for a broker that is away"""
    joins: Callable[[bytes], bool]
    """whether a text ends with a whole record, and may be sent on its own"""
    size: int
    """bytes of the output that are there, over all starts of the run; those on the way count"""
    target: str
    """what a source of the same broker knows it by; empty = the address tells"""

    @property
    def reconnects(self) -> int:
        """How often the connection was lost."""

    @property
    def is_behind(self) -> bool:
        """Whether what was written is only what was there before a crash."""

    def begin(self, mark: Mark | None, run: str, *, again: bool) -> None:
        """Go on at a position, None = the first byte: what is written from now on comes after it.

        `again` = this run may have written here before.

        Where the sink holds more, that much is left out. `run` names this run and no other: OutputError where the sink
        holds less than the mark says, or the output of another run.
        """

    def write(self, data: bytes | memoryview) -> None:
        """Write whole lines; back only when that much more may come, so that memory stays bounded."""

    def finish(self, *, ended: bool) -> None:
        """Let the output end here: for good, or until the same run goes on."""

    def sync(self) -> Mark:
        """Have all on the disk, or at the broker; return the position of what was written, not of what is there."""

    def digest(self) -> str:
        """Return the SHA-256 of all that was written."""

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the output is as long as when its run was finished."""

    def close(self) -> None:
        """Let go of what is open."""
