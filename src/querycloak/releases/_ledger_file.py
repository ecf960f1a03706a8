"""The file of a ledger: SQLite, mode 0600, with the key of its hashes next to it in `FILE.key`.

Nothing here knows what is counted. A transaction holds SQLite's write lock from its begin to its end, is on disk when
it returns (a power cut included), and leaves nothing behind where its process dies.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["key_path", "make_file", "make_key", "read_key", "reading", "writing"]

_APPLICATION: Final = 0x51434C47  # 'QCLG'
_VERSION: Final = 2
_KEY_BYTES: Final = 32
_NO_LEDGER: Final = "not a QueryCloak ledger; `querycloak ledger make` makes one"
_WAIT: Final = 60.0
"""seconds for another process to finish its reservation"""

_SCHEMA: Final = (
    """CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), log TEXT NOT NULL, epsilon REAL NOT NULL,
    delta REAL NOT NULL, fold_case INTEGER NOT NULL, made TEXT NOT NULL, key_check BLOB NOT NULL, start BLOB NOT NULL,
    rows INTEGER NOT NULL, head BLOB NOT NULL)""",
    """CREATE TABLE reservation (number INTEGER PRIMARY KEY, at TEXT NOT NULL, method TEXT NOT NULL,
    account TEXT NOT NULL, people BLOB NOT NULL, head BLOB NOT NULL)""",
    # These stop accidents. Who removes them and edits the file is found by the chain of hashes.
    """CREATE TRIGGER nothing_changes BEFORE UPDATE ON reservation
    BEGIN SELECT RAISE(ABORT, 'a reservation never changes'); END""",
    """CREATE TRIGGER nothing_is_given_back BEFORE DELETE ON reservation
    BEGIN SELECT RAISE(ABORT, 'a reservation is never given back'); END""",
    """CREATE TRIGGER the_budget_stays BEFORE UPDATE ON ledger
    WHEN NEW.epsilon != OLD.epsilon OR NEW.delta != OLD.delta OR NEW.log != OLD.log OR NEW.fold_case != OLD.fold_case
    OR NEW.rows != OLD.rows + 1 BEGIN SELECT RAISE(ABORT, 'the budget of a ledger never changes'); END""",
)


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of a ledger; commit at the end, all or nothing."""
    with _opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Read a ledger as it is at one moment."""
    with _opened(path) as connection:
        connection.execute("BEGIN")
        yield connection


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger that is there; another format is refused, untouched."""
    _check_header(path)
    try:
        with closing(_connect(path)) as connection:
            _check_format(path, connection)
            yield connection
    except sqlite3.OperationalError as error:
        raise OutputError(f"{path}: the ledger cannot be written ({error}); nothing was reserved.") from error
    except sqlite3.DatabaseError as error:
        raise InputError.at(path, f"not a sound QueryCloak ledger ({error})") from error


def make_file(path: Path, fill: str, values: dict[str, object]) -> None:
    """Make the file of a ledger with one row in it, whole or not at all; one that exists is left alone."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with _as_output_error(path):
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            with closing(_connect(draft)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(fill, values)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute("COMMIT")
            os.link(draft, path)
        finally:
            draft.unlink()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")  # a commit outlives a power cut: spent budget stays spent
    return connection


def _check_header(path: Path) -> None:
    """Refuse what is no SQLite file at all, before SQLite sees it."""
    try:
        with path.open("rb") as file:
            header = file.read(16)
    except FileNotFoundError:
        raise InputError.at(path, "no such ledger; `querycloak ledger make` makes one") from None
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({error.strerror})") from error
    if header != b"SQLite format 3\x00":
        raise InputError.at(path, _NO_LEDGER)


def _check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse another program's file, or another version; reading alone does not change it."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise InputError.at(path, _NO_LEDGER)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        raise InputError.at(path, f"a ledger of format {version}, expected {_VERSION}; use the QueryCloak that made it")


def key_path(path: Path) -> Path:
    """Return the path of a ledger's key."""
    return path.with_name(path.name + ".key")


def make_key(path: Path) -> bytes:
    """Make the key of a new ledger; one that is there already belongs to another, and is left alone."""
    file, key = key_path(path), secrets.token_bytes(_KEY_BYTES)
    with _as_output_error(file):
        handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(key)
            out.flush()
            os.fsync(out.fileno())
    return key


def read_key(path: Path) -> bytes:
    """Read the key next to a ledger."""
    file = key_path(path)
    try:
        key = file.read_bytes()
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError as error:
        raise InputError.at(
            file, f"the ledger's key cannot be read ({error.strerror}); people cannot be recognised without it"
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
        raise OutputError(f"{path} is there already, and a ledger is never replaced: name another file.") from None
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error
