"""Do the columns of a stream look right? Judged by its first lines, before any record leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from querycloak.logs import _records_kernels as records
from querycloak.logs.records import RecordReader

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.logs.layout import Layout
    from querycloak.logs.read_options import ReadOptions

__all__ = ["check_first_rows"]

MOST_ROWS: Final = 1000


def check_first_rows(sample: bytes, source: Path, layout: Layout, options: ReadOptions) -> None:
    """Refuse a stream whose first lines have columns that look wrong, unless the user said to go on."""
    if options.assume_yes:
        return
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.sanity import FEWEST_ROWS, check_columns

    # What is wrong with a line is told when it is read as a record.
    reader = RecordReader(layout, layout.problems(source, stop=False), collect=False)
    found = reader.read(sample).kept().until(MOST_ROWS)
    users, queries = (reader.texts(found, column).to_list() for column in (records.USER, records.QUERY))
    rows = [(user, query) for user, query in zip(users, queries, strict=True) if user and query]
    if len(rows) >= FEWEST_ROWS:
        log = QueryLog.of([user for user, _ in rows], [query for _, query in rows])
        check_columns(replace(log, form=layout.form), source, options, whole=False)
