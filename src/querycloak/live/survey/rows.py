"""The rows of a stream as numbers: who, in which category, when, and which texts are equal. No text is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from querycloak.logs.builder import LogBuilder
from querycloak.logs.decoding import Decoder, find_wrapping
from querycloak.logs.layout import find_layout, refuse_packed
from querycloak.logs.problems import LONGEST_LINE
from querycloak.logs.query_log import NO_CODE
from querycloak.logs.records import RecordReader
from querycloak.mapping.category_tree import UNCLASSIFIED, split_path
from querycloak.releases.truth_file import escaped

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["Names", "PathFinder", "RowReader", "Rows"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Path = tuple[str, ...]


class PathFinder(Protocol):
    """What finds the path of a query that comes without a category."""

    def path(self, query: str) -> Path:
        """Return the path, or () where there is none."""


class Names:
    """Numbers for ids, in the order in which they come; ids are kept as the truth writes them."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._code)

    def code(self, written: str) -> int:
        """Return the number of an id as the truth writes it; a new one is added."""
        return self._code.setdefault(written, len(self._code))

    def find(self, written: str) -> int:
        """Return the number of an id, -1 = it has not come."""
        return self._code.get(written, NO_CODE)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Rows in their order."""

    user: Int32s
    """int32[n], into the names of the reader"""
    path: Int32s
    """int32[n], into `paths` of the reader"""
    text: npt.NDArray[np.uint64]
    """uint64[n]: hash of each text"""
    time: Int64s | None

    def __len__(self) -> int:
        return len(self.user)

    def cut(self, begin: int, end: int) -> Rows:
        """Return some of the rows."""
        time = None if self.time is None else self.time[begin:end]
        return Rows(self.user[begin:end], self.path[begin:end], self.text[begin:end], time)

    def and_then(self, other: Rows) -> Rows:
        """Return these rows and others."""
        time = None if self.time is None or other.time is None else np.concatenate([self.time, other.time])
        return Rows(
            np.concatenate([self.user, other.user]),
            np.concatenate([self.path, other.path]),
            np.concatenate([self.text, other.text]),
            time,
        )


class RowReader:
    """Takes in bytes as they come, and returns the rows of whole lines.

    The layout is found in the first lines, as that of a log.
    """

    def __init__(
        self, name: object, options: ReadOptions, names: Names, finder: PathFinder, *, safe_csv: bool = False
    ) -> None:
        """`names` numbers the users; `finder` finds categories where there is no such column.

        With `safe_csv`, texts of CSV are read without the apostrophes that `stream` put before formulas.
        """
        self.paths: list[Path] = [UNCLASSIFIED]
        """distinct paths, in the order in which they came"""
        self.rows = 0
        self._name, self._options, self._names, self._finder = name, options, names, finder
        self._safe_csv = safe_csv
        self._path_of: dict[str, int] = {}  # of categories, or of queries where there are none
        self._first = b""
        self._records: RecordReader | None = None
        self._time_format: str | None = None

    def read(self, data: bytes, *, final: bool = False) -> Rows | None:
        """Take in bytes; None while no line is whole."""
        if self._records is None:
            self._first += data
            whole = b"\n" in self._first.lstrip(b"\r\n") or len(self._first) > 2 * LONGEST_LINE
            if not self._first or not (whole or final):
                return None
            self._records, data = self._found(self._first), self._first
            self._first = b""
        builder = LogBuilder(self._records, self._time_format, self._options.max_memory)
        builder.add(self._records.read(data, final=final))
        self._time_format = builder.time_format or self._time_format
        return self._as_rows(builder.finish(self._records.form()))

    def _found(self, first: bytes) -> RecordReader:
        options = self._options
        refuse_packed(first, self._name, options.format)
        wrapping = find_wrapping(first, self._name, options.encoding, options.format)
        text = Decoder(wrapping).decode(first)
        layout = find_layout(text, self._name, options, wrapping)
        if self._safe_csv and layout.is_csv:
            layout = find_layout(text, self._name, replace(options, unescape=True), wrapping)
        problems = layout.problems(self._name, stop=options.on_error == "stop")
        return RecordReader(layout, problems, collect=True)

    def _as_rows(self, log: QueryLog) -> Rows:
        self.rows += len(log)
        user = np.array([self._names.code(escaped(u)) for u in log.users.to_list()] or [0], dtype=np.int32)
        if log.category is not None and log.categories is not None:
            known = [self._category(text) for text in log.categories.to_list()]
            path = np.array([*known, 0], dtype=np.int32)[log.category]  # no category: code -1, the last
        else:
            path = np.array([self._mapped(text) for text in log.queries.to_list()] or [0], dtype=np.int32)[log.query]
        text = log.queries.hash(seed=1).to_numpy()
        hashes = text[log.query] if len(text) else np.zeros(len(log), dtype=np.uint64)
        return Rows(user[log.user] if len(log) else user[:0], path, hashes, log.time)

    def _category(self, text: str) -> int:
        found = self._path_of.get(text)
        if found is None:
            path = split_path(text, self._options.category_separator) or UNCLASSIFIED
            found = self._path_of[text] = 0 if path == UNCLASSIFIED else self._add(path)
        return found

    def _mapped(self, query: str) -> int:
        path = self._finder.path(query)
        key = "/".join(path)  # numbers of concepts
        if key not in self._path_of:
            self._path_of[key] = 0 if path == UNCLASSIFIED else self._add(path)
        return self._path_of[key]

    def _add(self, path: Path) -> int:
        self.paths.append(path)
        return len(self.paths) - 1
