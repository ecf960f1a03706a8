"""Checkpoints: the state of a run on disk, whole or not at all, in the form of `arrays.container`.

A state is data, never code: it is read as arrays and JSON, and every value is checked before a kernel sees it. How the
input is laid out is not taken from the state but found again in the first lines of the input. These are kept in the
state, since a broker need not have them any more; a file must still begin with them.

What waits is personal data: the file can be read by its owner alone, and is removed at the end of the input.

Next to the state are two small files of JSON. `key`, from the first moment of a run without a seed to its end: what its
random words are made of, so that a run that goes on after a crash draws the same again, and nobody who followed the
output sees a query under two users. `finished`, from the end of a run on: it was this run, and its output was so long;
the same command run again then changes nothing, since a second draw would be a second release of one log.

A shard has up to three more. `stopped`, while it does not run and its output is just what its state says. `taken`: the
positions at which the shards stopped whose waiting records it goes on with. `handed-over`, in the checkpoints of these:
to how many shards; they must never go on themselves.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import numpy as np

from querycloak._version import __version__
from querycloak.arrays.checks import Arrays, BadStateError, Count, read_plain, take
from querycloak.arrays.container import OlderStateError, read_container, write_container
from querycloak.errors import InputError, OutputError
from querycloak.live.journal import JOURNAL, Journal, read_events
from querycloak.randomness import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from querycloak.live.ends import Mark, Sink, Source
    from querycloak.live.timekeeper import Event

__all__ = ["HANDED", "STOPPED", "TAKEN", "Checkpoint", "Handed", "Position", "Saved", "Stopped", "Taken"]

FILE: Final = "state"
KEY: Final = "key"
FINISHED: Final = "finished"
STOPPED: Final = "stopped"
TAKEN: Final = "taken"
HANDED: Final = "handed-over"
SAMPLE: Final = "sample"
"""The array with the first bytes of the input."""
LONGEST_SMALL: Final = 1 << 20
LONGEST_JOURNAL: Final = 1 << 26
BEGIN_AGAIN: Final = "remove it to begin again"


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a run was at both ends."""

    input: dict[str, Any]
    """the source's mark: see `live.ends`"""
    output: dict[str, Any]
    """the sink's mark"""
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
    sample: bytes
    """first bytes of the input, by which its layout was found, and is found again"""
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
    input: dict[str, Any]
    """the source's mark at its end"""
    output: dict[str, Any]
    """the sink's mark"""


class Stopped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard that stopped between two records."""

    version: str
    catching_up: bool
    """it has not come to where the last of the shards before it had stopped"""


class Taken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The shards that there were before."""

    version: str
    marks: list[dict[str, Any]]
    """where each of them stopped in the input"""


