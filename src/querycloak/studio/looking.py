"""Looking at a log: which columns there are, what they look like, and what the file itself says of their roles.

What the reader of logs would take without asking is `sure`. Where it would ask, the user must choose: a column that is
taken for the query is published, and a first line that is wrongly taken for a header names its columns in the release.
A common name is suggested then, never taken. Of values only the form is shown: letters as `a`, digits as `0`.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from querycloak.errors import InputError
from querycloak.logs.columns import NEVER_GUESSED, assign, guess, is_header, session_hint
from querycloak.logs.compression import open_source
from querycloak.logs.decoding import Decoder, find_wrapping
from querycloak.logs.formats.table import csv_separator, first_rows
from querycloak.logs.layout import JSON_FORMATS, find_layout, sample_lines
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.recognise import PARQUET_MAGIC, recognise_text
from querycloak.logs.source import guarded
from querycloak.studio.model import FoundColumn, Look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.logs.decoding import Wrapping
    from querycloak.logs.form import LogForm

__all__ = ["form_of", "look_at"]

FIRST: Final = 1 << 22
"""bytes that are looked at: as many as the reader looks at"""
ROWS: Final = 200
SAMPLES: Final = 3
LONGEST_SAMPLE: Final = 48
LONGEST_NAME: Final = 60
DEEPEST: Final = 8
"""levels of nested JSON objects, as in `logs.formats.jsonlines`"""
MOST_COLUMNS: Final = 200
NEEDED: Final = ("user", "query")
_PLAIN_NAME: Final = re.compile(r"(?!.*\d{4})[^\W\d][\w .:/()-]{0,59}")
"""what a header may call a column; no number, nothing with many digits in it"""


def look_at(path: Path) -> Look:
    """Look at the first rows of a log; InputError where it is none that can be read."""
    with guarded(path):
        with open_source(path) as source:
            first = source.stream.read(FIRST)
            compression = source.compression
        if first.startswith(PARQUET_MAGIC):
            if compression:
                raise InputError.at(path.name, "a Parquet file inside a compressed one; unpack it first")
            return _parquet(path)
        if not first.strip():
            raise InputError.at(path.name, "the file is empty")
        wrapping = find_wrapping(first, path.name)
        return _text(Decoder(wrapping).decode(first), Path(path.name), wrapping)


def _text(text: bytes, name: Path, wrapping: Wrapping) -> Look:
    sample = sample_lines(text)
    try:
        form = find_layout(text, name, ReadOptions(), wrapping).form
    except InputError as error:
        asked = error
    else:
        return _known(form, sample)
    if not sample:
        raise asked
    kind = "jsonl" if wrapping.array else recognise_text(sample, name)
    if kind in JSON_FORMATS:
        columns = _json_values(sample)
        if not columns:
            raise asked
        return _named("json" if wrapping.array else kind, columns)
    return _table(kind, first_rows(sample, csv_separator(sample) if kind == "csv" else "\t", ROWS))


def _known(form: LogForm, sample: bytes) -> Look:
    """Describe a log that says it all by itself."""
    if form.format in JSON_FORMATS:
        values = dict(_json_values(sample))
        columns = [(column.name, values.get(column.name, [])) for column in form.columns]
    else:
        rows = first_rows(sample, form.separator if form.format == "csv" else "\t", ROWS)
        columns = _transposed([c.name for c in form.columns], rows[1:] if form.header else rows)
    roles = {column.name: str(column.role or "") for column in form.columns}
    found = tuple(_column(i, key, roles[key], values, sure=True) for i, (key, values) in enumerate(columns, 1))
    named = form.format in JSON_FORMATS
    return Look(form.format, None if named else form.header, found, (), named=named)


def _named(kind: str, columns: Sequence[tuple[str, list[str]]]) -> Look:
    """Describe a log whose columns have names that are no data, but do not say which is the user or the query."""
    suggested = _suggested([key for key, _ in columns])
    found = [_column(i, key, suggested.get(key, ""), values) for i, (key, values) in enumerate(columns, 1)]
    return Look(kind, None, tuple(found[:MOST_COLUMNS]), NEEDED, _question([k for k, _ in columns]), named=True)


def _table(kind: str, rows: list[list[str]]) -> Look:
    """Describe a table whose first line does not say it all: it may be a header, or data."""
    head, rest = rows[0], rows[1:]
    header = True if is_header(head) else None
    named = header or _like_names(head, rest)
    suggested = _suggested(head) if named else {}
    found = [
        _column(i, field, suggested.get(field, ""), values, named=named, first="" if header else field)
        for i, (field, values) in enumerate(_transposed(head, rest), 1)
    ]
    question = _question(head) if header else (
        "The first line may name the columns or be the first row, and does not say by common names which column is the "
        "user and which the query. They are not guessed: a wrong guess would publish people."
    )  # fmt: skip
    return Look(kind, header, tuple(found[:MOST_COLUMNS]), NEEDED if header else (*NEEDED, "header"), question)


def _parquet(path: Path) -> Look:
    import polars as pl

    table = pl.scan_parquet(path)
    names = table.collect_schema().names()
    frame = table.head(ROWS).collect()
    columns = [(name, [str(value) for value in frame[name].to_list() if value is not None]) for name in names]
    try:
        assigned = assign(names, None, path, surely_names=True)
    except InputError:
        return _named("parquet", columns)
    roles = {column.name: str(column.role or "") for column in assigned}
    found = tuple(_column(i, key, roles[key], values, sure=True) for i, (key, values) in enumerate(columns, 1))
    return Look("parquet", None, found, (), named=True)


def _suggested(names: Sequence[str]) -> dict[str, str]:
    """Return name → role for the columns of common names; of user and query only where one column alone may be it."""
    found = guess(names)
    for role in NEVER_GUESSED:
        again = role in guess([name for name in names if name != found.get(role)])
        if role in found and (again or (role == "user" and session_hint(names))):
            del found[role]
    return {name: str(role) for role, name in found.items()}


def _question(names: Sequence[str]) -> str:
    return (
        "The names of the columns do not say which one is the user and which the query"
        f"{session_hint(names)}. They are not guessed: a wrong guess would publish people."
    )


def _like_names(head: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Tell whether a first line looks like names of columns: all are words, no two alike, and the rows below differ.

    It is for showing names instead of numbers. Whether it is a header, the user says.
    """
    if len(set(head)) < len(head) or not all(_PLAIN_NAME.fullmatch(field.strip()) for field in head):
        return False
    below = [[row[i] for row in rest if i < len(row) and row[i]] for i in range(len(head))]
    return any(values and not any(_PLAIN_NAME.fullmatch(value) for value in values) for values in below)


def _transposed(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[tuple[str, list[str]]]:
    return [(name, [row[i] for row in rows if i < len(row)]) for i, name in enumerate(names)]


def _json_values(sample: bytes) -> list[tuple[str, list[str]]]:
    """Return the dotted name of each value of the first objects, and the values."""
    out: dict[str, list[str]] = {}
    for line in sample.split(b"\n")[:ROWS]:
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            continue
        if isinstance(row, dict):
            _collect(row, "", 1, out)
    return list(out.items())


def _collect(row: Mapping[str, Any], prefix: str, depth: int, out: dict[str, list[str]]) -> None:
    for key, value in row.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and depth < DEEPEST:
            _collect(value, f"{name}.", depth + 1, out)
        else:
            plain = "" if value is None else value if isinstance(value, str) else msgspec.json.encode(value).decode()
            out.setdefault(name, []).append(plain)


def _column(
    position: int,
    key: str,
    role: str,
    values: Sequence[str],
    *,
    sure: bool = False,
    named: bool = True,
    first: str = "",
) -> FoundColumn:
    name = _short(key) if named else ""
    shapes = dict.fromkeys(form_of(value) for value in values if value)
    samples = tuple(shapes)[:SAMPLES]
    return FoundColumn(position, name or f"column {position}", key, role, sure and bool(role), samples, _short(first))


def form_of(value: str) -> str:
    r"""Return the form of a value: letters as `a` and `A`, digits as `0`, the punctuation of ASCII as it is.

    >>> form_of("Cheap flights 2006"), form_of("ann@example.org"), form_of("fußball\u202e"), form_of("東京")
    ('Aaaaa aaaaaaa 0000', 'aaa@aaaaaaa.aaa', 'aaaaaaa·', 'aa')
    """
    cut = value[:LONGEST_SAMPLE]
    return "".join(map(_form, cut)) + ("…" if len(value) > LONGEST_SAMPLE else "")


def _form(character: str) -> str:
    kind = unicodedata.category(character)
    if kind[0] in "LM":
        return "A" if kind == "Lu" else "a"
    if kind[0] == "N":
        return "0"
    return character if character.isascii() and character.isprintable() else "·"


def _short(text: str) -> str:
    """Return a name as it may be shown: printable, on one line, not long."""
    plain = "".join(c if c.isprintable() else "·" for c in text.strip())
    return plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + "…"
