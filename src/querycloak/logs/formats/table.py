"""Tables of text: fields between tabs (quotes are ordinary characters), or between commas or semicolons (RFC 4180)."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from querycloak.logs.form import LogForm

__all__ = ["SEPARATED", "SEPARATORS", "csv_separator", "first_rows", "separator_of"]

SEPARATORS: Final = {"aol": "\t", "excite": "\t", "tsv": "\t", "csv": ","}
SEPARATED: Final = {"\t": "tab-separated", ",": "comma-separated", ";": "semicolon-separated"}


def separator_of(form: LogForm) -> str:
    """Return what separates the fields of a form."""
    return form.separator if form.format == "csv" else "\t"


def csv_separator(sample: bytes) -> str:
    """Tell what separates the fields of a CSV file, by its first line: that of the two which is there more often.

    >>> csv_separator(b"user;query"), csv_separator(b"user,query"), csv_separator(b'user,"the query; as typed"')
    (';', ',', ',')
    """
    line = sample.lstrip(b"\r\n").split(b"\n", 1)[0]
    outside = b"".join(line.split(b'"')[::2])  # what is between quotes separates nothing
    return ";" if outside.count(b";") > outside.count(b",") else ","


def first_rows(sample: bytes, separator: str, most: int = 50) -> list[list[str]]:
    """Return the fields of the first lines, to recognise the form by."""
    text = sample.decode()
    if separator in ",;":
        try:
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
            rows = [row for _, row in zip(range(most), lines, strict=False)]
        except csv.Error:
            rows = [line.split(separator) for line in text.split("\n")[:1]]
    else:
        rows = [line.split(separator) for line in text.split("\n")[:most] if line]
    return [row for row in rows if row]
