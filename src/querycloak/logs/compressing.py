"""Packing what is written like what was read; the same bytes in give the same bytes out."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.logs.compression import Compression

__all__ = ["compressing"]


@contextmanager
def compressing(raw: IO[bytes], compression: Compression) -> Iterator[Any]:
    """Return a stream that packs what is written to it; no name and no time of writing goes into the file."""
    if compression == "gz":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as stream:
            yield stream
    elif compression == "zst":
        with zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw
