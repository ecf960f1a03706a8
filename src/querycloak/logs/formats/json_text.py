"""Rows as JSON: one object per line, or the elements of one array."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from querycloak.logs.column_texts import ROWS, gathered, joined_lines, role_codes, text_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from querycloak.logs.form import Column, LogForm
    from querycloak.logs.query_log import QueryLog

__all__ = ["json_blocks", "record_end"]

NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"


def record_end(form: LogForm) -> str:
    """Return what is between two records: a line end, and a comma before it in an array."""
    return ("," if form.is_array else "") + form.line_end


def json_blocks(log: QueryLog, form: LogForm, path: str | Path) -> Iterator[bytes]:
    """Return the rows as JSON objects with what is between them, nothing after the last."""
    vocabularies = {}
    for column in form.columns:
        coded = None if column.role is None else role_codes(log, column.role)
        if coded is not None:
            vocabularies[column.name] = _encoded(coded[1], column, form)
    for start in range(0, len(log), ROWS):
        values = {}
        for column in form.columns:
            coded = None if column.role is None else role_codes(log, column.role)
            if coded is not None:
                value = gathered(coded[0][start : start + ROWS], vocabularies[column.name])
            else:
                value = text_column(log, column, form, start, start + ROWS)
                value = value if column.kind == "json" else _encoded(value, column, form)
            values[column.name] = value.fill_null("null") if column.null else value
        frame = pl.DataFrame([value.alias(name) for name, value in values.items()])
        line = _object([(c.path or (c.name,), pl.col(c.name)) for c in form.columns], form)
        yield joined_lines(frame.select(line.fill_null("{}")).to_series(), record_end(form), path)


def _encoded(words: pl.Series, column: Column, form: LogForm) -> pl.Series:
    """Return each text as JSON: quoted, or bare where the column holds numbers and the text is one."""
    if column.kind != "number":
        return _strings(words, form)
    bare = words.str.contains(NUMBER).fill_null(value=False)
    if bare.all() or (bare | words.is_null()).all():
        return words
    return _strings(words, form).zip_with(~bare, words)


def _strings(words: pl.Series, form: LogForm) -> pl.Series:
    quoted = [None if w is None else json.dumps(w, ensure_ascii=form.json_ascii) for w in words.to_list()]
    return pl.Series(words.name, quoted, dtype=pl.String)


def _object(members: list[tuple[tuple[str, ...], pl.Expr]], form: LogForm) -> pl.Expr:
    """Put values under their keys, nested keys inside objects of their own; null where no value is there."""
    comma, colon = (", ", ": ") if form.json_spaces else (",", ":")
    groups: dict[tuple[str, bool], list[tuple[tuple[str, ...], pl.Expr]]] = {}
    for path, value in members:
        groups.setdefault((path[0], len(path) > 1), []).append((path[1:], value))
    pieces = []
    for (key, nested), inner in groups.items():
        value = _object(inner, form) if nested else inner[0][1]
        pieces.append(pl.lit(json.dumps(key, ensure_ascii=form.json_ascii) + colon) + value)
    body = pl.concat_str(pieces, separator=comma, ignore_nulls=True)
    there = pl.any_horizontal(piece.is_not_null() for piece in pieces)
    return pl.when(there).then(pl.lit("{") + body + pl.lit("}"))
