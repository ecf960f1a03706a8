"""The ledger of privacy budget: what each user has spent over all releases, in a SQLite file, never given back.

A ledger is made for one budget: ε per user, cut into a number of draws of ε / draws each. It counts draws, which are
whole numbers, so nothing is lost or won by rounding. Users are in it as keyed hashes; the key is next to it in
`FILE.key` (mode 0600).

Order of events: `reserve` commits the draws to disk, then the release is drawn and written. A crash in between costs
budget and never gives any back. SQLite's write lock makes reservations of several processes follow one another, and a
trigger in the file itself refuses any row above the budget.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError, OutputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

__all__ = ["Ledger", "LedgerSummary", "read_ledger"]

Int64s = npt.NDArray[np.int64]

_APPLICATION = 0x51434C47  # 'QCLG'
_VERSION = 1
_KEY_BYTES = 32
_NO_LEDGER = "not a QueryCloak ledger; name another file, and it will be made"
_WAIT = 60.0  # seconds for another process to finish its reservation

_SCHEMA = (
    """CREATE TABLE budget (one INTEGER PRIMARY KEY CHECK (one = 1), epsilon REAL NOT NULL, draws INTEGER NOT NULL,
    key_check BLOB NOT NULL)""",
    "CREATE TABLE spent (user BLOB PRIMARY KEY, draws INTEGER NOT NULL CHECK (draws > 0)) WITHOUT ROWID",
    """CREATE TABLE release (number INTEGER PRIMARY KEY, at TEXT NOT NULL, users INTEGER NOT NULL,
    draws INTEGER NOT NULL)""",
    """CREATE TRIGGER no_overspending BEFORE INSERT ON spent WHEN NEW.draws > (SELECT draws FROM budget)
    BEGIN SELECT RAISE(ABORT, 'above the budget'); END""",
    """CREATE TRIGGER no_giving_back BEFORE UPDATE ON spent
    WHEN NEW.draws > (SELECT draws FROM budget) OR NEW.draws < OLD.draws
    BEGIN SELECT RAISE(ABORT, 'above the budget, or given back'); END""",
)


@dataclass(frozen=True)
class LedgerSummary:
    """What a ledger says as a whole; no user is in it."""

    epsilon: float
    draws: int
    spent: tuple[int, ...]
    """draws spent by each user, ascending"""
    releases: tuple[tuple[str, int, int], ...]
    """when (UTC), users, draws"""


class Ledger:
    """A ledger opened for one budget; made if the file does not exist."""

    def __init__(self, path: str | PathLike[str], *, epsilon: float, draws: int) -> None:
        """Open a ledger of `epsilon` per user in `draws` draws; another format, key or budget is refused, untouched."""
        self.path = Path(path)
        self._epsilon, self._draws = epsilon, draws
        _check_header(self.path)
        with self._transaction() as connection:
            fresh = self.path.stat().st_size == 0  # with the lock held, and what a dead process left rolled back
            if not fresh:
                _check_format(self.path, connection)
            self._key = _read_key(self.path, make=fresh)
            if fresh:
                _make(connection, epsilon, draws, self._check_value())
            self._check(connection)

    def __repr__(self) -> str:
        return f"Ledger({self.path.name}, epsilon {self._epsilon:g}, {self._draws} draws)"

    def reserve(self, users: Sequence[str], take: Callable[[Int64s], Int64s]) -> Int64s:
        """Reserve draws for distinct users, on disk before this returns; return int64[users], the draws of each.

        `take` is given what each user has left, int64[users], and returns how much of it is wanted. It runs inside the
        transaction, so no other process can spend in between.
        """
        names = [self._hash(u) for u in users]
        with self._transaction() as connection:
            self._check(connection)
            known = [connection.execute("SELECT draws FROM spent WHERE user = ?", (n,)).fetchone() for n in names]
            before = np.array([row[0] if row else 0 for row in known], dtype=np.int64)
            taken = np.asarray(take(self._draws - before), dtype=np.int64)
            if (taken < 0).any() or (taken > self._draws - before).any():
                raise ValueError("more was taken than is left")
            rows = [(n, d) for n, d in zip(names, (before + taken).tolist(), strict=True) if d]
            connection.executemany(
                "INSERT INTO spent VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET draws = excluded.draws", rows
            )
            connection.execute(
                "INSERT INTO release (at, users, draws) VALUES (?, ?, ?)",
                (datetime.now(UTC).isoformat(timespec="seconds"), int((taken > 0).sum()), int(taken.sum())),
            )
        return taken

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock; commit at the end, all or nothing."""
        try:
            with closing(_connect(self.path)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise OutputError(f"{self.path}: the ledger cannot be written ({error}); nothing was reserved.") from error
        except sqlite3.DatabaseError as error:
            raise InputError.at(self.path, f"not a sound QueryCloak ledger ({error})") from error

    def _check(self, connection: sqlite3.Connection) -> None:
        epsilon, draws, check = connection.execute("SELECT epsilon, draws, key_check FROM budget").fetchone()
        if not hmac.compare_digest(check, self._check_value()):
            raise InputError.at(self.path, f"{_key_path(self.path).name} is not the key of this ledger")
        if (epsilon, draws) != (self._epsilon, self._draws):
            raise ParameterError(
                f"{self.path} keeps a budget of epsilon {epsilon:g} in {draws} draws per user; this release asks for "
                f"epsilon {self._epsilon:g} in {self._draws}: use the ledger's own, or another ledger."
            )

    def _hash(self, user: str) -> bytes:
        return hashlib.blake2b(user.encode(), key=self._key, digest_size=16, person=b"user").digest()

    def _check_value(self) -> bytes:
        return hashlib.blake2b(b"querycloak ledger", key=self._key, digest_size=16, person=b"check").digest()


def read_ledger(path: str | PathLike[str]) -> LedgerSummary:
    """Read what a ledger says as a whole; needs no key."""
    file = Path(path)
    if not file.is_file():
        raise InputError.at(file, "no such ledger")
    _check_header(file)
    try:
        with closing(_connect(file)) as connection:
            _check_format(file, connection)
            epsilon, draws = connection.execute("SELECT epsilon, draws FROM budget").fetchone()
            spent = tuple(row[0] for row in connection.execute("SELECT draws FROM spent ORDER BY draws"))
            releases = tuple(connection.execute("SELECT at, users, draws FROM release ORDER BY number"))
    except sqlite3.DatabaseError as error:
        raise InputError.at(file, f"not a sound QueryCloak ledger ({error})") from error
    return LedgerSummary(epsilon, draws, spent, releases)


def _connect(path: Path) -> sqlite3.Connection:
    if not path.exists():  # so that SQLite does not make it with the usual mode
        with suppress(FileExistsError), _as_output_error(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")  # a commit outlives a power cut: spent budget stays spent
    return connection


def _make(connection: sqlite3.Connection, epsilon: float, draws: int, check: bytes) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO budget VALUES (1, ?, ?, ?)", (epsilon, draws, check))
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _check_header(path: Path) -> None:
    """Refuse what is no SQLite file at all, before SQLite sees it."""
    try:
        with path.open("rb") as file:
            header = file.read(16)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({error.strerror})") from error
    if header and header != b"SQLite format 3\x00":
        raise InputError.at(path, _NO_LEDGER)


def _check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse another program's file, or another version; reading alone does not change it."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise InputError.at(path, _NO_LEDGER)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        raise InputError.at(path, f"a ledger of format {version}, expected {_VERSION}; use the QueryCloak that made it")


def _key_path(path: Path) -> Path:
    return path.with_name(path.name + ".key")


def _read_key(path: Path, *, make: bool) -> bytes:
    """Read the key next to the ledger; make it, once among all processes, where the ledger is new."""
    file = _key_path(path)
    if make and not file.exists():
        draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
        with _as_output_error(file):
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                os.write(handle, secrets.token_bytes(_KEY_BYTES))
                os.fsync(handle)
                with suppress(FileExistsError):
                    os.link(draft, file)  # whole or not at all; the first process wins
            finally:
                os.close(handle)
                draft.unlink()
    try:
        key = file.read_bytes()
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError as error:
        raise InputError.at(
            file, f"the ledger's key cannot be read ({error.strerror}); users cannot be recognised without it"
        ) from error
    if len(key) != _KEY_BYTES:
        raise InputError.at(file, f"expected a key of {_KEY_BYTES} bytes, found {len(key)}")
    if mode & 0o077:
        raise InputError.at(file, f"others may read this key (mode {mode:04o}); run chmod 600 on it")
    return key


@contextmanager
def _as_output_error(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
