"""Where a stream's bytes come from and go to, files or pipes; and signals that ask a run to stop."""

from __future__ import annotations

import hashlib
import io
import os
import select
import signal
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, OutputError
from querycloak.logs.atomic import is_pipe, open_pipe
from querycloak.logs.problems import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Feed", "Sink", "reading", "stopping"]

TICK: Final = 0.1
"""Seconds after which a waiting run looks whether it was asked to stop."""


class Feed:
    """Bytes as they come: a whole piece where there is one, else what has come within the longest wait."""

    def __init__(self, raw: int, piece: int, max_wait: float, asked: list[int]) -> None:
        """`piece` = bytes returned at once, at most; `asked` holds something as soon as the run is to stop."""
        self.ended = False
        self.piece = piece
        self._raw = raw
        self.asked = asked
        self._max_wait = max_wait
        self.is_live = not stat.S_ISREG(os.fstat(raw).st_mode)
        """more may come at any time: a pipe or a terminal"""

    def wind_to(self, position: int) -> None:
        """Go on at a position of the file."""
        os.lseek(self._raw, position, os.SEEK_SET)

    def first_lines(self) -> bytes:
        """Wait for at least one whole line."""
        data = b""
        while b"\n" not in data.lstrip(b"\r\n") and not self.ended and not self.asked:
            data += self.next()
            if len(data) > 2 * LONGEST_LINE:
                break
        return data

    def next(self) -> bytes:
        """Return the next bytes; none at the end, or where the user asked to stop."""
        if not self.is_live:
            data = os.read(self._raw, self.piece)
            self.ended = not data
            return data
        parts: list[bytes] = []
        size, deadline = 0, 0.0
        while size < self.piece and not self.asked:
            wait = TICK if not parts else min(TICK, deadline - time.monotonic())
            if parts and wait <= 0:
                break
            if not select.select([self._raw], [], [], wait)[0]:
                continue
            data = os.read(self._raw, self.piece - size)
            if not data:
                self.ended = True
                break
            deadline = deadline or time.monotonic() + self._max_wait
            parts.append(data)
            size += len(data)
        return b"".join(parts)


class Sink:
    """Where lines go: a file that may be continued, or standard output, a named pipe or a device."""

    def __init__(self, path: Path | None, begin: int) -> None:
        self._path = path
        self._sha = hashlib.sha256()
        self.size = begin
        """bytes written, over all starts of the run"""
        try:
            if path is None or is_pipe(path):
                self._file = open_pipe(path or "-")
                return
            self._file = io.FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+")
            size = os.fstat(self._file.fileno()).st_size
            if size < begin:
                self._file.close()
                raise OutputError(
                    f"{path}: is shorter than at the checkpoint: it was changed, and cannot be continued."
                )
            self._file.truncate(begin)
            while self._file.tell() < begin:  # what was written before is part of the digest
                self._sha.update(self._file.read(min(begin - self._file.tell(), 1 << 20)))
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror}).") from None

    def write(self, data: bytes | memoryview) -> None:
        """Write all of it."""
        view = memoryview(data)
        self._sha.update(view)
        self.size += len(view)
        try:
            self._put(view)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{self._path or 'standard output'}: cannot be written ({error.strerror}).") from None

    def _put(self, view: memoryview) -> None:
        while view:
            view = view[self._file.write(view) or 0 :]

    def sync(self) -> int:
        """Put all on disk, and return the size."""
        os.fsync(self._file.fileno())
        return self.size

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            self._file.close()

    def digest(self) -> str:
        """Return the SHA-256 of all that was written."""
        return self._sha.hexdigest()


@contextmanager
def reading(path: Path | None) -> Iterator[int]:
    """Open a file to read, or take standard input."""
    if path is None:
        yield 0
        return
    try:
        raw = os.open(path, os.O_RDONLY)
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({(error.strerror or '').lower()})") from None
    try:
        yield raw
    finally:
        os.close(raw)


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Collect Ctrl-C and requests to end in a list that the run checks between batches: nothing stops half done."""
    asked: list[int] = []
    before = {}
    with suppress(ValueError):  # signals belong to the main thread alone
        wakeup = signal.set_wakeup_fd(-1)  # whoever ends the process at once on a signal does not learn of these
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup
                before[number] = signal.signal(number, lambda n, _: asked.append(n))
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if before:
            signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
