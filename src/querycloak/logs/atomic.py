"""Output that is whole or not there: written under another name in the same directory, then renamed.

While a file is written, its lock is held (`logs.locks`). So a temporary file has one name, `.<name>.part`, and one that
a killed process left behind is removed by the next run that writes the same output.

Standard output (`-`), a named pipe and a device cannot be renamed: what goes there is complete before its first byte is
written, and goes before the files that are written with it, such as a statement, get their names.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import tempfile
import threading
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from querycloak.errors import OutputError
from querycloak.logs.locks import hidden_name, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "check_output",
    "is_pipe",
    "is_standard_output",
    "open_pipe",
    "publish_folder",
    "remove_temporary_files",
    "temporary_folder",
    "until_the_end",
    "write_text",
    "writing",
]

PUBLIC: Final = 0o666
"""Rights of a new file before the user's umask."""
PRIVATE: Final = 0o600
"""Rights of a new file that only its owner may read."""
STANDARD_OUTPUT: Final = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})

_changing: Final = threading.RLock()
"""Held while temporary files are made and get their names: whoever ends the process waits for that."""
_temporary_files: Final[set[Path]] = set()
_finished_files: Final[list[Path]] = []
"""What this process has written completely."""
_helpers: Final[list[Callable[[], object]]] = []
"""What ends other processes that write for this one."""


def is_standard_output(path: str | Path | None) -> bool:
    """Tell whether a path stands for standard output."""
    return path is not None and str(path) in STANDARD_OUTPUT


def is_pipe(path: str | Path | None) -> bool:
    """Tell whether a path is standard output, a named pipe or a device: nothing that can be renamed or read again."""
    if path is None or "\0" in str(path):
        return False
    if is_standard_output(path) or str(path).startswith(("/dev/fd/", "/proc/self/fd/")):
        return True
    with suppress(OSError):
        return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
    return False


def open_pipe(path: str | Path) -> io.FileIO:
    """Open what `is_pipe`, without buffering; a named pipe waits here for its reader."""
    return io.FileIO(os.dup(1) if is_standard_output(path) else os.open(path, os.O_WRONLY), "w")


def check_output(path: str | Path) -> Path:
    """Refuse a path where no file can be written, before any work is done."""
    checked = Path(path)
    if "\0" in str(path):
        raise OutputError("The name of the file to write has a NUL character in it.")
    try:
        if is_pipe(checked):
            return checked
        if checked.is_dir():
            raise OutputError(f"{path}: is a directory; name a file to write.")
        if not checked.parent.is_dir():
            raise OutputError(f"{path}: the directory {checked.parent} does not exist; make it first.")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_reason(error)}.") from None
    return checked


@contextmanager
def writing(*paths: str | Path, mode: int = PUBLIC) -> Iterator[list[IO[bytes]]]:
    """Open files under temporary names, and rename them, in the order given, once all is written.

    On any error, Ctrl-C included, what was written so far is removed and all paths stay as they were. Where another run
    writes one of the files, this one is refused.
    """
    targets = [check_output(path) for path in paths]
    try:
        with ExitStack() as stack:
            stack.enter_context(locked(*(None if is_pipe(target) else target for target in targets)))
            files = [stack.enter_context(_temporary(target, mode)) for target in targets]
            yield files
            for target, file in zip(targets, files, strict=True):
                if is_pipe(target):
                    _send(file, target)
                else:
                    file.flush()
                    os.fsync(file.fileno())
            with _uninterrupted():
                for target in targets:
                    if not is_pipe(target):
                        _temporary_path(target).replace(target)
                        _finished_files.append(target)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{paths[0]}: cannot be written: {_reason(error)}.") from None


def write_text(path: str | Path, text: str, mode: int = PUBLIC) -> None:
    """Write a small text file, whole or not at all."""
    with writing(path, mode=mode) as (file,):
        file.write(text.encode())


def remove_temporary_files() -> list[Path]:
    """Remove what is unfinished in a process that is about to exit, and return what it has written completely."""
    _changing.acquire()  # for good: nothing else is begun or renamed
    for end in _helpers:
        with suppress(Exception):
            end()
    for path in list(_temporary_files):
        _remove(path)
    return list(_finished_files)


@contextmanager
def until_the_end(end: Callable[[], object]) -> Iterator[None]:
    """Call a function before this process is ended in the middle: it ends what writes temporary files for us."""
    _helpers.append(end)
    try:
        yield
    finally:
        _helpers.remove(end)


@contextmanager
def temporary_folder(target: Path, mode: int = 0o777) -> Iterator[Path]:
    """Make an empty folder next to a folder that is to be written, under a name of its own; it is removed at the end.

    The caller holds the lock of the target, and renames what it wants to keep.
    """
    path = _temporary_path(target)
    try:
        with _changing:
            _temporary_files.add(path)
            _remove(path)  # of a process that was killed
            path.mkdir(mode=mode)
        yield path
    finally:
        _remove(path)
        _temporary_files.discard(path)


def publish_folder(made: Path, target: Path) -> None:
    """Give a folder its name, in the place of one that is there: Ctrl-C comes before or after."""
    old = _temporary_path(target.with_name(target.name + ".old"))
    with _uninterrupted():
        _remove(old)
        if target.exists():
            target.rename(old)
        made.rename(target)
        _finished_files.append(target)
    _remove(old)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _temporary_path(target: Path) -> Path:
    return target.with_name(hidden_name(target.name, "part"))


@contextmanager
def _temporary(target: Path, mode: int) -> Iterator[IO[bytes]]:
    """Open a new file for what goes to the target; it is removed at the end, unless it was renamed."""
    if is_pipe(target):
        with tempfile.TemporaryFile() as file:
            yield file
        return
    path = _temporary_path(target)
    try:
        with _changing:
            _temporary_files.add(path)
            path.unlink(missing_ok=True)  # of a process that was killed
            raw = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(raw, "w+b") as file:
            try:
                yield file
            finally:
                with suppress(OSError):  # where what is left cannot be written either, the first error is told
                    file.flush()
    finally:
        path.unlink(missing_ok=True)
        _temporary_files.discard(path)


def _send(file: IO[bytes], target: Path) -> None:
    """Copy a finished file into a pipe."""
    file.seek(0)
    with io.BufferedWriter(open_pipe(target)) as pipe:  # a raw file may write less than it is given
        shutil.copyfileobj(file, pipe, 1 << 20)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait: either all files get their names, or none."""
    late: list[int] = []
    before = None
    if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
        before = signal.signal(signal.SIGINT, lambda number, _: late.append(number))
    try:
        with _changing:
            yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if late:
        signal.raise_signal(signal.SIGINT)


def _reason(error: OSError) -> str:
    """Say what the operating system says, without the path it repeats."""
    return (error.strerror or str(error)).lower()
