"""One writer per output: a second run that would write the same file or directory is refused.

The lock is the operating system's (`flock`), held on `.<name>.lock` next to a file, or on a directory itself. It ends
with the process that holds it, however that ends: a lock file that a crash left behind blocks nobody, and is removed by
the next run that writes there.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from querycloak.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["locked", "locked_directory", "remove_lock_files"]

LONGEST_NAME: Final = 200
"""Bytes of a file's name that its lock and its temporary file repeat; a longer one is told by its digest."""
_TRIES: Final = 1000
"""Times that a lock file is made again before we give up: another run removes its own once."""
BUSY: Final = "another run is writing it: wait until that has ended, or choose another output"


@dataclass
class _Held:
    """A lock of this process."""

    file: int
    thread: int
    """who holds it; the same thread may take it again"""
    times: int = 1


_held: dict[Path, _Held] = {}
_guard: Final = threading.Lock()


def hidden_name(name: str, suffix: str) -> str:
    """Return the name of a file that goes with another, next to it."""
    if len(name.encode(errors="replace")) > LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}.{suffix}"


@contextmanager
def locked(*paths: Path | None) -> Iterator[None]:
    """Be the only writer of these files; OutputError where another run writes one of them. None is nothing to lock."""
    with ExitStack() as stack:
        for path in dict.fromkeys(paths):
            if path is not None:
                lock = path.parent.resolve() / hidden_name(path.name, "lock")
                stack.enter_context(_locked(lock, path, partial(_open_file, lock)))
        yield


@contextmanager
def locked_directory(path: Path, mode: int = 0o777) -> Iterator[None]:
    """Be the only run that writes into a directory; it is made where needed, and at the end removed if it is empty."""
    with _locked(path.resolve(), path, partial(_open_directory, path, mode)):
        try:
            yield
        finally:
            with suppress(OSError):  # something is in it, or it was removed
                path.rmdir()


def remove_lock_files() -> None:
    """Remove the lock files of a process that is about to exit; the locks end with it, and no other is taken."""
    _guard.acquire()  # for good
    for lock in list(_held):
        with suppress(OSError):  # a directory stays
            lock.unlink()


@contextmanager
def _locked(lock: Path, path: Path, opened: Callable[[], int]) -> Iterator[None]:
    with _guard:
        held = _held.get(lock)
        if held is None:
            held = _held[lock] = _Held(_acquire(lock, path, opened), threading.get_ident())
        elif held.thread == threading.get_ident():
            held.times += 1
        else:
            raise OutputError(f"{path}: {BUSY}.")
    try:
        yield
    finally:
        with _guard:
            held.times -= 1
            if held.times == 0:
                del _held[lock]
                with suppress(OSError):  # a directory stays; so does another user's file where we may not remove it
                    lock.unlink()
                os.close(held.file)


def _acquire(lock: Path, path: Path, opened: Callable[[], int]) -> int:
    """Open and lock; whoever had the lock may just have removed its file, and then it is made again.

    Some directories, such as /proc, take no new file and say that it is not there: tries are limited.
    """
    for _ in range(_TRIES):
        try:
            file = opened()
        except FileNotFoundError:
            if not lock.parent.is_dir():
                raise OutputError(f"{path}: the directory {path.parent} does not exist; make it first.") from None
            continue
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}.") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, lock):
                return file
        except BlockingIOError:
            os.close(file)
            raise OutputError(f"{path}: {BUSY}.") from None
        except OSError as error:
            os.close(file)
            no_locks = error.errno in {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}
            reason = "its file system has no locks; write to another" if no_locks else (error.strerror or "").lower()
            raise OutputError(f"{path}: cannot be locked: {reason}.") from None
        os.close(file)
    raise OutputError(f"{path}: cannot be written: no file can be made in {path.parent}; choose another output.")


def _open_directory(path: Path, mode: int) -> int:
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{path} is not a directory and cannot be made one; choose another.") from None
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _open_file(lock: Path) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(lock, flags | os.O_CREAT, 0o644)
    except PermissionError:  # in a directory like /tmp, another user's file is opened only where it need not be made
        return os.open(lock, flags)


def _is_at(file: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), lock.stat())
    except FileNotFoundError:
        return False
