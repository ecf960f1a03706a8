"""From bytes to records, piece by piece: lines found and checked, and their values coded. Batch and live read here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Count, read_plain
from querycloak.arrays.vocabulary import BROKEN, Vocabulary, sliced_texts
from querycloak.errors import InputError
from querycloak.logs import _records_kernels as kernels
from querycloak.logs._values_kernels import find_odd
from querycloak.logs.decoding import Decoder, Wrapping
from querycloak.logs.form import Column
from querycloak.logs.formats.jsonlines import KeyPath, json_column, opened_paths
from querycloak.logs.formats.table import separator_of
from querycloak.logs.formulas import unescaped, unescaped_texts
from querycloak.logs.json_keys import MOST_KEYS, KeyTable
from querycloak.logs.layout import ESCAPE
from querycloak.logs.problems import LONGEST_LINE
from querycloak.logs.user_ids import normal_user

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.form import LogForm
    from querycloak.logs.layout import Layout
    from querycloak.logs.problems import Problems

__all__ = ["RecordBatch", "RecordReader"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]

COLUMNS: Final = {"user": 0, "query": 1, "category": 2, "time": 3, "rank": 4, "url": 5}
"""role → column of the spans; columns without a role come after these"""
LEAST: Final = 3
"""columns that are found where only user, query and category are asked for"""
SPARE: Final = 8
"""columns for keys of JSON that turn up late"""
APOSTROPHE: Final = ord("'")
IS_WORD: Final = np.array([chr(byte).isalnum() and byte < 128 for byte in range(256)])
"""bool[256]: ASCII letters and digits"""
_JSON: Final = msgspec.json.Decoder(msgspec.Raw)
"""Checks whether lines are JSON, and builds nothing of them."""


class RecordState(msgspec.Struct, forbid_unknown_fields=True):
    """What a checkpoint keeps of a reader."""

    line: Count
    skipping: bool
    array: Annotated[list[Count], msgspec.Meta(min_length=4, max_length=4)]
    """see `Decoder.state`"""


@dataclass(frozen=True, eq=False, repr=False)
class RecordBatch:
    """The records of one piece of a source: see the drawing in `_records_kernels`."""

    data: bytes
    array: Bytes
    rows: Int32s
    spans: Int32s
    how: Bytes
    problem: InputError | None
    """what is wrong with the line after these records, if that ends the reading"""

    @property
    def status(self) -> Int32s:
        """int32[n]: status of each record; a view, to be written to."""
        return self.rows[:, kernels.STATUS]

    @property
    def good(self) -> Int32s:
        """int32: the rows of good records."""
        good = self.status == kernels.GOOD
        if good.all():  # as nearly always: nothing is searched
            return np.arange(len(good), dtype=np.int32)
        return np.flatnonzero(good).astype(np.int32)

    @cached_property
    def is_ascii(self) -> bool:
        """No byte is outside ASCII."""
        return self.data.isascii()

    def until(self, end: int) -> RecordBatch:
        """Return the first records."""
        return replace(self, rows=self.rows[:end], spans=self.spans[:end], how=self.how[:end])

    def kept(self) -> RecordBatch:
        """Return the good records."""
        good = self.status == kernels.GOOD
        if good.all():
            return self
        return replace(self, rows=self.rows[good], spans=self.spans[good], how=self.how[good])


class RecordReader:
    """Takes in bytes in pieces of any size, and returns the records of their whole lines."""

    def __init__(self, layout: Layout, problems: Problems, *, collect: bool, times: bool = False) -> None:
        """With `collect` the values of all columns are found, without only those of user, query and category.

        With `times` those of the time, too.
        """
        self.layout = layout
        self.problems = problems
        self.collect = collect
        self._least = LEAST + times
        self.decoder = Decoder(Wrapping.of(layout.form))
        self.extras: list[Column] = [c for c in layout.form.columns if c.role is None] if collect else []
        """columns without a role, which come after those of the roles"""
        self._columns = list(layout.form.columns)
        self._implicit: list[Column] = []  # extras of objects that are opened: used where one is no object
        self._typed: set[KeyPath] = set()
        self._ascii: bool | None = None
        self._to_skip = layout.begin
        self._rest = b""
        self._line = layout.lines
        self._skipping = False
        if layout.is_json:
            self._keys = self._key_table()
        else:
            self._table = self._table_shape()

    @property
    def unfinished(self) -> int:
        """Bytes taken in of a line that is not whole yet."""
        return self.decoder.raw_size(self._rest)

    @property
    def lines(self) -> int:
        """Lines read so far."""
        return self._line

    @property
    def width(self) -> int:
        """Columns of the spans."""
        return len(COLUMNS) + len(self.extras) if self.collect else self._least

    def read(self, raw: bytes, *, final: bool = False) -> RecordBatch:
        """Take in bytes; return the records of whole lines. After the final piece an unfinished line is whole."""
        return self.read_text(self.take_in(raw, final=final), final=final)

    def take_in(self, raw: bytes, *, final: bool = False) -> bytes:
        """Take in bytes; return their text, after what was left of a line: for `read_text`, or see `pass_over`."""
        text = self.decoder.decode(raw, final=final)
        if self._to_skip:
            cut = min(self._to_skip, len(text))
            text, self._to_skip = text[cut:], self._to_skip - cut
        data = self._rest + text if not self._skipping else self._skip(text)
        if final and data and not data.endswith(b"\n"):
            data += b"\n" if data.endswith(b"\r") else self.layout.line_end
        self._rest = b""
        return data

    def pass_over(self, data: bytes, consumed: int, lines: int) -> None:
        """Note that somebody else has found the records of whole lines of a text: bytes and number of these lines."""
        self._rest = data[consumed:]
        self._line += lines

    def read_text(self, data: bytes, *, final: bool = False) -> RecordBatch:
        """Return the records of the whole lines of a text that `take_in` returned."""
        array = np.frombuffer(data, dtype=np.uint8)
        found, n = self._split(data, array, final=final)
        consumed = int(found.rows[n, kernels.BEGIN])
        self._rest = data[consumed:]
        problem = None
        if len(self._rest) > LONGEST_LINE:
            if self.problems.stop:
                number = self._line + data.count(b"\n", 0, consumed) + 1
                problem = self.problems.error(kernels.TOO_LONG, number)
            else:
                self.problems.count(kernels.TOO_LONG)
            self._rest, self._skipping = b"", True
        batch = RecordBatch(data, array, found.rows[:n], found.spans[:n], found.how[:n], problem)
        if not batch.is_ascii:
            self._check_text(batch, consumed)
        if self.layout.is_json:
            self._check_json(batch, consumed)
        return batch

    def split(self, data: bytes) -> RecordBatch:
        """Find the values of whole lines that were read and checked before, and are decoded."""
        array = np.frombuffer(data, dtype=np.uint8)
        found, n = self._split(data, array, final=True, longest=2 * LONGEST_LINE)
        return RecordBatch(data, array, found.rows[:n], found.spans[:n], found.how[:n], None)

    def code(self, batch: RecordBatch, column: int, vocabulary: Vocabulary) -> Int32s:
        """int32[n]: codes of a value of the good records, -1 elsewhere and where there is none.

        Users are coded in their normal form. A record whose value is broken, or empty where it must not be, is marked.
        """
        rows = batch.good
        how = batch.how[:, column]
        escaped = (how if len(rows) == len(how) else how[rows]) == kernels.ESCAPED
        odd = escaped.copy()
        if self.layout.form.safe_csv:
            odd |= self._apostrophes(batch, column)[rows]
        if column == kernels.USER:
            find_odd(batch.array, batch.spans, 2 * column, rows, batch.is_ascii, odd)
        spans, at = batch.spans, 2 * column
        if escaped.any():  # with its quote, a value that has escapes is told from one that only looks like it
            spans, at = batch.spans[:, at : at + 2].copy(), 0
            spans[rows[escaped], 0] -= 1
        code = vocabulary.code(batch.array, spans, at, rows, odd, lambda texts: self._meaning(texts, column))
        if odd.any():
            batch.status[code == BROKEN] = kernels.MALFORMED
            if column != kernels.CATEGORY and (column != kernels.USER or self.layout.has_user):
                empty = rows[code[rows] == -1]
                batch.status[empty] = kernels.NO_USER if column == kernels.USER else kernels.NO_QUERY
        return code

    def _apostrophes(self, batch: RecordBatch, column: int) -> npt.NDArray[np.bool_]:
        """bool[n]: an apostrophe of a value may be there for spreadsheets: it is before no letter or digit."""
        at = np.flatnonzero(batch.array[:-1] == APOSTROPHE)
        at = at[~IS_WORD[batch.array[at + 1]]]
        begin, end = batch.spans[:, 2 * column], batch.spans[:, 2 * column + 1]
        return np.asarray(np.searchsorted(at, begin) < np.searchsorted(at, end))

    def _meaning(self, texts: list[bytes], column: int) -> list[bytes | None]:
        plain = self.layout.plain(texts)
        if self.layout.form.safe_csv:  # columns of codes hold texts
            plain = [None if text is None else unescaped(text.decode()).encode() for text in plain]
        if column == kernels.USER:
            return [None if text is None else normal_user(text.decode()).encode() for text in plain]
        if column == kernels.QUERY:
            return [b"" if text is not None and not text.strip(b" \t") else text for text in plain]
        return plain

    def settle(self, batch: RecordBatch, until: int | None = None) -> tuple[int, InputError | None]:
        """Count what is left out; where a bad line ends the reading, return how many records come before, and why.

        `until`: the end of the last line, where the batch does not have its record any more.
        """
        status = batch.status
        end, problem = len(status), None
        if self.problems.stop:
            bad = np.flatnonzero((status >= kernels.FIELDS) & (status <= kernels.BAD_TIME))
            if len(bad):
                end = int(bad[0])
                begin, _, kind, fields = batch.rows[end].tolist()
                problem = self.problems.error(kind, self._line + batch.data.count(b"\n", 0, begin) + 1, fields)
        for kind, times in enumerate(np.bincount(status[:end], minlength=kernels.BAD_TIME + 1).tolist()):
            if kernels.GOOD < kind <= kernels.BAD_TIME:
                self.problems.count(kind, times)
        if until is None:
            until = int(batch.rows[-1, kernels.END]) if len(status) else 0
        if problem is None:
            self._line += int(kernels.count_lines(batch.array[:until]))
        return end, problem

    def texts(self, batch: RecordBatch, column: int) -> pl.Series:
        """Return the values of a column as text; null = missing or empty."""
        import polars as pl

        begin, end = (batch.spans[:, 2 * column + i].astype(np.int64) for i in (0, 1))
        found = sliced_texts(batch.data, begin, end - begin)
        escaped = np.flatnonzero(batch.how[:, column] == kernels.ESCAPED)
        if len(escaped):
            written = [
                batch.data[a - 1 : b] for a, b in zip(begin[escaped].tolist(), end[escaped].tolist(), strict=True)
            ]
            meant = [None if text is None else text.decode() for text in self.layout.plain(written)]
            found = found.scatter(pl.Series(escaped), pl.Series(meant, dtype=pl.String))
        found = found.set(pl.Series(begin == end), None)
        return unescaped_texts(found, self._column_at(column), self.layout.form)

    def _column_at(self, column: int) -> Column:
        """Return the column of the form that has this number in the spans."""
        if column >= len(COLUMNS):
            return self.extras[column - len(COLUMNS)]
        return next((c for c in self._columns if c.role is not None and COLUMNS[c.role] == column), Column("", None))

    def form(self) -> LogForm:
        """Return the form as far as it is known: complete once all records were read."""
        if not (self.collect and self.layout.is_json):
            return self.layout.form
        return replace(self.layout.form, columns=tuple(self._columns), json_ascii=bool(self._ascii))

    def to_state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps: values that JSON can hold. Unfinished lines are read again."""
        array = self.decoder.state(inside=self._skipping, begun=self._line > 0)
        return dict(msgspec.to_builtins(RecordState(self._line, self._skipping, array)))

    def from_state(self, state: dict[str, Any]) -> None:
        """Go on after a checkpoint, at the begin of a line; BadStateError where the state is none."""
        said = read_plain(state, RecordState)
        self._line, self._skipping, self._to_skip = said.line, said.skipping, 0
        self.decoder = Decoder(Wrapping.of(self.layout.form), said.array)

    def _skip(self, data: bytes) -> bytes:
        """Pass over the rest of a line that is too long."""
        end = data.find(b"\n")
        if end < 0:
            return b""
        self._skipping = False
        self._line += 1
        return data[end + 1 :]

    def _table_shape(self) -> kernels.Table:
        """Return how the kernel is to split lines."""
        column, extra = [], len(COLUMNS)
        for c in self.layout.form.columns:
            at = extra if c.role is None else COLUMNS[c.role]
            extra += c.role is None
            column.append(at if at < self.width else -1)
        return kernels.Table(
            column=np.array(column, dtype=np.int32),
            header=np.frombuffer(self.layout.head.rstrip(b"\r\n"), dtype=np.uint8),
            separator=ord(separator_of(self.layout.form)),
            quotes=self.layout.is_csv,
            needs_user=self.layout.has_user,
        )

    def _key_table(self) -> KeyTable:
        at = {c.path or (c.name,): COLUMNS[c.role] for c in self._columns if c.role is not None}
        if not self.collect:
            return KeyTable({path: column for path, column in at.items() if column < self._least})
        at |= {c.path or (c.name,): len(COLUMNS) + i for i, c in enumerate(self.extras)}
        for path in sorted(opened_paths(at) - at.keys()):
            made = json_column(path, None, {c.name for c in (*self._columns, *self._implicit)})
            at[path] = len(COLUMNS) + len(self.extras)
            self.extras.append(made)
            self._implicit.append(made)
        return KeyTable(at)

    def _split(
        self, data: bytes, array: Bytes, *, final: bool, longest: int = LONGEST_LINE
    ) -> tuple[kernels.Records, int]:
        """Find the records; return them with one row more, and how many there are."""
        size = kernels.count_lines(array) + 2
        width = self.width + (SPARE if self.collect and self.layout.is_json else 0)
        found = _empty(size, width)
        if not self.layout.is_json and not (self._table.quotes and b'"' in data):
            return found, kernels.split_plain(array, self._table, longest, found)
        if not self.layout.is_json:
            return found, kernels.split_table(array, self._table, longest, final, found)
        n = at = 0
        while True:
            flags = (self.collect, self.layout.has_user, len(COLUMNS))
            n = kernels.split_json(array, self._keys.arrays, flags, longest, n, at, found)
            at = int(found.rows[n, kernels.BEGIN])
            if found.rows[n, kernels.STATUS] != kernels.NEW_KEY:
                break
            if not self._learn_key(data, found, n):
                found.rows[n, kernels.STATUS] = kernels.MALFORMED
                n, at = n + 1, int(found.rows[n, kernels.END])
            elif self.width > found.how.shape[1]:
                found = _widened(found, self.width + SPARE)
        if self.collect:
            self._learn_style(data, found, n)
        return found, n

    def _learn_key(self, data: bytes, found: kernels.Records, n: int) -> bool:
        """Add the new key at which the kernel stopped; False where its line is no JSON."""
        begin, end = found.rows[n, : kernels.STATUS].tolist()
        parent, (key, stop) = int(found.rows[n, kernels.FOUND]), found.spans[n, :2].tolist()
        path = self._keys.path(parent, data[key:stop])
        if path is None or not _is_json(data[begin:end]):
            return False
        if len(self._keys) >= MOST_KEYS:
            if self.collect:
                problem = f"more than {MOST_KEYS:,} different keys; a log has the same keys in every object"
                raise InputError.at(self.problems.source, problem)
            self._keys = self._key_table()  # what was added means nothing to us, and is found again
        column = -1
        if self.collect and not self._keys.knows(path):
            made = json_column(path, None, {c.name for c in (*self._columns, *self._implicit)})
            self._columns.append(made)
            self.extras.append(made)
            column = len(COLUMNS) + len(self.extras) - 1
        self._keys.spell(parent, data[key:stop], path, column)
        return True

    def _learn_style(self, data: bytes, found: kernels.Records, n: int) -> None:
        """Note how values are written: bare numbers, null for a missing one, escapes outside ASCII."""
        if self._ascii is not False:  # one character written as it is settles it
            self._ascii = (self._ascii or ESCAPE.search(data) is not None or None) if data.isascii() else False
        good = found.rows[:n, kernels.STATUS] == kernels.GOOD
        for made in list(self._implicit):
            if (found.how[:n, len(COLUMNS) + self.extras.index(made)] != kernels.MISSING).any():
                self._columns.append(made)
                self._implicit.remove(made)
        for i, column in enumerate(self._columns):
            if column.role is None:
                continue
            how = found.how[:n, COLUMNS[column.role]][good]
            if not column.null and (how == kernels.NULL).any():
                self._columns[i] = replace(column, null=True)
            path = column.path or (column.name,)
            written = how[(how != kernels.MISSING) & (how != kernels.NULL)]
            if path not in self._typed and len(written):
                self._typed.add(path)
                if column.kind == "text" and written[0] == kernels.BARE:
                    self._columns[i] = replace(self._columns[i], kind="number")

    def _check_text(self, batch: RecordBatch, consumed: int) -> None:
        """Mark the lines that are not valid in the encoding."""
        try:
            batch.data[:consumed].decode()
        except UnicodeDecodeError:
            for i, (begin, end) in enumerate(batch.rows[:, : kernels.STATUS].tolist()):
                try:
                    batch.data[begin:end].decode()
                except UnicodeDecodeError:
                    batch.status[i] = kernels.NOT_TEXT

    def _check_json(self, batch: RecordBatch, consumed: int) -> None:
        """Mark the lines that are no JSON: the kernel looks at keys and brackets only."""
        try:
            _JSON.decode_lines(batch.data[:consumed])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            sound = (batch.status == kernels.GOOD) | (batch.status == kernels.NO_USER)
            for i in np.flatnonzero(sound | (batch.status == kernels.NO_QUERY)).tolist():
                if not _is_json(batch.data[slice(*batch.rows[i, : kernels.STATUS])]):
                    batch.status[i] = kernels.MALFORMED


def _is_json(line: bytes) -> bool:
    try:
        _JSON.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _empty(size: int, width: int) -> kernels.Records:
    rows = np.empty((size, kernels.ROW_FIELDS), dtype=np.int32)
    return kernels.Records(rows, np.empty((size, 2 * width), np.int32), np.empty((size, width), np.uint8))


def _widened(found: kernels.Records, width: int) -> kernels.Records:
    spans = np.zeros((len(found.spans), 2 * width), dtype=np.int32)
    how = np.zeros((len(found.how), width), dtype=np.uint8)
    spans[:, : found.spans.shape[1]], how[:, : found.how.shape[1]] = found.spans, found.how
    return kernels.Records(found.rows, spans, how)
