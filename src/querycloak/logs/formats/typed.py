"""Tables with typed columns, of a Parquet file or in memory: roles are read as text and coded, all else keeps its type.

What a value is as text decides who is one person, so numbers are taken with care. A whole number is its digits, also
where a column of numbers with gaps made it 17.0; what is not a number (NaN) is missing. A user id with a fraction, or
so large that neighbouring numbers are the same float, is refused: two people may be one there. Each value is judged by
itself, so that no row changes what another is read as.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from querycloak.errors import InputError
from querycloak.logs import _records_kernels as kernels
from querycloak.logs.builder import LogBuilder
from querycloak.logs.columns import assign
from querycloak.logs.form import LogForm
from querycloak.logs.layout import Layout
from querycloak.logs.problems import LONGEST_LINE
from querycloak.logs.records import COLUMNS, RecordBatch, RecordReader
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.form import Column
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["read_typed"]

ROWS: Final = 200_000
"""rows read at once"""
EXACT: Final[dict[type[pl.DataType], int]] = {pl.Float16: 2**11, pl.Float32: 2**24, pl.Float64: 2**53}
"""from here on two whole numbers may be the same float"""
NOT_TEXT: Final = (pl.Binary, pl.Boolean, pl.Object)


def read_typed(
    table: pl.LazyFrame,
    source: object,
    options: ReadOptions,
    form: LogForm | None = None,
    progress: Progress = QUIET,
) -> QueryLog:
    """Read a table; times may be its own, numbers or text. `source` is what messages call it."""
    schema = table.collect_schema()
    mapping = dict(options.columns) or None
    columns = form.columns if form else assign(schema.names(), mapping, source, surely_names=True)
    columns = tuple(_typed(column, schema[column.name], source) for column in columns if column.name in schema)
    roles = {column.role: column.name for column in columns if column.role is not None}
    own_time = "time" in roles and schema[roles["time"]].is_temporal()
    if "user" in roles and schema[roles["user"]].is_float():
        _refuse_inexact(table, roles["user"], schema[roles["user"]], source)
    layout = Layout(LogForm("parquet", columns), b"", 0, 0)
    problems = layout.problems(source, stop=options.on_error == "stop")
    problems.unit = "row"
    reader = RecordReader(layout, problems, collect=True)
    builder = LogBuilder(reader, "epoch" if own_time else None, options.max_memory, options.category_separator)
    texts = [_as_text(column, schema[column.name]) for column in columns if column.role is not None]
    others = [column.name for column in columns if column.role is None]
    rows = int(table.select(pl.len()).collect().item())
    for start in range(0, max(rows, 1), ROWS):
        frame = table.slice(start, ROWS).with_columns(texts).collect()
        builder.add(_batch(frame, columns), frame.select(others) if others else None)
        progress.advance(len(frame))
    time_format = "datetime" if own_time else builder.time_format or "epoch"
    return builder.finish(replace(layout.form, time_format=time_format))


def _batch(frame: pl.DataFrame, columns: tuple[Column, ...]) -> RecordBatch:
    """Return rows as records: the texts of each column after each other, and where each begins and ends.

    One line end per row comes first, so that rows are numbered like lines.
    """
    n = len(frame)
    rows = np.zeros((n, kernels.ROW_FIELDS), dtype=np.int32)
    spans = np.zeros((n, 2 * len(COLUMNS)), dtype=np.int32)
    how = np.zeros((n, len(COLUMNS)), dtype=np.uint8)
    rows[:, kernels.BEGIN], rows[:, kernels.END] = np.arange(n), np.arange(1, n + 1)
    parts, at = [b"\n" * n], n
    length = np.zeros(n, dtype=np.int64)  # of the record
    for c in columns:
        if c.role is None:
            continue
        column, texts = COLUMNS[c.role], frame[c.name].fill_null("")
        lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
        length += lengths
        ends = at + np.cumsum(lengths)
        if n and ends[-1] > np.iinfo(np.int32).max:
            raise MemoryError
        spans[:, 2 * column], spans[:, 2 * column + 1] = ends - lengths, ends
        how[:, column] = np.where(lengths > 0, kernels.BARE, kernels.MISSING)
        part = str(texts.str.join("").item()).encode() if n else b""
        parts.append(part)
        at = int(ends[-1]) if n else at
        if column in (kernels.USER, kernels.QUERY):
            empty = (texts.str.strip_chars(" \t").str.len_bytes() == 0).to_numpy()
            if column == kernels.USER:  # first, wherever the column is: a row without both lacks a user, as in files
                rows[empty, kernels.STATUS] = kernels.NO_USER
            else:
                rows[empty & (rows[:, kernels.STATUS] == kernels.GOOD), kernels.STATUS] = kernels.NO_QUERY
        if b"\0" in part:
            rows[texts.str.contains("\0", literal=True).to_numpy(), kernels.STATUS] = kernels.NUL
    rows[length > LONGEST_LINE, kernels.STATUS] = kernels.TOO_LONG
    data = b"".join(parts)
    return RecordBatch(data, np.frombuffer(data, dtype=np.uint8), rows, spans, how, None)


def _typed(column: Column, dtype: pl.DataType, source: object) -> Column:
    """Note whether the column holds numbers; refuse one whose values cannot be text, or no time where one is asked."""
    if column.role is None:
        return column
    known = column.role in {"user", "query"}
    no_time = column.role == "time" and isinstance(dtype, pl.Time | pl.Duration)
    if dtype.is_nested() or isinstance(dtype, NOT_TEXT) or (known and isinstance(dtype, pl.Null)) or no_time:
        expected = "text, numbers or dates with times" if column.role == "time" else "text or numbers"
        found = str(dtype).split("(")[0]
        raise InputError.at(source, f"the column for the {column.role} holds {found} values; expected {expected}")
    return replace(column, kind="number" if dtype.is_numeric() else "text")


def _refuse_inexact(table: pl.LazyFrame, name: str, dtype: pl.DataType, source: object) -> None:
    """Refuse user ids that are floats and not surely the whole numbers that they were."""
    found = table.select((~_is_whole(name, dtype)).sum()).collect().item()
    if found:
        problem = (
            f"the column for the user holds {dtype} values, of which {found:,} are no whole numbers that are exact as "
            "such: two people may have become one; give the ids as text or as integers"
        )
        raise InputError.at(source, problem)


def _is_whole(name: str, dtype: pl.DataType) -> pl.Expr:
    value = pl.col(name).fill_nan(None)
    return (value.floor() == value) & (value.abs() < EXACT[type(dtype)])


def _as_text(column: Column, dtype: pl.DataType) -> pl.Expr:
    value = pl.col(column.name)
    if column.role == "time" and dtype.is_temporal():
        return value.cast(pl.Datetime("us")).dt.epoch("s").cast(pl.String)
    if dtype.is_float():
        whole = value.cast(pl.Int64, strict=False).cast(pl.String)
        return pl.when(_is_whole(column.name, dtype)).then(whole).otherwise(value.fill_nan(None).cast(pl.String))
    return value.cast(pl.String)
