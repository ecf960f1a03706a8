"""Reading a log from Python: a file, or a table of another library."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from querycloak.api.keywords import checked
from querycloak.errors import UserError
from querycloak.logs.option_names import in_python
from querycloak.logs.read_options import ReadOptions, read_options
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.logs.frames import Table
    from querycloak.logs.query_log import QueryLog

__all__ = ["read_log"]


@checked
def read_log(
    source: str | PathLike[str] | Table,
    options: ReadOptions | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - named like the option
    header: bool | None = None,
    encoding: Literal["auto", "utf-8", "utf-16", "latin-1"] | None = None,
    on_error: Literal["stop", "skip"] | None = None,
    max_memory: int | None = None,
    category_separator: str | None = None,
    unescape: bool | None = None,
    yes: bool | None = None,
    progress: Progress = QUIET,
) -> QueryLog:
    """Read a query log: a file, or a table of Polars, pandas or Arrow.

    `source` is a path ("-" is standard input, and a named pipe is read like a file), or a table in memory: a Polars
    DataFrame or LazyFrame, and through narwhals (`pip install 'querycloak[dataframes]'`) one of pandas, Arrow and other
    libraries. The same rows give the same log, whichever way they come.

    `columns` says which column has which role: `{"user": "uid", "query": "q"}`; the roles are user, query, time, rank,
    url and category. Without it, columns are known by the names that logs commonly use. What is not certain is asked
    for, not guessed, and columns that look wrong are refused, unless `yes=True` says that they are right: a column that
    is taken for the query is published. All other columns are kept in `QueryLog.extra`.

    For files: `format` is aol, excite, tsv, csv, jsonl, json, ubi or parquet (None = by content), `header` whether the
    first line names the columns, `encoding` that of text, `unescape` whether apostrophes that `--safe-csv` put before
    texts of a CSV file are taken away; columns of a file without a header are given by position
    from 1. For both: `on_error="skip"` leaves bad rows out and counts them instead of stopping, `max_memory` is the
    most bytes that the log may take, `category_separator` separates the levels of category paths. `options` is all of
    these in one object; what is given by name goes before it.

    Rows keep their order. User ids are put into a normal form, so that one person is one user; a column of floats is
    taken for the whole numbers that it holds, and refused as user ids where two people may have become one number.
    Times may be dates with times (with a zone or UTC), seconds, or texts. What was left out or taken as missing is
    counted in `QueryLog.problems`.

    >>> import polars as pl
    >>> import querycloak as qc
    >>> qc.read_log(pl.DataFrame({"user_id": [17, 18, 17], "query": ["tea", "tea", "green tea"]}))
    QueryLog(3 rows, 2 users, 2 distinct queries)
    >>> qc.read_log(pl.DataFrame({"id": [17, 18], "query": ["tea", "tea"]}))
    Traceback (most recent call last):
    ...
    querycloak.errors.InputError: the table: no column is known to be the user; say which, as in \
columns={"user": "NAME"}; there are: id, query.
    """
    given = {
        "columns": columns,
        "format": format,
        "header": header,
        "encoding": encoding,
        "on_error": on_error,
        "max_memory": max_memory,
        "category_separator": category_separator,
        "unescape": unescape,
        "yes": yes,
    }
    asked = read_options(options, {name: value for name, value in given.items() if value is not None})
    if not isinstance(source, str | PathLike):
        from querycloak.logs.frames import read_frame

        return read_frame(source, asked, progress)
    from querycloak.logs.source import read_log as read_file

    try:
        return read_file(Path(fspath(source)), asked, progress=progress)
    except UserError as error:
        raise in_python(error) from None
