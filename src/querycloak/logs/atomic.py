"""Output that is whole or not there: written next to its place under another name, then renamed."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING

from querycloak.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_output", "write_text", "writing"]

PUBLIC = 0o666
"""Rights of a new file before the user's umask."""
PRIVATE = 0o600
"""Rights of a new file that only its owner may read."""


def check_output(path: str | Path) -> Path:
    """Refuse a place where no file can be written, before any work is done."""
    place = Path(path)
    if "\0" in str(path):
        raise OutputError("The name of the file to write has a NUL character in it.")
    try:
        if place.is_dir():
            raise OutputError(f"{path}: is a directory; name a file to write.")
        if place.exists() and not place.is_file():
            raise OutputError(f"{path}: is a device or a pipe, not a file; name a file to write.")
        if not place.parent.is_dir():
            raise OutputError(f"{path}: the directory {place.parent} does not exist; make it first.")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_reason(error)}.") from None
    return place


@contextmanager
def writing(*paths: str | Path, mode: int = PUBLIC) -> Iterator[list[IO[bytes]]]:
    """Open files next to their places, and rename them, in the order given, once all is written.

    On any error, a kill by Ctrl-C included, what was written so far is removed and the places stay as they were.
    """
    places = [check_output(path) for path in paths]
    beside = [place.with_name(f".{place.name[:200]}.{token_hex(4)}.part") for place in places]
    files: list[IO[bytes]] = []
    try:
        for part in beside:
            files.append(os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "w+b"))  # noqa: PERF401
        yield files
        for file in files:
            file.flush()
            os.fsync(file.fileno())
            file.close()
        for part, place in zip(beside, places, strict=True):
            part.replace(place)
    except OSError as error:
        raise OutputError(f"{paths[0]}: cannot be written: {_reason(error)}.") from None
    finally:
        for file in files:
            _close_quietly(file)
        for part in beside:
            part.unlink(missing_ok=True)


def write_text(path: str | Path, text: str, mode: int = PUBLIC) -> None:
    """Write a small text file, whole or not at all."""
    with writing(path, mode=mode) as (file,):
        file.write(text.encode())


def _close_quietly(file: IO[bytes]) -> None:
    with suppress(OSError):  # an error is on its way already
        file.close()


def _reason(error: OSError) -> str:
    """Say what the operating system says, without the path it repeats."""
    return (error.strerror or str(error)).lower()
