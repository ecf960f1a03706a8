"""Checkpoints: the state of a run on disk, whole or not at all, in the form of `live.container`.

A state is data, never code: it is read as arrays and JSON, and every value is checked before a kernel sees it. How the
input is laid out is not taken from the state but found again in the first lines of the input.

What waits is personal data: the file can be read by its owner alone, and is removed at the end of the input.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from querycloak._version import __version__
from querycloak.arrays.checks import Arrays, BadStateError, Count, read_plain
from querycloak.errors import InputError, OutputError
from querycloak.live.container import OlderStateError, read_container, write_container

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Checkpoint", "Position", "Saved", "fingerprint"]

FILE: Final = "state"
HEAD: Final = 1 << 16
"""Bytes of the input by which it is known again, at least."""
BEGIN_AGAIN: Final = "remove it to begin again"


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a run was in its files."""

    sample: Count
    """bytes of the input by which its layout was found"""
    head: Count
    """first bytes of the input that `digest` is over; so are the last ones before `read`"""
    digest: str
    read: Count
    """bytes of the input taken in"""
    written: Count
    """bytes of the output"""
    output_digest: str
    """of these bytes: the statement will be for them, too"""
    truth: Count
    """bytes of the truth"""
    rows: Count
    """records of the truth"""
    seconds: float
    """spent so far"""


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """What is saved together."""

    run: dict[str, Any]
    """what must be the same to go on: method, settings, files"""
    position: Position
    arrays: Arrays
    converter: dict[str, Any]
    """the state of the converter, with `arrays`"""


class _Values(msgspec.Struct, forbid_unknown_fields=True):
    version: str
    run: dict[str, Any]
    position: Position
    converter: dict[str, Any]


def fingerprint(path: Path, head: int, read: int) -> str:
    """Return the digest of the first bytes of an input and of the last ones that were read, to know it again."""
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(head))
        file.seek(max(0, read - HEAD))
        digest.update(file.read(min(HEAD, read)))
        return digest.hexdigest()


class Checkpoint:
    """A directory with one state."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / FILE

    def save(self, saved: Saved) -> None:
        """Write the state under another name, then rename it; a kill at any moment leaves the old state or the new."""
        temporary = self.directory / f"{FILE}.part"
        values = _Values(__version__, saved.run, saved.position, saved.converter)
        try:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            temporary.unlink(missing_ok=True)
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                write_container(file, saved.arrays, msgspec.to_builtins(values))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.file)
            directory = os.open(self.directory, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            raise OutputError(f"{self.directory}: the checkpoint cannot be written ({error.strerror}).") from None

    def load(self, run: dict[str, Any], source: Path) -> Saved | None:
        """Read the state of this run; one of other settings or another input is refused, and says what differs."""
        found = self._read()
        if found is None:
            return None
        arrays, values = found
        if values.version != __version__:
            problem = f"the checkpoint is of QueryCloak {values.version}, this is {__version__}; finish it there"
            raise InputError.at(self.file, problem)
        differ = [name for name in run if values.run.get(name) != run[name]]
        if differ:
            told = "; ".join(f"{name} was {values.run.get(name)!r}, now {run[name]!r}" for name in differ)
            raise InputError.at(self.directory, f"the checkpoint is of another run: {told}; {BEGIN_AGAIN}")
        at = values.position
        fits = at.sample <= at.head <= at.read <= source.stat().st_size
        if not fits or fingerprint(source, at.head, at.read) != at.digest:
            raise InputError.at(self.directory, f"the checkpoint is of another input than {source}")
        return Saved(values.run, at, arrays, values.converter)

    def _read(self) -> tuple[Arrays, _Values] | None:
        with self.refusing():
            try:
                raw = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW)
            except FileNotFoundError:
                return None
            except OSError:
                raise BadStateError("it cannot be opened") from None
            with os.fdopen(raw, "rb") as file:
                about = os.fstat(file.fileno())
                if about.st_uid != os.getuid() or about.st_mode & 0o022:
                    problem = "the checkpoint could have been written by another user; it is not read"
                    raise InputError.at(self.file, problem)
                if not stat.S_ISREG(about.st_mode):
                    raise BadStateError("it is not a file")
                arrays, values = read_container(file, about.st_size)
            return arrays, read_plain(values, _Values)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Tell in one sentence that a state cannot be used, whatever is wrong with it."""
        try:
            yield
        except OlderStateError:
            problem = f"the checkpoint was made by an older version; {BEGIN_AGAIN}"
            raise InputError.at(self.file, problem) from None
        except BadStateError as error:
            problem = f"the checkpoint cannot be read: {error}; {BEGIN_AGAIN}"
            raise InputError.at(self.file, problem) from None
        except OSError as error:
            raise InputError.at(self.file, f"the checkpoint cannot be read ({error.strerror})") from None

    def remove(self) -> None:
        """Remove the state, and the directory if nothing else is in it."""
        self.file.unlink(missing_ok=True)
        (self.directory / f"{FILE}.part").unlink(missing_ok=True)
        with suppress(OSError):  # something else is in it, or it is not there
            self.directory.rmdir()
