"""Tables of text: fields between tabs (quotes are ordinary characters) or commas (quoted as in RFC 4180)."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from querycloak.logs.form import LogForm
    from querycloak.logs.text_blocks import TextBlocks

__all__ = ["SEPARATORS", "first_rows", "table_frames"]

SEPARATORS: Final = {"aol": "\t", "excite": "\t", "tsv": "\t", "csv": ","}
NAMES: Final = {"\t": "tab-separated", ",": "comma-separated"}

BLANK: Final = "blank lines, left out"
HEADER_AGAIN: Final = "header lines repeated inside the file, left out"


def first_rows(sample: bytes, separator: str, most: int = 50) -> list[list[str]]:
    """Return the fields of the first lines, to recognise the form by."""
    text = sample.decode()
    if separator == ",":
        try:
            rows = [row for _, row in zip(range(most), csv.reader(io.StringIO(text, newline="")), strict=False)]
        except csv.Error:
            rows = [line.split(",") for line in text.split("\n")[:1]]
    else:
        rows = [line.split(separator) for line in text.split("\n")[:most] if line]
    return [row for row in rows if row]


def table_frames(text: TextBlocks, form: LogForm, path: Path, problems: Counter[str]) -> Iterator[pl.DataFrame]:
    """Return the rows, block by block, as text columns named as in the form; an empty field is missing."""
    separator = SEPARATORS[form.format]
    names = [column.name for column in form.columns]
    header = form.header
    for line, block in text.blocks(quoted=separator == ","):
        if separator == "," and b'"' in block:
            frame = _quoted(block, line, names, path, problems)
        else:
            frame = _plain(block, line, separator, names, path, problems)
        if form.header:
            frame = _without_headers(frame, names, problems, first=header)
            header = False
        yield frame


def _plain(
    block: bytes, line: int, separator: str, names: list[str], path: Path, problems: Counter[str]
) -> pl.DataFrame:
    """Read lines without quoting: the fields of each line are counted first, then read at once."""
    if b"\r\n" in block:
        block = block.replace(b"\r\n", b"\n")
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    length = np.diff(ends, prepend=-1) - 1
    blank = length == 0
    marks = np.flatnonzero(data == ord(separator))
    found = np.diff(np.searchsorted(marks, ends), prepend=0) + 1
    wrong = np.flatnonzero((found != len(names)) & ~blank)
    if wrong.size:
        raise _wrong_count(path, line + int(wrong[0]), separator, len(names), int(found[wrong[0]]))
    if blank.any():
        problems[BLANK] += int(blank.sum())
        block = b"\n".join(part for part in block.split(b"\n") if part)
    if not block:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    return pl.read_csv(
        block,
        has_header=False,
        separator=separator,
        quote_char=None,
        schema=dict.fromkeys(names, pl.String),
        infer_schema=False,
    )


def _quoted(block: bytes, line: int, names: list[str], path: Path, problems: Counter[str]) -> pl.DataFrame:
    """Read lines with quoted fields, in which separators and line ends may stand."""
    reader = csv.reader(io.StringIO(block.decode(), newline=""), strict=True)
    rows: list[list[str]] = []
    start = line
    try:
        for row in reader:
            if not row:
                problems[BLANK] += 1
            elif len(row) != len(names):
                raise _wrong_count(path, start, ",", len(names), len(row))
            else:
                rows.append(row)
            start = line + reader.line_num
    except csv.Error as error:
        long = "field larger" in str(error)
        problem = (
            "a field of more than 131,072 characters" if long else "a quote is not closed or stands inside a field"
        )
        raise InputError.at(path, problem, start) from None
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    frame = pl.DataFrame(dict(zip(names, map(list, columns), strict=True)), schema=dict.fromkeys(names, pl.String))
    return frame.with_columns(pl.all().replace("", None))


def _without_headers(frame: pl.DataFrame, names: list[str], problems: Counter[str], *, first: bool) -> pl.DataFrame:
    """Leave out the header, and those that joining files left in the middle."""
    if first:
        frame = frame.slice(1)
    if not (frame[names[0]] == names[0]).any():
        return frame
    again = frame.select(pl.all_horizontal(pl.col(name).eq_missing(pl.lit(name)) for name in names)).to_series()
    problems[HEADER_AGAIN] += int(again.sum())
    return frame.filter(~again)


def _wrong_count(path: Path, line: int, separator: str, expected: int, found: int) -> InputError:
    return InputError.at(path, f"expected {expected} {NAMES[separator]} fields, found {found}", line)
