"""Bytes of several sources at the same time: a thread reads each, and a short queue holds what came.

A file is followed: its end is where more may come. A pipe or a broker is read as the stream itself reads it.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import TYPE_CHECKING, Final, Protocol

from querycloak.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Bytes", "GrowingFile", "Pump"]

TICK: Final = 0.05
"""Seconds after which the end of a file is looked at again."""
PIECE: Final = 1 << 20
PIECES: Final = 4
"""Pieces that wait at most: a quick source waits for whoever works on them."""
QUIET: Final = 1.0
"""Seconds without anything after which a pipe or a broker is taken to have nothing more for now."""


class Bytes(Protocol):
    """What is read: a file that grows, or a source of a stream."""

    name: object
    asked: list[int]
    ended: bool

    def next(self) -> bytes:
        """Return the next bytes; none at the end, or where the user asked to stop."""

    def close(self) -> None:
        """Let go of what is open."""


class GrowingFile:
    """A file that somebody writes to; it never ends. One that is not there yet is waited for.

    One that got shorter is waited for, too: a stream that goes on after a crash cuts its files back to the last state,
    and writes the same bytes again (ADR 150).
    """

    def __init__(self, path: Path, asked: list[int]) -> None:
        self.name: object = path
        self.asked = asked
        self.ended = False
        self.caught_up = False
        """all that is there was returned, at the last look"""
        self._path = path
        self._raw = -1

    def next(self) -> bytes:
        """Return what was added, as soon as there is something."""
        while True:
            data = self._read()
            if data:
                self.caught_up = False
                return data
            self.caught_up = True
            if self.asked:
                return b""
            time.sleep(TICK)

    def _read(self) -> bytes:
        try:
            if self._raw < 0:
                self._raw = os.open(self._path, os.O_RDONLY)
            data = os.read(self._raw, PIECE)
            if not data and self._path.stat().st_ino != os.fstat(self._raw).st_ino:
                raise InputError.at(self._path, "is another file than before; begin the survey again")
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise InputError.at(self._path, f"cannot be read ({(error.strerror or '').lower()})") from None
        return data

    def close(self) -> None:
        """Close the file."""
        if self._raw >= 0:
            os.close(self._raw)
            self._raw = -1


class Pump:
    """Reads one source in a thread of its own."""

    def __init__(self, source: Bytes) -> None:
        self.source = source
        self.is_whole: bool = getattr(source, "is_whole", False)
        """each piece ends with a whole record, as messages do"""
        self.ended = False
        """the source has ended, and all of it was taken"""
        self._pieces: queue.Queue[bytes | BaseException] = queue.Queue(PIECES)
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="survey", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self.source.asked:
                data = self.source.next()
                if data:
                    self._put(data)
                elif self.source.ended:
                    break
            self._put(b"")
        except BaseException as error:  # raised where the pieces are taken
            self._put(error)

    def _put(self, piece: bytes | BaseException) -> None:
        while True:
            try:
                self._pieces.put(piece, timeout=TICK)
            except queue.Full:
                if self.source.asked:
                    return
            else:
                return

    def take(self) -> bytes:
        """Return a piece that has come; b"" where there is none now."""
        try:
            piece = self._pieces.get_nowait()
        except queue.Empty:
            return b""
        self._last = time.monotonic()
        if isinstance(piece, BaseException):
            raise piece
        self.ended |= not piece
        return piece

    @property
    def is_idle(self) -> bool:
        """Nothing has come that was not taken, as far as can be told."""
        if self.ended:
            return True
        if not self._pieces.empty():
            return False
        if isinstance(self.source, GrowingFile):
            return self.source.caught_up and self._pieces.empty()
        return self.quiet_seconds >= QUIET

    @property
    def quiet_seconds(self) -> float:
        """Seconds since the last piece was taken."""
        return time.monotonic() - self._last

    def close(self) -> None:
        """Stop reading; `asked` of the source must say so."""
        self._thread.join(timeout=2.0)
        self.source.close()
