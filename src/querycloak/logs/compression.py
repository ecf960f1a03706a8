"""Open a file that may be plain, gzip or zstd: recognised by content, and one cut short is refused."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, cast

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

__all__ = ["Compression", "Source", "compression_of", "open_binary", "open_source"]

Compression = Literal["", "gz", "zst"]

_MAGIC: Final[dict[bytes, Compression]] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
_BLOCK: Final = 1 << 20
HEAD: Final = 4
"""bytes that tell a compression"""
_ZSTD_PIECE: Final = 1 << 11
"""Packed bytes that are unpacked at once: a block of 128 KB may take four of them, so that these are 64 MB at most."""


@dataclass(frozen=True)
class Source:
    """A log that is open."""

    stream: BinaryIO
    """its decompressed bytes"""
    compression: Compression
    size: int | None
    """bytes of the stream, where they are known before"""


def compression_of(path: str | Path) -> Compression:
    """Tell how a file is compressed, by its first bytes and not by its name; InputError where it cannot be opened."""
    with _open_plain(path) as file:
        return _recognise(file.read(HEAD))


def open_binary(path: str | Path) -> BinaryIO:
    """Open a file for reading its decompressed bytes.

    A missing file, a directory, and compressed data that are damaged or cut short raise InputError,
    the last two while reading.
    """
    return _open(_open_plain(path), path).stream


@contextmanager
def open_source(path: str | Path) -> Iterator[Source]:
    """Open a log: a file, a named pipe, or standard input ("-"); nothing is read twice."""
    if str(path) == "-":
        import sys

        yield _open(sys.stdin.buffer, path)
        return
    source = _open(_open_plain(path), path)
    with closing(source.stream):
        yield source


def _open(file: BinaryIO, path: str | Path) -> Source:
    head = file.read(HEAD)
    compression = _recognise(head)
    try:
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        size = os.fstat(file.fileno()).st_size if regular and not compression else None
    except OSError:  # a stream that is no file of the system
        size = None
    if size is not None:
        file.seek(0)
        return Source(file, "", size)
    whole = cast("BinaryIO", io.BufferedReader(_Again(head, file), _BLOCK))
    if not compression:
        return Source(whole, "", None)
    raw: BinaryIO = cast("BinaryIO", gzip.GzipFile(fileobj=whole)) if compression == "gz" else _Zstd(whole)
    guarded = cast("BinaryIO", io.BufferedReader(_Guarded(raw, file, path), _BLOCK))
    return Source(guarded, compression, None)


def _recognise(head: bytes) -> Compression:
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def _open_plain(path: str | Path) -> BinaryIO:
    try:
        return Path(path).open("rb", buffering=_BLOCK)
    except FileNotFoundError:
        raise InputError.at(path, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.at(path, "expected a file, found a directory") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.at(path, f"cannot be opened ({reason})") from None


class _Again(io.RawIOBase):
    """A file whose first bytes were read already, and are read again: a pipe cannot be wound back."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = head, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self._head[: len(view)] or self._file.read1(len(view))  # type: ignore[attr-defined]
        self._head = self._head[len(view) :] if self._head else b""
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _Guarded(io.RawIOBase):
    """Reads through, and turns the three libraries' complaints into one InputError."""

    def __init__(self, source: BinaryIO, file: BinaryIO, path: str | Path) -> None:
        from querycloak.logs.zstd import zstd

        self._source, self._file, self._path = source, file, path
        self._damaged: tuple[type[Exception], ...] = (zlib.error, gzip.BadGzipFile, zstd.ZstdError)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._source.read(len(view))
        except EOFError:
            raise InputError.at(self._path, "the compressed file is cut short: fetch or write it again") from None
        except self._damaged:
            raise InputError.at(self._path, "the compressed data are damaged: fetch or write the file again") from None
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
            self._file.close()
        super().close()


class _Zstd(io.RawIOBase, BinaryIO):
    """Frames one after the other. The library's own reader takes a file cut short for a finished one."""

    def __init__(self, file: BinaryIO) -> None:
        from querycloak.logs.zstd import zstd

        self._file = file
        self._new_frame: Callable[[], Any] = zstd.ZstdDecompressor
        self._frame: Any = None
        self._input = b""
        self._output = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        while not self._output:
            data = self._input or self._file.read(_ZSTD_PIECE)
            self._input = b""
            if not data:
                if self._frame is not None:
                    raise EOFError
                return b""
            self._frame = self._frame or self._new_frame()
            self._output = memoryview(self._frame.decompress(data))
            if self._frame.eof:
                self._input, self._frame = self._frame.unused_data, None
        end = len(self._output) if size < 0 else size
        out, self._output = bytes(self._output[:end]), self._output[end:]
        return out
