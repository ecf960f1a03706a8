"""Writing a log in the form of what was read, or in the form that the name of the output asks for.

Columns that the log no longer has are left out.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Final

import polars as pl

from querycloak.logs.atomic import writing
from querycloak.logs.column_texts import refuse_long, refuse_nul, typed_column
from querycloak.logs.compressing import compressing
from querycloak.logs.decoding import encoded
from querycloak.logs.form import Column, LogForm
from querycloak.logs.formats.json_text import json_blocks, record_end
from querycloak.logs.formats.plugins import write_by_plugin
from querycloak.logs.formats.table_text import table_blocks
from querycloak.logs.output_form import form_for_name
from querycloak.logs.recognise import check_format

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from querycloak.logs.form import Role
    from querycloak.logs.query_log import QueryLog

__all__ = ["JSON", "fit_form", "plain_texts", "without_raw_json", "write_log", "write_to"]

JSON: Final = frozenset({"json", "jsonl", "ubi"})
DEFAULT_NAMES: Final[dict[Role, str]] = {
    "user": "user",
    "query": "query",
    "time": "time",
    "rank": "rank",
    "url": "url",
    "category": "category",
}


TSV: Final = LogForm("tsv", ())


def write_log(log: QueryLog, path: str | Path, form: LogForm | None = None, *, safe_csv: bool = True) -> None:
    """Write a log, whole or not at all.

    Its form is the one given, else that of the path's suffix, else its own, else TSV. A path of `-` is standard output.
    In CSV, texts that a spreadsheet would take for formulas get an apostrophe (`logs/formulas.py`), which
    `read_log(path, unescape=True)` takes away; with `safe_csv=False` they are written as they are.
    This is the log itself, with its texts and ids: what is published is written by `write_release`.

    >>> import tempfile
    >>> import querycloak as qc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qc.write_log(qc.QueryLog.of(["ann", "bob"], ["tea", "tea"]), f"{folder}/log.csv")
    ...     qc.read_log(f"{folder}/log.csv")
    QueryLog(2 rows, 2 users, 1 distinct queries)
    """
    fitted = fit_form(log, form or form_for_name(path, log.form or TSV), safe_csv=safe_csv)
    with writing(path) as (file,):
        write_to(file, log, fitted, path)


def fit_form(
    log: QueryLog, form: LogForm | None = None, without: frozenset[str] = frozenset(), *, safe_csv: bool = True
) -> LogForm:
    """Return the form with exactly the columns that the log has: others are left out, new ones come last.

    With `safe_csv`, CSV is written so that no spreadsheet takes a text for a formula.
    """
    form = form or log.form or TSV
    if form.format != "json":
        check_format(form.format)
    roles = {role for role in DEFAULT_NAMES if getattr(log, role) is not None} - without
    extra = {} if log.extra is None else dict(log.extra.schema)
    kept = [c for c in form.columns if (c.role in roles if c.role else c.name in extra)]
    taken = {c.name for c in kept}
    for role, name in DEFAULT_NAMES.items():
        if role in roles and role not in {c.role for c in kept}:
            kept.append(Column(_free(name, taken), role, "number" if role == "rank" else "text"))
    kept += [Column(name, None) for name in extra if name not in taken]
    kept = [c if c.role is not None else _typed(c, is_number=extra[c.name].is_numeric()) for c in kept]
    return replace(form, columns=tuple(kept), safe_csv=safe_csv and form.format == "csv")


def _typed(column: Column, *, is_number: bool) -> Column:
    """Return a column without a role with the kind that its values have now."""
    if is_number:
        return replace(column, kind="number")
    return replace(column, kind="text") if column.kind == "number" else column


def write_to(file: IO[bytes], log: QueryLog, form: LogForm, path: str | Path) -> None:
    """Write a log into an open file."""
    log = without_raw_json(log, form)
    if form.format == "parquet":
        table = pl.DataFrame([typed_column(log, c, form).alias(c.name) for c in form.columns])
        texts = table.select(c.name for c in form.columns if c.role is not None and table[c.name].dtype == pl.String)
        refuse_nul(texts, path)
        if texts.width:
            refuse_long(texts.select(pl.sum_horizontal(pl.all().str.len_bytes())).to_series(), path)
        table.write_parquet(file)
        return
    with compressing(file, form.compression) as stream:
        if write_by_plugin(stream, log, form):
            return
        for block in _blocks(log, form, path):
            stream.write(encoded(block, form.encoding, path))


def _blocks(log: QueryLog, form: LogForm, path: str | Path) -> Iterator[bytes]:
    """Return the text of the file in UTF-8, in pieces of many lines."""
    end, array = form.line_end.encode(), form.is_array
    if form.bom:
        yield "\ufeff".encode()
    if array:
        yield b"["
    first = True
    for block in json_blocks(log, form, path) if form.format in JSON else table_blocks(log, form, path):
        if block:
            yield (end if array else b"") if first else record_end(form).encode()
            yield block
            first = False
    if array:
        yield (b"" if first else end) + b"]"
    if form.last_line_end and (array or not first):
        yield end


def without_raw_json(log: QueryLog, form: LogForm) -> QueryLog:
    """Turn values that were read from JSON, and are kept as its text, into plain text where no JSON is written.

    A log knows by its own form which columns hold such text.
    """
    raw = [c.name for c in (log.form.columns if log.form else ()) if c.role is None and c.kind == "json"]
    asked = {c.name for c in form.columns if c.role is None and c.kind != "json"}
    if log.extra is None or not asked.intersection(raw):
        return log
    plain = [plain_texts(log.extra[name]) for name in raw if name in asked and name in log.extra.columns]
    return replace(log, extra=log.extra.with_columns(plain))


def plain_texts(words: pl.Series) -> pl.Series:
    """Return JSON texts as plain ones: strings decoded, null as missing, all else as it is written."""
    return pl.Series(words.name, [None if w is None else _plain_text(w) for w in words.to_list()], dtype=pl.String)


def _plain_text(word: str) -> str | None:
    if word == "null":
        return None
    return str(json.loads(word)) if word.startswith('"') else word


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no column has yet."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
