"""The journal of a checkpoint: what the clock has decided since the last save, one event per line of JSON.

A line is on disk before anything that depends on it is written. A last line that is not whole is of an event on which
nothing depends yet.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from querycloak.arrays.checks import BadStateError
from querycloak.errors import OutputError
from querycloak.live.timekeeper import Event

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["JOURNAL", "Journal", "read_events"]

JOURNAL = "journal"


def read_events(data: bytes) -> list[Event]:
    """Return the events of a journal; BadStateError where a whole line is none."""
    try:
        return [msgspec.json.decode(line, type=Event) for line in data.split(b"\n")[:-1]]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadStateError("its journal is damaged") from None


class Journal:
    """Appends events; only its owner may read it."""

    def __init__(self, path: Path, whole: int) -> None:
        """Go on after the whole lines, so many bytes."""
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            os.ftruncate(self._file, whole)
            os.lseek(self._file, whole, os.SEEK_SET)
        except OSError as error:
            raise self._error(error) from None

    def add(self, event: Event) -> None:
        """Write an event, and have it on disk."""
        try:
            line = msgspec.json.encode(event) + b"\n"
            while line:  # a disk that is nearly full takes a part
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            raise self._error(error) from None

    def clear(self) -> None:
        """Forget the events: a state that contains them is on disk."""
        try:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
        except OSError as error:
            raise self._error(error) from None

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _error(self, error: OSError) -> OutputError:
        return OutputError(f"{self._path}: the checkpoint cannot be written ({error.strerror}).")
