"""Parquet: typed columns; those with a role are read as text and coded, all others keep their type."""

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
from querycloak.logs.records import COLUMNS, RecordBatch, RecordReader

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.logs.form import Column
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["read_parquet"]

ROWS: Final = 200_000
"""rows read at once"""


def read_parquet(path: Path, options: ReadOptions, form: LogForm | None) -> QueryLog:
    """Read a Parquet file; times may be its own, numbers or text."""
    table = pl.scan_parquet(path)
    schema = table.collect_schema()
    mapping = dict(options.columns) or None
    columns = form.columns if form else assign(schema.names(), mapping, path, surely_names=True)
    columns = tuple(_typed(column, schema[column.name], path) for column in columns if column.name in schema)
    roles = {column.role: column.name for column in columns if column.role is not None}
    own_time = "time" in roles and schema[roles["time"]].is_temporal()
    layout = Layout(LogForm("parquet", columns), b"", 0, 0)
    problems = layout.problems(path, stop=options.on_error == "stop")
    problems.unit = "row"
    reader = RecordReader(layout, problems, collect=True)
    builder = LogBuilder(reader, "epoch" if own_time else None, options.max_memory, options.category_separator)
    texts = [_as_text(column, schema[column.name]) for column in columns if column.role is not None]
    others = [column.name for column in columns if column.role is None]
    rows = int(table.select(pl.len()).collect().item())
    for start in range(0, max(rows, 1), ROWS):
        frame = table.slice(start, ROWS).with_columns(texts).collect()
        builder.add(_batch(frame, columns), frame.select(others) if others else None)
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
    for c in columns:
        if c.role is None:
            continue
        column, texts = COLUMNS[c.role], frame[c.name].fill_null("")
        lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
        ends = at + np.cumsum(lengths)
        if n and ends[-1] > np.iinfo(np.int32).max:
            raise MemoryError
        spans[:, 2 * column], spans[:, 2 * column + 1] = ends - lengths, ends
        how[:, column] = np.where(lengths > 0, kernels.BARE, kernels.MISSING)
        parts.append(str(texts.str.join("").item()).encode() if n else b"")
        at = int(ends[-1]) if n else at
        if column in (kernels.USER, kernels.QUERY):
            empty = (texts.str.strip_chars(" \t").str.len_bytes() == 0).to_numpy()
            status = kernels.NO_USER if column == kernels.USER else kernels.NO_QUERY
            rows[empty & (rows[:, kernels.STATUS] == kernels.GOOD), kernels.STATUS] = status
    data = b"".join(parts)
    return RecordBatch(data, np.frombuffer(data, dtype=np.uint8), rows, spans, how, None)


def _typed(column: Column, dtype: pl.DataType, path: Path) -> Column:
    """Note whether the column holds numbers; refuse one whose values cannot be text."""
    if column.role is None:
        return column
    if dtype.is_nested() or dtype in {pl.Binary, pl.Null, pl.Boolean}:
        problem = f"the column for the {column.role} holds {str(dtype).split('(')[0]} values; expected text or numbers"
        raise InputError.at(path, problem)
    return replace(column, kind="number" if dtype.is_numeric() else "text")


def _as_text(column: Column, dtype: pl.DataType) -> pl.Expr:
    value = pl.col(column.name)
    if column.role == "time" and dtype.is_temporal():
        return value.cast(pl.Datetime("us")).dt.epoch("s").cast(pl.String)
    return value.cast(pl.String)
