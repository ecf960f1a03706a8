"""Messages as the ends of a stream: what sources and sinks of all brokers have in common.

A message is a piece of a file: one or many whole lines; the end of the last line may be left out. Messages are read
together as long as a batch has room, and what is read does not depend on which ones came together: one that ends inside
a quote is read alone, so that its open quote is one bad record and never reaches into the next message.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from querycloak.errors import InputError, OutputError
from querycloak.live.brokers.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from querycloak.live.address import Address
    from querycloak.live.ends import Mark
    from querycloak.progress import Progress

__all__ = ["BAD_MESSAGE", "Message", "MessageSink", "MessageSource", "Outgoing", "Sizes", "split_lines"]

Message = tuple[Any, bytes]
"""Its position in the stream, and its lines."""
RECORDS: Final = 1000
"""Lines of a message that is sent, at most."""
BAD_MESSAGE: Final = b"\0\n"
"""What stands for a message that holds no lines: a bad line, so that `--on-error` decides about it."""
BURST: Final = 1 << 22
"""Bytes of messages that are on their way at once, about."""
TICK: Final = 0.2
"""Seconds after which a waiting run looks whether it was asked to stop."""


class Sizes:
    """How many messages to ask for, so that they fit into a piece.

    Sizes to come are not known: as many as would fit if all were as large as the largest of late, and at most twice as
    many as the last time.
    """

    def __init__(self, most: int) -> None:
        self._most, self._last, self._largest = most, 8, 0.0

    def ask(self, piece: int) -> int:
        """Return how many messages fit into so many bytes."""
        fitting = piece / self._largest if self._largest else 8.0
        self._last = int(min(max(fitting, 2), 2 * self._last, self._most))
        return self._last

    def came(self, messages: list[Message]) -> None:
        """Note how large messages are that came."""
        if messages:
            self._largest = max(0.9 * self._largest, *(float(len(data)) for _, data in messages), 1.0)


class MessageSource(ABC):
    """Takes messages in the order of the stream, from the one after `_position` on."""

    is_whole: Final = True

    def __init__(self, address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> None:
        self.name: object = address
        self.ended = False
        self.is_live = address.option("end", ("now", "never"), "never") == "never"
        self.piece = piece
        self.joins: Callable[[bytes], bool] = lambda _: True
        self._max_wait = max_wait
        self._patience = Patience(address, progress)
        self.asked = asked
        self._fetched: deque[Message] = deque()
        self._position: Any = None  # of the last message that was returned; None = none
        self._last = b""  # that message
        self._knows_end = False
        self._end: Any = None  # position at which the stream ended when we came; None = it was empty
        self._not_fetched: int | None = None  # messages that wait at the broker; None = it has not told
        self.ahead: frozenset[int] = frozenset()
        self._pauses: list[Any] = []  # positions of the last messages before a pause; None = before the first message

    @property
    def asked(self) -> list[int]:
        """Whether the run is to stop."""
        return self._asked

    @asked.setter
    def asked(self, asked: list[int]) -> None:
        self._asked = self._patience.asked = asked

    @property
    def pending(self) -> int | None:
        """How many messages wait."""
        return None if self._not_fetched is None else self._not_fetched + len(self._fetched)

    @property
    def reconnects(self) -> int:
        """How often the connection was lost."""
        return self._patience.reconnects

    def first_lines(self) -> bytes:
        """Wait for the first message: by it alone the layout is found, so that it is the same at every start."""
        while not self.asked and not self.ended:
            message = self._take(TICK)
            if message is not None and message.strip():
                return message
        return b""

    def next(self) -> bytes:
        """Return the lines of the next messages; none at the end, or where the user asked to stop."""
        parts: list[bytes] = []
        size, deadline = 0, 0.0
        while size < self.piece and not self.asked and not self.ended:
            if parts and self._still_ahead() != self.ahead:
                break
            self.ahead = self._still_ahead()
            wait = TICK if not parts else min(TICK, deadline - time.monotonic())
            if parts and wait <= 0:
                break
            if self._peek(wait) is None:
                continue
            together = self.joins(self._fetched[0][1])
            if parts and not together:
                break
            message = self._take(0)
            if message:
                deadline = deadline or time.monotonic() + self._max_wait
                parts.append(message)
                size += len(message)
            if not together:
                break
        return b"".join(parts)

    def _peek(self, wait: float) -> Message | None:
        """Return the next message, asking for it where needed."""
        if not self._fetched:
            self._note_end()
            if not self.ended:
                self._fetched.extend(self._patience(lambda: self.fetch(max(wait, 0.001)), self.reconnect))
        return self._fetched[0] if self._fetched else None

    def _take(self, wait: float) -> bytes | None:
        """Return the lines of the next message, with a line end."""
        if self._peek(wait) is None:
            return None
        self._position, self._last = self._fetched.popleft()
        return self._last if not self._last or self._last.endswith(b"\n") else self._last + b"\n"

    def _note_end(self) -> None:
        """Notice the end of a stream that is read as far as it reached when we came."""
        if not self.is_live and not self._fetched:
            if not self._knows_end:
                self._end = self._patience(self.last_position, self.reconnect)
                self._knows_end = True
            self.ended = self._end is None or (self._position is not None and self._position >= self._end)

    def _still_ahead(self) -> frozenset[int]:
        """Return which pauses come after the last message that was taken."""
        at = self._position
        return frozenset(i for i, end in enumerate(self._pauses) if end is not None and (at is None or at < end))

    def pause_at(self, marks: list[Mark]) -> None:
        """Return no messages from before and after one of these positions together."""
        self._pauses = [self.place_of(mark) for mark in marks]
        self.ahead = self._still_ahead()

    @abstractmethod
    def place_of(self, mark: Mark) -> Any:
        """Return the position of the last message that was read; None = none was."""

    @property
    def fetched_to(self) -> Any:
        """Position of the last message that was asked for."""
        return self._fetched[-1][0] if self._fetched else self._position

    def digest(self) -> str:
        """Return what the last message is known by."""
        return hashlib.sha256(self._last).hexdigest()[:32]

    def other_input(self, problem: str) -> InputError:
        """Return the error for a stream that is not what a state was made from."""
        return InputError.at(self.name, f"{problem}; the state of this run cannot go on with it")

    @abstractmethod
    def fetch(self, wait: float) -> list[Message]:
        """Return the next messages after `fetched_to`: what fits into a piece, or came within the wait."""

    @abstractmethod
    def last_position(self) -> Any:
        """Return the position of the last message of the stream; None = it is empty."""

    @abstractmethod
    def reconnect(self) -> None:
        """Connect again."""

    @abstractmethod
    def mark(self, unfinished: int) -> Mark:
        """Return the position."""

    @abstractmethod
    def wind_to(self, mark: Mark, sample: bytes) -> None:
        """Go on at a position."""

    def takes(self, target: str) -> bool:  # noqa: ARG002
        """Return False: a stream has one name."""
        return False

    def release(self) -> None:  # noqa: B027 - most brokers have nothing to do
        """Do nothing: the position is in the state."""

    @abstractmethod
    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the stream still ends there."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


class Outgoing(NamedTuple):
    """A message to be sent."""

    data: bytes
    end: int
    """bytes of the output after it"""
    check: int
    """CRC-32 of all of them: by it a run that goes on knows that what is there is the beginning of what it makes"""


class MessageSink(ABC):
    """Sends whole lines as messages, each with the position after it.

    Two positions are kept: what this process has made of the output, and what the broker has. After a crash the broker
    may have more: then lines are made again, compared with what is there by their CRC-32, and left out.
    """

    def __init__(self, address: Address, progress: Progress) -> None:
        self.name: object = address
        self.target = ""
        self.size = 0
        self.check = 0
        """CRC-32 of what the broker has"""
        self.joins: Callable[[bytes], bool] = lambda _: True
        self._patience = Patience(address, progress)
        self._note = progress.note
        self._made, self._made_check = 0, 0
        self.most_bytes = 1 << 20
        """bytes that a message may hold"""

    @property
    def asked(self) -> list[int]:
        """Whether the run is to stop."""
        return self._patience.asked

    @asked.setter
    def asked(self, asked: list[int]) -> None:
        self._patience.asked = asked

    @property
    def reconnects(self) -> int:
        """How often the connection was lost."""
        return self._patience.reconnects

    @property
    def is_behind(self) -> bool:
        """Whether the broker has more than was made."""
        return self._made < self.size

    def finish(self, *, ended: bool) -> None:
        """Refuse an end before the end of what is there."""
        if ended and self.is_behind:
            raise self._other_output()

    def at(self, written: int, check: int, size: int, there: int) -> int:
        """Go on after so many bytes with this check, where the broker has more of them; return the former."""
        self._made, self._made_check, self.size, self.check = written, check, size, there
        if size < written:
            raise self.lost(size, written)
        self._compare()
        return written

    def write(self, data: bytes | memoryview) -> None:
        """Send whole lines, and wait until the broker has them; what it has already is left out."""
        whole, begin = bytes(data), self._made
        while True:
            self._leave_out(whole, begin)
            rest = whole[self._made - begin :]
            if not rest:
                return
            for burst in self._bursts(rest):
                self.send(burst)
                if self.size != burst[-1].end:  # it took fewer, or had them already
                    break
                self._made, self._made_check = self.size, self.check

    def _leave_out(self, whole: bytes, begin: int) -> None:
        """Pass over what the broker has already."""
        known = whole[self._made - begin : max(self.size, self._made) - begin]
        self._made_check = zlib.crc32(known, self._made_check)
        self._made += len(known)
        self._compare()

    def _compare(self) -> None:
        """Refuse to go on where what is there is not what this run makes."""
        if self._made == self.size and self._made_check != self.check:
            raise self._other_output()

    def _other_output(self) -> OutputError:
        problem = "what is there is not what this run makes from its input: the input was changed, or the output"
        return OutputError(f"{self.name}: {problem}; nothing more was sent. Begin another run.")

    def _bursts(self, lines: bytes) -> Iterator[list[Outgoing]]:
        """Cut lines into messages, some of which are sent together."""
        end, check, size = self._made, self._made_check, 0
        burst: list[Outgoing] = []
        for message in split_lines(lines, self.most_bytes, self.joins):
            if len(message) > self.most_bytes:
                problem = f"a record of {len(message):,} bytes; the broker takes {self.most_bytes:,} in a message"
                raise OutputError(f"{self.name}: {problem}.")
            end, check, size = end + len(message), zlib.crc32(message, check), size + len(message)
            burst.append(Outgoing(message, end, check))
            if size >= BURST:
                yield burst
                burst, size = [], 0
        if burst:
            yield burst

    def digest(self) -> str:
        """Return nothing: messages are not one file."""
        return ""

    def lost(self, found: int, expected: int) -> OutputError:
        """Return the error for a broker that has less than it said it had."""
        problem = f"has {found:,} bytes of the output and had {expected:,}: the broker lost messages"
        return OutputError(f"{self.name}: {problem}; a run cannot go on from there: begin another one.")

    def fenced(self) -> OutputError:
        """Return the error for an output that another process writes to."""
        return OutputError(f"{self.name}: another process writes there; this one ends, and has sent nothing twice.")

    def other_run(self) -> OutputError:
        """Return the error for an output that is not ours."""
        problem = "has messages that are not of this run; to add a second release of one log tells more than one does"
        return OutputError(f"{self.name}: {problem}. Choose another output, or remove it.")

    @abstractmethod
    def send(self, burst: list[Outgoing]) -> None:
        """Send messages, the first of which begins at `size`, and move `size` and `check` to what is there then.

        It may take fewer, but not none; or find more, where a process that was killed had sent something that arrived
        only now.
        """


def split_lines(data: bytes, most_bytes: int, closed: Callable[[bytes], bool]) -> Iterator[bytes]:
    r"""Cut whole lines into messages: at most 1,000 lines and so many bytes, and none ends inside a quote.

    >>> list(split_lines(b"a\nbb\nccc\n", 5, lambda text: True))
    [b'a\nbb\n', b'ccc\n']
    """
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
    begin = at = 0
    while begin < len(data):
        stop = min(at + RECORDS, len(ends))
        room = int(np.searchsorted(ends, begin + most_bytes, side="right"))
        stop = max(at + 1, min(stop, room))
        while stop < len(ends) and not closed(data[begin : ends[stop - 1]]):
            stop += 1
        end = int(ends[stop - 1]) if stop < len(ends) else len(data)
        yield data[begin:end]
        begin, at = end, stop
