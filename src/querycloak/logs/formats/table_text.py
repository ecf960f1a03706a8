"""Rows as lines of a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from querycloak.errors import OutputError
from querycloak.logs.column_texts import ROWS, joined_lines, refuse_nul, text_column
from querycloak.logs.formats.table import separator_of
from querycloak.logs.formulas import escaped, escaped_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from querycloak.logs.form import LogForm
    from querycloak.logs.query_log import QueryLog

__all__ = ["table_blocks"]


def table_blocks(log: QueryLog, form: LogForm, path: str | Path) -> Iterator[bytes]:
    """Return the header, then the rows, as text without a last line end."""
    separator = separator_of(form)
    if form.header:
        names = [escaped(column.name) if form.safe_csv else column.name for column in form.columns]
        yield _lines(pl.DataFrame({str(i): [name] for i, name in enumerate(names)}), separator, form, path)
    for start in range(0, len(log), ROWS):
        texts = (text_column(log, column, form, start, start + ROWS) for column in form.columns)
        rows = [escaped_texts(text, column, form) for text, column in zip(texts, form.columns, strict=True)]
        yield _lines(pl.DataFrame([s.alias(str(i)) for i, s in enumerate(rows)]), separator, form, path)


def _lines(rows: pl.DataFrame, separator: str, form: LogForm, path: str | Path) -> bytes:
    fields = rows.fill_null("")
    refuse_nul(fields, path)
    if form.format == "csv":
        fields = fields.select(_quoted(pl.col(name), form).alias(name) for name in rows.columns)
    else:
        _refuse_breaks(fields, form, path)
    return joined_lines(fields.select(pl.concat_str(pl.all(), separator=separator)).to_series(), form.line_end, path)


def _quoted(field: pl.Expr, form: LogForm) -> pl.Expr:
    """Put quotes around a field where it needs them, or always."""
    inside = '"' + field.str.replace_all('"', '""', literal=True) + '"'
    if form.quoting == "all":
        return inside
    return pl.when(field.str.contains(rf'[{form.separator}"\r\n]')).then(inside).otherwise(field)


def _refuse_breaks(fields: pl.DataFrame, form: LogForm, path: str | Path) -> None:
    """Refuse what a table without quotes cannot hold, rather than change it unasked."""
    breaks = r"[\t\n\r]" if form.line_end == "\r" else r"[\t\n]"
    bad = fields.select(pl.any_horizontal(pl.all().str.contains(breaks).any())).item()
    last = fields.columns[-1]
    if bad or fields.select(pl.col(last).str.ends_with("\r").any()).item():
        raise OutputError(
            f"{path}: a value has a tab or a line end in it, which tab-separated text cannot hold; "
            "write CSV or JSON lines instead."
        )
