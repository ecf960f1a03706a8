"""The form of a text file, by its first lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from querycloak.errors import InputError, UnknownNameError
from querycloak.logs.columns import assign, is_header
from querycloak.logs.form import LogForm
from querycloak.logs.formats.aol import aol_form
from querycloak.logs.formats.excite import excite_form
from querycloak.logs.formats.table import SEPARATORS, csv_separator, first_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["FORMATS", "PARQUET_MAGIC", "check_format", "recognise_text", "table_form"]

FORMATS: Final = ("aol", "csv", "excite", "json", "jsonl", "parquet", "tsv", "ubi")
PARQUET_MAGIC: Final = b"PAR1"


def check_format(name: str | None) -> None:
    """Refuse the name of a format that there is not."""
    if name is not None and name not in FORMATS:
        raise UnknownNameError.of("format", name, FORMATS)


def recognise_text(sample: bytes, path: Path) -> str:
    """Tell 'jsonl', 'tsv' or 'csv' by the first line that is not blank."""
    start = sample.lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    line = sample.lstrip(b"\n").split(b"\n", 1)[0]
    if b"\t" in line:
        return "tsv"
    if b"," in line or b";" in line:
        return "csv"
    problem = "not a query log: the first line has no tab, no comma, no semicolon and no JSON object"
    raise InputError.at(path, problem)


def table_form(sample: bytes, path: Path, name: str, mapping: Mapping[str, str] | None) -> LogForm:
    """Return the form of a table of text; `name` is its format, with 'tsv' for all that tabs separate."""
    separator = csv_separator(sample) if name == "csv" else SEPARATORS[name]
    rows = first_rows(sample, separator)
    if not rows:
        raise InputError.at(path, "the file holds blank lines only")
    if mapping is None:
        form = (aol_form(rows) if name in {"aol", "tsv"} else None) or (
            excite_form(rows) if name in {"excite", "tsv"} else None
        )
        if form is not None:
            return form
        if name in {"aol", "excite"}:
            raise InputError.at(path, _expected(name, len(rows[0])), 1)
    return _mapped(rows, path, "csv" if name == "csv" else "tsv", mapping, sample)


def _mapped(rows: list[list[str]], path: Path, name: str, mapping: Mapping[str, str] | None, sample: bytes) -> LogForm:
    header = is_header(rows[0], mapping)
    if header:
        columns = assign(rows[0], mapping, path, surely_names=False)
    else:
        width = len(rows[0])
        if mapping is None and width == 2 and name == "tsv":
            mapping = {"user": "1", "query": "2"}
        names = [f"column {i + 1}" for i in range(width)]
        columns = assign(names, mapping, path, surely_names=mapping is not None)
    separator: Literal[",", ";"] = ";" if name == "csv" and csv_separator(sample) == ";" else ","
    all_quoted = name == "csv" and _all_quoted(sample, rows, separator, header=header)
    return LogForm(name, columns, header=header, quoting="all" if all_quoted else "needed", separator=separator)


def _all_quoted(sample: bytes, rows: list[list[str]], separator: str, *, header: bool) -> bool:
    """Say whether the first row of data has quotes around every field."""
    row = rows[1] if header and len(rows) > 1 else rows[0]
    quoted = separator.join('"' + field.replace('"', '""') + '"' for field in row).encode()
    return b"\n" + quoted + b"\n" in b"\n" + sample + b"\n"


def _expected(name: str, width: int) -> str:
    if name == "aol":
        return (
            f"not in the AOL form: expected 5 or 3 tab-separated fields with a time in the third, found {width} fields"
        )
    return f"not in the Excite form: expected 3 tab-separated fields with 12 digits in the second, found {width} fields"
