"""Plain, gzip or Zstandard, told apart by the first bytes and not by the name."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import zstandard

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Compression", "compressing", "recognise_compression", "unpacked"]

Compression = Literal["", "gz", "zst"]

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"


def recognise_compression(start: bytes) -> Compression:
    """Tell by the first four bytes of a file."""
    if start.startswith(GZIP_MAGIC):
        return "gz"
    return "zst" if start.startswith(ZSTD_MAGIC) else ""


class _ChecksItsEnd:
    """A Zstandard stream that notices when the file is cut short: the library's own reader stops silently."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._make = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj
        self._frame: Any = None
        self._left = b""
        self._ready = b""

    def read(self, size: int) -> bytes:
        out = [self._ready]
        have = len(self._ready)
        while have < size:
            piece = self._next()
            if piece is None:
                break
            out.append(piece)
            have += len(piece)
        data = b"".join(out)
        self._ready = data[size:]
        return data[:size]

    def _next(self) -> bytes | None:
        """Give what the next compressed bytes hold, None at the end."""
        packed = self._left or self._raw.read(1 << 17)
        self._left = b""
        if not packed:
            if self._frame is not None:
                raise EOFError
            return None
        if self._frame is None:
            self._frame = self._make()
        piece: bytes = self._frame.decompress(packed)
        if self._frame.eof:
            self._left = self._frame.unused_data
            self._frame = None
        return piece


@contextmanager
def unpacked(raw: IO[bytes], path: Path, compression: Compression) -> Iterator[Any]:
    """Give a stream of the unpacked bytes; a file that is cut short or damaged is an InputError."""
    name = {"gz": "gzip", "zst": "Zstandard"}.get(compression, "")
    try:
        if compression == "gz":
            with gzip.GzipFile(fileobj=raw, mode="rb") as stream:
                yield stream
        elif compression == "zst":
            yield _ChecksItsEnd(raw)
        else:
            yield raw
    except EOFError:
        raise InputError.at(path, f"the {name} file is cut short; copy it again") from None
    except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError):
        raise InputError.at(path, f"the {name} file is damaged; copy it again") from None
    except OSError as error:
        raise InputError.at(path, f"cannot be read: {(error.strerror or 'input error').lower()}") from None


@contextmanager
def compressing(raw: IO[bytes], compression: Compression) -> Iterator[Any]:
    """Give a stream that packs what is written to it; the same bytes in give the same bytes out."""
    if compression == "gz":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as stream:
            yield stream
    elif compression == "zst":
        with zstandard.ZstdCompressor(level=3).stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw
