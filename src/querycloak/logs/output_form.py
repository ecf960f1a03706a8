"""The form of an output by its name: `release.parquet` is Parquet, `release.csv.gz` is CSV packed with gzip.

A name that says nothing keeps the form of the input. So does one that says what the form is already: an AOL log written
to a `.tsv` stays an AOL log, with its header, its line ends and its order of columns.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.logs.form import LogForm

if TYPE_CHECKING:
    from querycloak.logs.compression import Compression
    from querycloak.logs.form import Column

__all__ = ["COMPRESSIONS", "form_for_name"]

FORMATS: Final = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
COMPRESSIONS: Final[dict[str, Compression]] = {".gz": "gz", ".zst": "zst"}
SAME: Final = {"aol": "tsv", "excite": "tsv", "ubi": "jsonl"}
"""Formats that are special cases of another."""


def form_for_name(path: str | Path, form: LogForm) -> LogForm:
    """Return the form that a file of this name has, where its content has this form.

    >>> form_for_name("out.csv.gz", LogForm("aol", ())).format, form_for_name("out", LogForm("aol", ())).format
    ('csv', 'aol')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression: Compression | None = None
    if suffixes and suffixes[-1] in COMPRESSIONS:
        compression = COMPRESSIONS[suffixes.pop()]
    wanted = FORMATS.get(suffixes[-1]) if suffixes else None
    if wanted is None:
        return form if compression is None else replace(form, compression=compression)
    if wanted == "parquet":  # packed inside; nobody reads a packed Parquet file
        if form.format == "parquet":
            return form
        return LogForm("parquet", tuple(map(_flat, form.columns)), time_format="datetime")
    if wanted == SAME.get(form.format, form.format):
        return replace(form, compression=compression or "")
    time_format = "iso" if form.time_format == "datetime" else form.time_format
    keeps = wanted in {"json", "jsonl"} and form.format in {"json", "jsonl", "ubi"}
    columns = form.columns if keeps else tuple(map(_flat, form.columns))
    return LogForm(wanted, columns, compression=compression or "", time_format=time_format)


def _flat(column: Column) -> Column:
    """Return a column of JSON as one of a table: a nested value under its dotted name."""
    return replace(column, null=False, path=(), kind="text" if column.kind == "json" else column.kind)
