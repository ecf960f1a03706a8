"""Writing a log: what is written has the form of what was read, less the columns that the log no longer has."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Final

import polars as pl

from querycloak.logs.atomic import writing
from querycloak.logs.column_texts import typed_column
from querycloak.logs.compressing import compressing
from querycloak.logs.decoding import MARKS, encoded
from querycloak.logs.form import Column, LogForm
from querycloak.logs.formats.json_text import json_blocks, record_end
from querycloak.logs.formats.table_text import table_blocks
from querycloak.logs.recognise import check_format

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.logs.form import Role
    from querycloak.logs.query_log import QueryLog

__all__ = ["fit_form", "write_log", "write_to"]

DEFAULT_NAMES: Final[dict[Role, str]] = {
    "user": "user",
    "query": "query",
    "time": "time",
    "rank": "rank",
    "url": "url",
    "category": "category",
}


def write_log(log: QueryLog, path: str | Path, form: LogForm | None = None) -> None:
    """Write a log in the form given, else in its own, else as TSV with a header; whole or not at all."""
    fitted = fit_form(log, form)
    with writing(path) as (file,):
        write_to(file, log, fitted, path)


def fit_form(log: QueryLog, form: LogForm | None = None, without: frozenset[str] = frozenset()) -> LogForm:
    """Return the form with exactly the columns that the log has: others are left out, new ones come last."""
    form = form or log.form or LogForm("tsv", ())
    check_format(form.format)
    roles = {role for role in DEFAULT_NAMES if getattr(log, role) is not None} - without
    extra = {} if log.extra is None else dict(log.extra.schema)
    kept = [c for c in form.columns if (c.role in roles if c.role else c.name in extra)]
    taken = {c.name for c in kept}
    for role, name in DEFAULT_NAMES.items():
        if role in roles and role not in {c.role for c in kept}:
            kept.append(Column(_free(name, taken), role, "number" if role == "rank" else "text"))
    kept += [Column(name, None) for name in extra if name not in taken]
    kept = [replace(c, kind="number") if c.role is None and extra[c.name].is_numeric() else c for c in kept]
    return replace(form, columns=tuple(kept))


def write_to(file: IO[bytes], log: QueryLog, form: LogForm, path: str | Path) -> None:
    """Write a log into an open file."""
    if form.format == "parquet":
        pl.DataFrame([typed_column(log, c, form).alias(c.name) for c in form.columns]).write_parquet(file)
        return
    with compressing(file, form.compression) as stream:
        _write_text(stream, log, form, path)


def _write_text(stream: Any, log: QueryLog, form: LogForm, path: str | Path) -> None:
    is_json = form.format in {"json", "jsonl", "ubi"}
    form = replace(form, json_array=is_json and (form.json_array or form.format == "json"))
    lines = json_blocks(log, form) if is_json else table_blocks(log, form, path)
    end = form.line_end.encode()
    between = record_end(form).encode() if is_json else end

    def write(text: bytes) -> None:
        stream.write(encoded(text, form.encoding, path))

    if form.bom and form.encoding in MARKS:
        stream.write(MARKS[form.encoding])
    if form.json_array:
        write(b"[" + end)
    first = True
    for block in lines:
        if block:
            write((b"" if first else between) + block)
            first = False
    if form.json_array:
        write((b"" if first else end) + b"]" + end)
    elif form.last_line_end and not first:
        write(end)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no column has yet."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
