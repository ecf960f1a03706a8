"""Files and pipes as the ends of a stream; and signals that ask a run to stop."""

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

import msgspec

from querycloak.arrays.checks import Count, read_plain
from querycloak.errors import InputError, OutputError
from querycloak.logs.atomic import is_pipe, open_pipe
from querycloak.logs.problems import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from querycloak.live.ends import Mark

__all__ = ["FileSink", "FileSource", "stopping"]

TICK: Final = 0.1
"""Seconds after which a waiting run looks whether it was asked to stop."""
HEAD: Final = 1 << 16
"""Bytes of the input by which it is known again, at least."""


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    """Where a run was in its input."""

    head: Count
    """first bytes of the input that `digest` is over; so are the last ones before `read`"""
    digest: str
    read: Count
    """bytes of the input taken in"""


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    """Where a run was in its output."""

    written: Count
    digest: str
    """of these bytes: the statement will be for them, too"""
    there: Count
    """bytes that somebody may have read; more where an earlier start had come farther"""


class FileSource:
    """Bytes as they come: a whole piece where there is one, else what has come within the longest wait."""

    is_whole: Final = False
    joins: Callable[[bytes], bool] = staticmethod(lambda _: True)

    pending: None = None
    reconnects = 0

    def __init__(self, path: Path | None, piece: int, max_wait: float, asked: list[int]) -> None:
        """Open a file or a named pipe; None = standard input."""
        self.name: object = path or "standard input"
        self.ended = False
        self.piece = piece
        self.asked = asked
        self._path = path
        self._raw = 0 if path is None else _opened(path)
        self._max_wait = max_wait
        self.is_live = not stat.S_ISREG(os.fstat(self._raw).st_mode)
        self._read = 0
        self.ahead: frozenset[int] = frozenset()
        self._pauses: list[int] = []

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
            self.ahead = self._still_ahead()
            size = min(self.piece, *(self._pauses[i] - self._read for i in self.ahead)) if self.ahead else self.piece
            data = os.read(self._raw, size)
            self.ended = not data
            self._read += len(data)
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

    def mark(self, unfinished: int) -> Mark:
        """Return the position, with what the input is known by."""
        read = self._read - unfinished
        head = min(HEAD, read)
        return dict(msgspec.to_builtins(_Read(head, self._fingerprint(head, read), read)))

    def wind_to(self, mark: Mark, sample: bytes) -> None:
        """Go on at a position; the first and the last bytes that were read must be what they were."""
        at = read_plain(mark, _Read)
        fits = at.head <= at.read <= os.fstat(self._raw).st_size and self._bytes(0, len(sample)) == sample
        if not fits or self._fingerprint(at.head, at.read) != at.digest:
            raise InputError.at(self.name, "the checkpoint is of another input")
        self._read = os.lseek(self._raw, at.read, os.SEEK_SET)

    def place_of(self, mark: Mark) -> int:
        """Return the bytes that were read."""
        return read_plain(mark, _Read).read

    def pause_at(self, marks: list[Mark]) -> None:
        """Return no bytes from before and after one of these positions together."""
        self._pauses = [self.place_of(mark) for mark in marks]
        self.ahead = self._still_ahead()

    def _still_ahead(self) -> frozenset[int]:
        """Return which pauses come after what was returned."""
        return frozenset(i for i, at in enumerate(self._pauses) if at > self._read)

    def release(self) -> None:
        """Do nothing: a file stays."""

    def takes(self, target: str) -> bool:  # noqa: ARG002
        """Return False: whoever opens files looks at their names."""
        return False

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the file has the size that it had."""
        return os.fstat(self._raw).st_size == read_plain(mark, _Read).read

    def close(self) -> None:
        """Close the file."""
        if self._path is not None:
            os.close(self._raw)

    def _bytes(self, begin: int, size: int) -> bytes:
        return os.pread(self._raw, size, begin)

    def _fingerprint(self, head: int, read: int) -> str:
        """Return the digest of the first bytes and of the last ones that were read."""
        digest = hashlib.sha256(self._bytes(0, head))
        begin = max(0, read - HEAD)
        digest.update(self._bytes(begin, read - begin))
        return digest.hexdigest()


def _opened(path: Path) -> int:
    """Open a file to read."""
    try:
        raw = os.open(path, os.O_RDONLY)
        if path.is_dir():
            os.close(raw)
            raise IsADirectoryError(21, "is a directory")
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({(error.strerror or '').lower()})") from None
    return raw


class FileSink:
    """A file that may be continued, or standard output, a named pipe or a device."""

    joins: Callable[[bytes], bool] = staticmethod(lambda _: True)
    reconnects = 0
    target = ""

    def __init__(self, path: Path | None) -> None:
        self.name: object = path or "standard output"
        self.asked: list[int] = []
        self.size = 0
        self._there = 0
        self._path = path
        self._sha = hashlib.sha256()
        self._file: io.FileIO | None = None

    @property
    def is_behind(self) -> bool:
        """Whether an earlier start had come farther."""
        return self.size < self._there

    def begin(self, mark: Mark | None, run: str, *, again: bool) -> None:  # noqa: ARG002
        """Open the output.

        What an earlier start wrote after the mark stays: the same bytes are written over it, so that nobody who follows
        the file sees it shrink.
        """
        at = None if mark is None else read_plain(mark, _Written)
        self.size = begin = 0 if at is None else at.written
        try:
            if self._path is None or is_pipe(self._path):
                self._file = open_pipe(self._path or "-")
                return
            self._file = io.FileIO(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666), "r+")
            found = os.fstat(self._file.fileno()).st_size
            if found < begin:
                problem = "is shorter than at the checkpoint: it was changed, and cannot be continued"
                raise OutputError(f"{self.name}: {problem}.")
            if again:
                self._there = max(found, 0 if at is None else at.there)
            else:
                self._file.truncate(0)
            while self._file.tell() < begin:  # what was written before is part of the digest
                self._sha.update(self._file.read(min(begin - self._file.tell(), 1 << 20)))
        except OSError as error:
            raise OutputError(f"{self.name}: cannot be written ({error.strerror}).") from None
        if at is not None and self.digest() != at.digest:
            raise OutputError(f"{self.name}: was changed since the checkpoint, and cannot be continued.")

    def finish(self, *, ended: bool) -> None:
        """Cut off what an earlier start had written after the end, such as half a line.

        A run that goes on later writes the same over what is there: nothing is cut off before.
        """
        if self._file is not None and self._there and ended:
            try:
                self._file.truncate(self.size)
            except OSError as error:
                raise OutputError(f"{self.name}: cannot be written ({error.strerror}).") from None

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
            raise OutputError(f"{self.name}: cannot be written ({error.strerror}).") from None

    def _put(self, view: memoryview) -> None:
        assert self._file is not None
        while view:
            view = view[self._file.write(view) or 0 :]

    def sync(self) -> Mark:
        """Put all on disk."""
        assert self._file is not None
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(f"{self.name}: cannot be written ({error.strerror}).") from None
        return dict(msgspec.to_builtins(_Written(self.size, self.digest(), max(self.size, self._there))))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the file has the size that it had."""
        written = read_plain(mark, _Written).written
        return self._path is not None and self._path.is_file() and self._path.stat().st_size == written

    def digest(self) -> str:
        """Return the SHA-256 of all that was written."""
        return self._sha.hexdigest()


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
