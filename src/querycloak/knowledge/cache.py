"""What was read of a large file, kept in the user's cache folder for the next time.

A kept file is found by a digest of the whole source (its bytes, not its name, size or time), of the code that reads it
and of what it is read as: a source or a reader that changed has another name, so an old answer is never given. The file
begins with a digest of its own content: one that is damaged or cut short is not used, and written again. It is Arrow
data (`packed.py`), nothing that could run. Where the folder cannot be written, nothing is kept, and that is no error.

`QUERYCLOAK_CACHE` names another folder, or is `off`. A directory of one's own may tell about its owner, so the folder
and its files are for the user alone.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from querycloak.errors import OutputError
from querycloak.logs.atomic import PRIVATE, writing

__all__ = ["VARIABLE", "Slot", "cache_folder", "find_slot"]

VARIABLE: Final = "QUERYCLOAK_CACHE"
"""The environment variable: a folder, or `off`."""
WORTH_KEEPING: Final = 1 << 18
"""Bytes of a source from which on it is kept; a smaller one is read in a tenth of a second."""
MOST_KEPT: Final = 8
"""Files in the folder; of more, those that were not used for the longest time are removed."""
_READERS: Final = (
    "../logs/compression.py _rdf.py _tree.py addresses.py directory.py odp.py packed.py paths.py table.py taxonomy.py"
)
"""The code on which the answer depends; an edit makes new names."""
_DIGEST_BYTES: Final = 32
_SUFFIX: Final = ".kept"


def cache_folder() -> Path | None:
    """Return the folder of kept files, which may not exist yet; None = nothing is kept."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in {"off", "0", "no"}:
        return None
    if chosen:
        return Path(chosen)
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():  # as its specification asks: a relative path is passed over
        return Path(given) / "querycloak"
    with suppress(RuntimeError):  # a user without a home
        return Path.home() / ".cache" / "querycloak"
    return None


@dataclass(frozen=True)
class Slot:
    """Where what is read of one file is kept."""

    source: Path
    content: bytes
    """digest of the source"""
    path: Path

    def load(self) -> bytes | None:
        """Return what was kept; None where there is nothing, or nothing that can be trusted."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return None
        if len(data) < _DIGEST_BYTES or _digest(data[_DIGEST_BYTES:]) != data[:_DIGEST_BYTES]:
            return None
        with suppress(OSError):
            os.utime(self.path)  # used just now
        return data[_DIGEST_BYTES:]

    def save(self, data: bytes) -> None:
        """Keep what was read; not where the source has changed meanwhile, or the folder cannot be written."""
        try:
            if _digest_of(self.source) != self.content:
                return
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with writing(self.path, mode=PRIVATE) as (file,):
                file.write(_digest(data))
                file.write(data)
            _remove_old(self.path.parent)
        except (OSError, OutputError):
            return


def find_slot(path: str | Path, kind: str) -> Slot | None:
    """Return where what is read of a file as `kind` is kept; None for what is small, no plain file, or switched off."""
    folder, source = cache_folder(), Path(path)
    try:
        if folder is None or not source.is_file() or source.stat().st_size < WORTH_KEEPING:
            return None
        content = _digest_of(source)
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return None
    name = _digest(b"\0".join((kind.encode(), _readers(), content))).hex()
    return Slot(source, content, folder / f"{kind}-{name}{_SUFFIX}")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _digest_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).digest()


def _readers() -> bytes:
    """Return a digest of the code that reads, and of the libraries that it leaves the work to."""
    import numpy as np
    import polars as pl

    folder = Path(__file__).parent
    code = b"\0".join((folder / name).read_bytes() for name in _READERS.split())
    return _digest(f"{pl.__version__} {np.__version__} ".encode() + code)


def _remove_old(folder: Path) -> None:
    """Remove the files that were not used for the longest time."""
    kept = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in kept[MOST_KEPT:]:
        path.unlink(missing_ok=True)
