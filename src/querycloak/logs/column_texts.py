"""Columns of a log as text again: codes become words, seconds become times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from querycloak.errors import OutputError
from querycloak.logs.problems import LONGEST_LINE
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.logs.times import SECOND, format_times

if TYPE_CHECKING:
    from querycloak.logs.form import Column, LogForm
    from querycloak.logs.query_log import Codes, QueryLog

__all__ = ["ROWS", "joined_lines", "refuse_long", "refuse_nul", "role_codes", "text_column", "typed_column"]

ROWS: Final = 500_000
"""rows turned into text at once"""


def refuse_long(lengths: pl.Series, path: object) -> None:
    """Refuse rows that are longer than readers take: nobody could read the file again."""
    longest = lengths.max()
    if isinstance(longest, int) and longest > LONGEST_LINE:
        problem = f"a row of more than {LONGEST_LINE:,} bytes, which is more than readers take"
        raise OutputError(f"{path}: {problem}; leave such a text out.")


def refuse_nul(texts: pl.DataFrame, path: object) -> None:
    """Refuse texts with a NUL character, which readers of tables take for a broken row."""
    if texts.width and texts.select(pl.any_horizontal(pl.all().str.contains("\0", literal=True).any())).item():
        problem = "a value has a NUL character in it, which a table cannot hold"
        raise OutputError(f"{path}: {problem}; write JSON lines instead.")


def joined_lines(lines: pl.Series, between: str, path: object) -> bytes:
    """Return lines as one text; a line that is longer than readers take is refused: nobody could read the file again.

    What is between two lines may be read as part of one: it counts.
    """
    refuse_long(lines.str.len_bytes() + len(between), path)
    return str(lines.str.join(between).item()).encode()


def role_codes(log: QueryLog, role: str) -> tuple[Codes, pl.Series] | None:
    """Return codes and vocabulary of a role that has them."""
    plural = {"user": "users", "query": "queries", "url": "urls", "category": "categories"}
    if role not in plural:
        return None
    codes, words = getattr(log, role), getattr(log, plural[role])
    return codes, words


def gathered(codes: Codes, words: pl.Series) -> pl.Series:
    """Return the words of codes, null where missing."""
    index = pl.Series(codes)
    return words.gather(index.set(index == NO_CODE, None).cast(pl.UInt32))


def text_column(log: QueryLog, column: Column, form: LogForm, start: int, stop: int) -> pl.Series:
    """Return some rows of a column as text, null where missing."""
    if column.role is None:
        assert log.extra is not None
        return log.extra[column.name][start:stop].cast(pl.String)
    coded = role_codes(log, column.role)
    if coded is not None:
        return gathered(coded[0][start:stop], coded[1])
    if column.role == "time":
        assert log.time is not None
        return format_times(log.time[start:stop], "iso" if form.time_format == "datetime" else form.time_format)
    assert log.rank is not None
    rank = pl.Series(log.rank[start:stop])
    return rank.set(rank == NO_CODE, None).cast(pl.String)


def typed_column(log: QueryLog, column: Column, form: LogForm) -> pl.Series:
    """Return a whole column with the type it had in Parquet."""
    if column.role is None:
        assert log.extra is not None
        return log.extra[column.name]
    if column.role == "time" and form.time_format == "datetime":
        assert log.time is not None
        seconds = pl.Series(log.time)
        return (seconds.set(seconds == MISSING_TIME, None) * SECOND).cast(pl.Datetime("us"))
    text = text_column(log, column, form, 0, len(log))
    if column.kind != "number":
        return text
    numbers = text.cast(pl.Int64, strict=False)
    return text if numbers.null_count() > text.null_count() else numbers
