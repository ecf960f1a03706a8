"""Open a file that may be plain, gzip or zstd: recognised by content, and one cut short is refused."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, cast

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

__all__ = ["Compression", "compression_of", "open_binary"]

Compression = Literal["", "gz", "zst"]

_MAGIC: Final[dict[bytes, Compression]] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
_BLOCK: Final = 1 << 20


def compression_of(path: str | Path) -> Compression:
    """Tell how a file is compressed, by its first bytes and not by its name; InputError where it cannot be opened."""
    with _open_plain(path) as file:
        return _recognise(file.read(4))


def open_binary(path: str | Path) -> BinaryIO:
    """Open a file for reading its decompressed bytes.

    A missing file, a directory, and compressed data that are damaged or cut short raise InputError,
    the last two while reading.
    """
    file = _open_plain(path)
    head = _recognise(file.read(4))
    file.seek(0)
    if head == "":
        return file
    raw: BinaryIO = cast("BinaryIO", gzip.GzipFile(fileobj=file)) if head == "gz" else _Zstd(file)
    return cast("BinaryIO", io.BufferedReader(_Guarded(raw, file, path), _BLOCK))


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


class _Guarded(io.RawIOBase):
    """Reads through, and turns the three libraries' complaints into one InputError."""

    def __init__(self, source: BinaryIO, file: BinaryIO, path: str | Path) -> None:
        import zstandard

        self._source, self._file, self._path = source, file, path
        self._damaged: tuple[type[Exception], ...] = (zlib.error, gzip.BadGzipFile, zstandard.ZstdError)

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
        import zstandard

        self._file = file
        self._new_frame: Callable[[], Any] = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._input = b""
        self._output = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        while not self._output:
            data = self._input or self._file.read(_BLOCK // 8)
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
