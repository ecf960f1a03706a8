"""The state of a run on disk, whole or not at all: engine, place in the input, place in the output.

What waits is personal data: the file may be read by its owner alone, and is removed at the end of the input.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from querycloak._version import __version__
from querycloak.errors import InputError, OutputError

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.live.converter import Converter

__all__ = ["Checkpoint", "Saved", "fingerprint"]

FILE: Final = "state"
HEAD: Final = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """What is saved together."""

    run: dict[str, Any]
    """what must be the same to go on: method, settings, files"""
    head: int
    """bytes of the input that `digest` is over"""
    digest: str
    converter: Converter
    read: int
    """bytes of the input taken in"""
    written: int
    """bytes of the output"""
    truth: int
    """bytes of the truth"""
    rows: int
    """records of the truth"""
    seconds: float
    """spent so far"""


def fingerprint(path: Path, size: int) -> str:
    """Return the digest of the first bytes of an input, to know it again."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(size)).hexdigest()


class Checkpoint:
    """A directory with one state."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / FILE

    def save(self, saved: Saved) -> None:
        """Write the state next to its place, then rename; a kill at any moment leaves the old state or the new one."""
        part = self.directory / f"{FILE}.part"
        try:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            part.unlink(missing_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                pickle.dump((__version__, saved), file, protocol=pickle.HIGHEST_PROTOCOL)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.file)
            directory = os.open(self.directory, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            raise OutputError(f"{self.directory}: the checkpoint cannot be written ({error.strerror}).") from None

    def load(self, run: dict[str, Any], source: Path) -> Saved | None:
        """Read the state of this very run; one of other settings or another input is refused, and says what differs."""
        if not self.file.exists():
            return None
        about = self.file.stat()
        if about.st_uid != os.getuid() or about.st_mode & 0o022:
            raise InputError.at(self.file, "the checkpoint could have been written by another user; it is not read")
        try:
            with self.file.open("rb") as file:
                version, saved = pickle.load(file)  # noqa: S301 - our own file: its owner was checked above
        except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, TypeError, ValueError):
            raise InputError.at(self.file, "the checkpoint cannot be read; remove it to begin again") from None
        if version != __version__:
            problem = f"the checkpoint is of QueryCloak {version}, this is {__version__}; finish it there"
            raise InputError.at(self.file, problem)
        differ = [name for name in run if saved.run.get(name) != run[name]]
        if differ:
            told = "; ".join(f"{name} was {saved.run.get(name)!r}, now {run[name]!r}" for name in differ)
            raise InputError.at(self.directory, f"the checkpoint is of another run: {told}; remove it to begin again")
        if source.stat().st_size < saved.read or fingerprint(source, saved.head) != saved.digest:
            raise InputError.at(self.directory, f"the checkpoint is of another input than {source}")
        return saved  # type: ignore[no-any-return]

    def remove(self) -> None:
        """Remove the state, and the directory if nothing else is in it."""
        self.file.unlink(missing_ok=True)
        (self.directory / f"{FILE}.part").unlink(missing_ok=True)
        try:
            self.directory.rmdir()
        except OSError:  # something else is in it, or it is not there
            return
