"""Parquet: typed columns; those with a role are read as text and coded, all others keep their type."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from querycloak.errors import InputError
from querycloak.logs.builder import LogBuilder
from querycloak.logs.columns import assign
from querycloak.logs.form import LogForm

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from querycloak.logs.form import Column
    from querycloak.logs.query_log import QueryLog

__all__ = ["read_parquet"]

ROWS: Final = 1_000_000
"""rows read at once"""


def read_parquet(path: Path, mapping: Mapping[str, str] | None, form: LogForm | None) -> QueryLog:
    """Read a Parquet file; times may be its own, numbers or text."""
    table = pl.scan_parquet(path)
    schema = table.collect_schema()
    columns = form.columns if form else assign(schema.names(), mapping, path, surely_names=True)
    columns = tuple(_typed(column, schema[column.name], path) for column in columns if column.name in schema)
    roles = {column.role: column.name for column in columns if column.role is not None}
    own_time = "time" in roles and schema[roles["time"]].is_temporal()
    builder = LogBuilder(path, roles, Counter(), "epoch" if own_time else None)
    texts = [_as_text(column, schema[column.name]) for column in columns if column.role is not None]
    rows = int(table.select(pl.len()).collect().item())
    for start in range(0, max(rows, 1), ROWS):
        builder.add(table.slice(start, ROWS).with_columns(texts).collect())
    found = LogForm("parquet", columns)
    return builder.finish(replace(found, time_format="datetime" if own_time else builder.time_format or "epoch"))


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
