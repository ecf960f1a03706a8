"""Packing what is written like what was read; the same bytes in give the same bytes out."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from querycloak.logs.zstd import zstd

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
        options: dict[int, int] = {
            zstd.CompressionParameter.compression_level: 3,
            zstd.CompressionParameter.checksum_flag: 1,
        }
        with zstd.ZstdFile(raw, "wb", options=options) as stream:
            yield stream
    else:
        yield raw