class Handed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a shard."""

    version: str
    shards: Count
    """how many there are now"""


_Small = TypeVar("_Small", _Key, _Finished, Stopped, Taken, Handed)


class Checkpoint:
    """A directory with one state."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / FILE
        self._journal: Journal | None = None
        self.had_key = False
        """the key was there: this run has begun before"""

    def save(self, saved: Saved) -> None:
        """Write the state under another name, then rename it; a kill at any moment leaves the old state or the new."""
        values = _Values(__version__, saved.run, saved.position, saved.converter)
        arrays = saved.arrays | {SAMPLE: np.frombuffer(saved.sample, dtype=np.uint8)}
        with self._replacing(FILE) as file:
            write_container(file, arrays, msgspec.to_builtins(values))

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

    @property
    def size(self) -> int:
        """Bytes of the state on disk."""
        return self.file.stat().st_size

    def key(self, run: dict[str, Any]) -> bytes:
        """Return the key of this run, made at its first start; one of other settings is refused."""
        found = self._read_small(KEY, _Key)
        self.had_key = found is not None
        if found is None:
            found = _Key(__version__, run, secrets.token_bytes(KEY_BYTES))
            with self._replacing(KEY) as file:
                file.write(msgspec.json.encode(found))
        self._refuse_other(run, found.version, found.run)
        if len(found.key) != KEY_BYTES:
            raise InputError.at(self.directory / KEY, f"the key of the run was damaged; {BEGIN_AGAIN}")
        return found.key

    def open_journal(self) -> list[Event]:
        """Return what the clock had decided after the last save, and go on there."""
        data = b""
        with self.refusing(), self._opened(JOURNAL) as file:
            if file is not None:
                data = file.read(LONGEST_JOURNAL)
            events = read_events(data)
        if self._journal is not None:
            self._journal.close()
        self.directory.mkdir(mode=0o700, exist_ok=True)
        self._journal = Journal(self.directory / JOURNAL, data.rfind(b"\n") + 1)
        return events

    def add_event(self, event: Event) -> None:
        """Write down what the clock has decided."""
        assert self._journal is not None
        self._journal.add(event)

    def clear_journal(self) -> None:
        """Forget what the clock had decided before the state that was just saved."""
        if self._journal is not None:
            self._journal.clear()

    def note(self, name: str, said: Stopped | Taken | Handed) -> None:
        """Write one of the small files of a shard."""
        with self._replacing(name) as file:
            file.write(msgspec.json.encode(said))

    def stopped(self) -> Stopped | None:
        """Return how a shard stopped; None = it runs, or was killed."""
        return self._read_small(STOPPED, Stopped)

    def goes_on(self) -> None:
        """Note that a shard runs: from now on its output may be longer than its state says."""
        (self.directory / STOPPED).unlink(missing_ok=True)

    def taken(self) -> Taken | None:
        """Return the shards that there were before this one; None = there were none."""
        return self._read_small(TAKEN, Taken)

    def handed(self) -> Handed | None:
        """Return what became of a shard; None = it may go on."""
        return self._read_small(HANDED, Handed)

    def finish(self, run: dict[str, Any], read: Mark, written: Mark) -> None:
        """Note that the run is finished, then remove what it would need to go on."""
        with self._replacing(FINISHED) as file:
            file.write(msgspec.json.encode(_Finished(__version__, run, read, written)))
        self._clear()

    def _clear(self) -> None:
        """Remove what a run needs to go on: a run that is finished does not."""
        for name in (FILE, f"{FILE}.part", KEY, f"{KEY}.part", JOURNAL, STOPPED, TAKEN):
            (self.directory / name).unlink(missing_ok=True)

    def is_finished(self, run: dict[str, Any], source: Source, output: Sink) -> bool:
        """Tell whether just this run is finished; where its ends have changed since, that is said."""
        found = self._read_small(FINISHED, _Finished)
        if found is None:
            return False
        self._refuse_other(run, __version__, found.run)
        again = "remove it to make another release of the same log: two releases tell more than one"
        with self.refusing():
            is_output, is_input = output.ends_at(found.output), source.ends_at(found.input)
        if not is_output:
            problem = f"the run of {self.directory} is finished, and its output was changed; {again}"
            raise OutputError(f"{output.name}: {problem}.")
        if not is_input:
            problem = f"the run is finished, and {source.name} has changed since: use another folder for what is new"
            raise InputError.at(self.directory, problem)
        self._clear()  # killed before it had
        return True

    def says_finished(self) -> bool:
        """Tell whether some run of this checkpoint is finished."""
        return self._read_small(FINISHED, _Finished) is not None

    def look(self) -> Saved | None:
        """Read the state of any run of this version, to take it over."""
        found = self._read()
        if found is None:
            return None
        arrays, values = found
        if values.version != __version__:
            self._refuse_other({}, values.version, {})
        with self.refusing():
            sample = take(arrays, SAMPLE, np.uint8).tobytes()
        return Saved(values.run, values.position, sample, arrays, values.converter)

    def load(self, run: dict[str, Any]) -> Saved | None:
        """Read the state of this run; one of other settings is refused, and says what differs."""
        found = self._read()
        if found is None:
            return None
        arrays, values = found
        self._refuse_other(run, values.version, values.run)
        with self.refusing():
            sample = take(arrays, SAMPLE, np.uint8).tobytes()
        return Saved(values.run, values.position, sample, arrays, values.converter)

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
