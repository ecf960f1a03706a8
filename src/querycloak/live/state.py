"""Checkpoints: the state of a run on disk, whole or not at all, in the form of `live.container`.

A state is data, never code: it is read as arrays and JSON, and every value is checked before a kernel sees it. How the
input is laid out is not taken from the state but found again in the first lines of the input.

What waits is personal data: the file can be read by its owner alone, and is removed at the end of the input.

Next to the state are two small files of JSON. `key`, from the first moment of a run without a seed to its end: what its
random words are made of, so that a run that goes on after a crash draws the same again, and nobody who followed the
output sees a query under two users. `finished`, from the end of a run on: it was this run, and its output was so long;
the same command run again then changes nothing, since a second draw would be a second release of one log.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from querycloak._version import __version__
from querycloak.arrays.checks import Arrays, BadStateError, Count, read_plain
from querycloak.errors import InputError, OutputError
from querycloak.live.container import OlderStateError, read_container, write_container
from querycloak.randomness import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Checkpoint", "Position", "Saved", "fingerprint"]

FILE: Final = "state"
KEY: Final = "key"
FINISHED: Final = "finished"
HEAD: Final = 1 << 16
"""Bytes of the input by which it is known again, at least."""
LONGEST_SMALL: Final = 1 << 20
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


class _Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: str
    run: dict[str, Any]
    key: bytes


class _Finished(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: str
    run: dict[str, Any]
    read: Count
    """bytes of the input"""
    written: Count
    """bytes of the output"""


_Small = TypeVar("_Small", _Key, _Finished)


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
        values = _Values(__version__, saved.run, saved.position, saved.converter)
        with self._replacing(FILE) as file:
            write_container(file, saved.arrays, msgspec.to_builtins(values))

    @contextmanager
    def _replacing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file under another name, only for its owner, put it on disk, then rename it."""
        temporary = self.directory / f"{name}.part"
        try:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            temporary.unlink(missing_ok=True)
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.directory / name)
            directory = os.open(self.directory, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            raise OutputError(f"{self.directory}: the checkpoint cannot be written ({error.strerror}).") from None

    def key(self, run: dict[str, Any]) -> bytes:
        """Return the key of this run, made at its first start; one of other settings is refused."""
        found = self._read_small(KEY, _Key)
        if found is None:
            found = _Key(__version__, run, secrets.token_bytes(KEY_BYTES))
            with self._replacing(KEY) as file:
                file.write(msgspec.json.encode(found))
        self._refuse_other(run, found.version, found.run)
        if len(found.key) != KEY_BYTES:
            raise InputError.at(self.directory / KEY, f"the key of the run was damaged; {BEGIN_AGAIN}")
        return found.key

    def finish(self, run: dict[str, Any], read: int, written: int) -> None:
        """Note that the run is finished, then remove what it would need to go on."""
        with self._replacing(FINISHED) as file:
            file.write(msgspec.json.encode(_Finished(__version__, run, read, written)))
        self._clear()

    def _clear(self) -> None:
        """Remove what a run needs to go on: a run that is finished does not."""
        for name in (FILE, f"{FILE}.part", KEY, f"{KEY}.part"):
            (self.directory / name).unlink(missing_ok=True)

    def is_finished(self, run: dict[str, Any], source: Path, output: Path) -> bool:
        """Tell whether just this run is finished; where its files have changed since, that is said."""
        found = self._read_small(FINISHED, _Finished)
        if found is None:
            return False
        self._refuse_other(run, __version__, found.run)
        again = "remove it to make another release of the same log: two releases tell more than one"
        if not output.is_file() or output.stat().st_size != found.written:
            raise OutputError(
                f"{output}: the run of {self.directory} is finished, and its output was changed; {again}."
            )
        if source.stat().st_size != found.read:
            problem = f"the run is finished, and {source} has changed since: use another folder for what is new"
            raise InputError.at(self.directory, problem)
        self._clear()  # killed before it had
        return True

    def load(self, run: dict[str, Any], source: Path) -> Saved | None:
        """Read the state of this run; one of other settings or another input is refused, and says what differs."""
        found = self._read()
        if found is None:
            return None
        arrays, values = found
        self._refuse_other(run, values.version, values.run)
        at = values.position
        fits = at.sample <= at.head <= at.read <= source.stat().st_size
        if not fits or fingerprint(source, at.head, at.read) != at.digest:
            raise InputError.at(self.directory, f"the checkpoint is of another input than {source}")
        return Saved(values.run, at, arrays, values.converter)

    def _refuse_other(self, run: dict[str, Any], version: str, saved: dict[str, Any]) -> None:
        """Refuse what another run, or another version, has left."""
        if version != __version__:
            problem = f"the checkpoint is of QueryCloak {version}, this is {__version__}; finish it there"
            raise InputError.at(self.directory, problem)
        differ = [name for name in run if saved.get(name) != run[name]]
        if differ:
            told = "; ".join(f"{name} was {saved.get(name)!r}, now {run[name]!r}" for name in differ)
            raise InputError.at(self.directory, f"the checkpoint is of another run: {told}; {BEGIN_AGAIN}")

    def _read(self) -> tuple[Arrays, _Values] | None:
        with self.refusing(), self._opened(FILE) as file:
            if file is None:
                return None
            arrays, values = read_container(file, os.fstat(file.fileno()).st_size)
            return arrays, read_plain(values, _Values)

    def _read_small(self, name: str, kind: type[_Small]) -> _Small | None:
        """Read a small file of JSON."""
        with self.refusing(), self._opened(name) as file:
            if file is None:
                return None
            try:
                return msgspec.json.decode(file.read(LONGEST_SMALL), type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise BadStateError(f"its {name} is damaged") from None

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes] | None]:
        """Open a file that only its owner can have written; None where there is none."""
        path = self.directory / name
        try:
            raw = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            yield None
            return
        except OSError:
            raise BadStateError("it cannot be opened") from None
        with os.fdopen(raw, "rb") as file:
            about = os.fstat(file.fileno())
            if about.st_uid != os.getuid() or about.st_mode & 0o022:
                problem = "the checkpoint could have been written by another user; it is not read"
                raise InputError.at(path, problem)
            if not stat.S_ISREG(about.st_mode):
                raise BadStateError("it is not a file")
            yield file

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
