"""Word vectors: words that are used alike lie near each other.

Ours are embedded: 100,000 English words with 64 numbers each, made by `tools/build_vectors.py` from GloVe; a user's own
come from a file of the same format, also with more numbers or in half precision. A file is, in this order:

======  =====================================================================================================
line    `QUERYCLOAK VECTORS 1`
line    JSON: words (how many), dimensions, type (`int8` or `float16`), bytes (of the words)
bytes   the words in UTF-8, one per line, the most frequent first, padded with line ends to a multiple of 64
bytes   one row per word: int8 rows are unit vectors times 127, rounded; float16 rows have any length
======  =====================================================================================================

Rows are always used as int8: sums and products of small whole numbers are exact in any order, so that what is found
with them does not depend on the machine. The matrix of an int8 file stays on the disk and is mapped into memory.

>>> vectors = load_vectors()
>>> vectors
WordVectors(100,000 words, 64 dimensions)
>>> vectors.similarity("guitar", "violin") > 0.5 > vectors.similarity("guitar", "mortgage")
True
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from stat import S_ISFIFO
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError
from querycloak.knowledge.look_up import rows_of_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["MAGIC", "SCALE", "WordVectors", "load_vectors", "quantised"]

FILE: Final = "vectors.bin"
MAGIC: Final = b"QUERYCLOAK VECTORS 1\n"
ALIGNMENT: Final = 64
SCALE: Final = 127
"""Length of an int8 row, up to rounding."""
MOST_DIMENSIONS: Final = 1_024
"""Products of longer int8 rows would not be exact in single precision (2^24)."""
_LONGEST_HEADER: Final = 4_096

Int8s = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors:
    """Words, the most frequent first, and a row for each."""

    words: Mapping[str, int]
    """word → its row, in the order of the rows"""
    matrix: Int8s
    """int8[words, dimensions]: unit vectors times `SCALE`, rounded"""
    digest: str
    """SHA-256 of the file, in hexadecimal; empty for ours"""

    def __repr__(self) -> str:
        return f"WordVectors({len(self.matrix):,} words, {self.matrix.shape[1]} dimensions)"

    def similarity(self, one: str, other: str) -> float:
        """Return the cosine of two words, 0 where one is unknown."""
        a, b = self.words.get(one), self.words.get(other)
        if a is None or b is None:
            return 0.0
        return float(self.matrix[a].astype(np.int64) @ self.matrix[b].astype(np.int64)) / SCALE**2

    @cached_property
    def floats(self) -> npt.NDArray[np.float32]:
        """The matrix in single precision, for products: whole numbers, exact whatever the order of summing."""
        return self.matrix.astype(np.float32)


def load_vectors(path: str | PathLike[str] | None = None) -> WordVectors:
    """Return our vectors, or those of a user's file; what is wrong with a file is said."""
    if path is None:
        return _ours()
    try:
        state = Path(path).stat()
        if S_ISFIFO(state.st_mode):  # reading it would wait for a writer
            raise InputError.at(path, "expected a file of word vectors, found no plain file")
        return _of_file(Path(path), state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise InputError.at(path, f"the vectors cannot be read ({error.strerror})") from error


def quantised(rows: npt.NDArray[np.floating[Any]]) -> Int8s:
    """Return rows as unit vectors times `SCALE`, rounded; a row of zeros stays."""
    exact = rows.astype(np.float64)
    length = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return np.rint(exact / np.where(length > 0, length, 1.0) * SCALE).astype(np.int8)


@lru_cache(maxsize=2)
def _of_file(path: Path, _time: int, _size: int) -> WordVectors:
    """Read a file once, unless it changed."""
    return _read(path)


@cache
def _ours() -> WordVectors:
    with as_file(files("querycloak.knowledge") / FILE) as path:
        return _read(path, ours=True)


def _read(path: Path, *, ours: bool = False) -> WordVectors:
    size = path.stat().st_size
    with path.open("rb") as file:
        header = _header(file, path)
        text = file.read(min(header.bytes, size))
        start = file.tell()
    kind = np.dtype(header.type)
    expected = start + header.words * header.dimensions * kind.itemsize
    if len(text) < header.bytes or size != expected:
        problem = f"the file has {size:,} bytes and should have {expected:,}: it was cut short or has the wrong shape"
        raise InputError.at(path, problem)
    words = rows_of_lines(text.rstrip(b"\n")) if ours else _words(text, header.words, path)
    stored: npt.NDArray[Any] = np.asarray(np.memmap(path, kind, "r", start, (header.words, header.dimensions)))
    if kind == np.float16 and not np.isfinite(stored).all():
        raise InputError.at(path, "a vector has a value that is not a number")
    digest = "" if ours else sha256(path.read_bytes()).hexdigest()
    return WordVectors(words, stored if kind == np.int8 else quantised(stored), digest)


def _words(text: bytes, count: int, path: Path) -> dict[str, int]:
    """Return word → row; of a user's file, so that all are looked at."""
    try:
        listed = text.decode().rstrip("\n").split("\n")
    except UnicodeDecodeError:
        raise InputError.at(path, "the words are not in UTF-8") from None
    words = {word: row for row, word in enumerate(listed)}
    if len(listed) != count or len(words) != count or "" in words:
        raise InputError.at(path, f"expected {count:,} different words, found {len(words.keys() - {''}):,}")
    return words


class _Header(NamedTuple):
    words: int
    dimensions: int
    bytes: int
    type: str


def _header(file: BinaryIO, path: Path) -> _Header:
    """Read the two lines before the words, and refuse what does not fit."""
    if file.readline(len(MAGIC)) != MAGIC:
        problem = "expected a file of word vectors, which begins with 'QUERYCLOAK VECTORS 1'; tools/build_vectors.py "
        raise InputError.at(path, problem + "makes one from GloVe's text files")
    try:
        found = json.loads(file.readline(_LONGEST_HEADER))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not _fits(found):
        problem = "the second line must be JSON with words, dimensions and bytes (whole numbers from 1) and type"
        raise InputError.at(path, f"{problem} (int8 or float16)")
    header = _Header(found["words"], found["dimensions"], found["bytes"], found["type"])
    if header.dimensions > MOST_DIMENSIONS:
        raise InputError.at(path, f"vectors may have {MOST_DIMENSIONS:,} dimensions at most")
    return header


def _fits(found: dict[str, Any]) -> bool:
    kinds = ("int8", "float16")  # no set: what was found may be a list
    numbers = [found.get(name) for name in ("words", "dimensions", "bytes")]
    return all(type(n) is int and n > 0 for n in numbers) and found.get("type") in kinds
