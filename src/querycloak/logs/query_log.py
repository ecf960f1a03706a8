"""A query log in memory.

Strings become integers once, at the source, and strings again once, at the sink: in between a log is arrays of codes
into vocabularies. No repr shows a query or a user id.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, cast, overload

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.logs.user_ids import normal_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from querycloak.logs.form import LogForm
    from querycloak.logs.frames import Table

__all__ = ["MISSING_TIME", "NO_CODE", "Codes", "QueryLog", "Times", "encode"]

Codes = npt.NDArray[np.int32]
Times = npt.NDArray[np.int64]

NO_CODE: Final = -1
"""Code of a missing value, and of a concept that is not in the taxonomy."""

MISSING_TIME: Final = np.iinfo(np.int64).min
"""A time that was absent or did not parse."""


@dataclass(frozen=True, eq=False, repr=False)
class QueryLog:
    """Rows of a query log in the order of the file, as codes into vocabularies.

    Made by `querycloak.read_log`, or by `QueryLog.of` from lists or a table; `to_polars()`, `to_pandas()` and
    `to_arrow()` return texts again. Its repr, also in a notebook, shows counts alone.
    """

    user: Codes
    """int32[n], into `users`"""
    users: pl.Series
    """distinct user ids, in order of first appearance"""
    query: Codes
    """int32[n], into `queries`"""
    queries: pl.Series
    """distinct query texts, in order of first appearance"""
    time: Times | None = None
    """int64[n], seconds since 1970-01-01 UTC, MISSING_TIME where missing; None = the log has no times"""
    rank: Codes | None = None
    """int32[n], -1 where nothing was clicked"""
    url: Codes | None = None
    """int32[n], into `urls`, -1 where nothing was clicked"""
    urls: pl.Series | None = None
    category: Codes | None = None
    """int32[n], into `categories`, -1 where missing"""
    categories: pl.Series | None = None
    extra: pl.DataFrame | None = None
    """columns without a role, row by row"""
    form: LogForm | None = None
    """how it lay in the file; None = made in memory"""
    problems: dict[str, int] = field(default_factory=dict)
    """what the reader had to fix or pass over, counted by kind"""

    def __len__(self) -> int:
        return len(self.user)

    def __repr__(self) -> str:
        return f"QueryLog({len(self):,} rows, {len(self.users):,} users, {len(self.queries):,} distinct queries)"

    def _repr_html_(self) -> str:
        from querycloak.logs.card import log_card

        return log_card(self)

    @overload
    @classmethod
    def of(cls, users: Table, *, columns: Mapping[str, str] | None = None, yes: bool = False) -> Self: ...

    @overload
    @classmethod
    def of(
        cls,
        users: Sequence[str],
        queries: Sequence[str],
        *,
        times: Sequence[int] | None = None,
        urls: Sequence[str | None] | None = None,
        categories: Sequence[str | None] | None = None,
    ) -> Self: ...

    @classmethod
    def of(
        cls,
        users: Table | Sequence[str],
        queries: Sequence[str] | None = None,
        *,
        times: Sequence[int] | None = None,
        urls: Sequence[str | None] | None = None,
        categories: Sequence[str | None] | None = None,
        columns: Mapping[str, str] | None = None,
        yes: bool = False,
    ) -> Self:
        """Make a log from plain lists, one entry per row, or from a table of Polars, pandas or Arrow.

        Of lists, `times` are seconds since 1970; None in `urls` and `categories` is a missing value. A table is read
        as `querycloak.read_log` reads it: columns are known by common names, or named by `columns` (role → name), and
        columns that look wrong are refused unless `yes`. User ids are put into their normal form in both cases.

        >>> QueryLog.of(["ann", "bob", "ann"], ["tea", "tea", "green tea"])
        QueryLog(3 rows, 2 users, 2 distinct queries)
        >>> import polars as pl
        >>> table = pl.DataFrame({"who": [17, 18, 17], "typed": ["tea", "tea", "green tea"]})
        >>> QueryLog.of(table, columns={"user": "who", "query": "typed"})
        QueryLog(3 rows, 2 users, 2 distinct queries)
        """
        if queries is None:
            if isinstance(users, list | tuple):
                raise ParameterError("QueryLog.of() needs `queries` next to the list of users, or one table of both.")
            from querycloak.logs.frames import read_frame
            from querycloak.logs.read_options import ReadOptions

            if times is not None or urls is not None or categories is not None:
                raise ParameterError("QueryLog.of() takes times, urls and categories with lists; a table has its own.")
            return cast("Self", read_frame(users, ReadOptions(columns=columns or {}, assume_yes=yes)))
        if columns is not None or hasattr(users, "columns"):
            raise ParameterError("QueryLog.of() takes one table with `columns`, or lists of users and of queries.")
        ids = _texts(users, "users")
        user, user_words = encode([normal_user(user) for user in ids])
        query, query_words = encode(_texts(queries, "queries", len(ids)))
        made: dict[str, Any] = {}
        if times is not None:
            made["time"] = np.array(times, dtype=np.int64)
        if urls is not None:
            made["url"], made["urls"] = encode(urls)
        if categories is not None:
            made["category"], made["categories"] = encode(categories)
        return cls(user=user, users=user_words, query=query, queries=query_words, **made)

    def to_polars(self) -> pl.DataFrame:
        """Return the log as a Polars table, with texts: what `write_log` would put into a Parquet file.

        Columns have the names and the order that they had where the log was read, times are UTC without a zone.

        >>> QueryLog.of(["ann", "bob"], ["tea", "tea"]).to_polars().columns
        ['user', 'query']
        """
        from querycloak.logs.tables import table_of

        return table_of(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return the log as a pandas table, with texts; it needs pandas and pyarrow."""
        from querycloak.logs.tables import as_pandas

        return as_pandas(self.to_polars())

    def to_arrow(self) -> pa.Table:
        """Return the log as an Arrow table, with texts; it needs pyarrow."""
        from querycloak.logs.tables import as_arrow

        return as_arrow(self.to_polars())

    @cached_property
    def event(self) -> npt.NDArray[np.bool_]:
        """bool[n]: True on the first row of each query event."""
        start: npt.NDArray[np.bool_] = self.event_row == np.arange(len(self))
        return start

    @cached_property
    def event_row(self) -> npt.NDArray[np.int64]:
        """int64[n]: the first row of the query event that each row belongs to.

        A search with several clicks takes several rows (AOL). A row belongs to the event of the same user's row before
        it when query and time are equal and both rows have a click. Rows of other users in between play no part: if
        they did, one user could change the counts of another, and no bound of differential privacy would hold.
        """
        n = len(self)
        if self.time is None or self.url is None or n < 2:
            return np.arange(n)
        order = np.argsort(self.user, kind="stable")  # each user's rows together, in the order of the log
        user, query, time, url = self.user[order], self.query[order], self.time[order], self.url[order]
        first = np.ones(n, dtype=np.bool_)
        same = (user[1:] == user[:-1]) & (query[1:] == query[:-1])
        same &= (time[1:] == time[:-1]) & (time[1:] != MISSING_TIME)
        same &= (url[1:] != NO_CODE) & (url[:-1] != NO_CODE)
        first[1:] = ~same
        out = np.empty(n, dtype=np.int64)
        out[order] = order[first][np.cumsum(first) - 1]
        return out

    def take(self, rows: npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]) -> Self:
        """Keep some rows, in the order given. Vocabularies stay whole: codes mean the same as before."""
        index = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return replace(
            self,
            user=self.user[index],
            query=self.query[index],
            time=None if self.time is None else self.time[index],
            rank=None if self.rank is None else self.rank[index],
            url=None if self.url is None else self.url[index],
            category=None if self.category is None else self.category[index],
            extra=None if self.extra is None else self.extra[index],
        )

    def users_per_query(self) -> npt.NDArray[np.int64]:
        """int64[distinct queries]: how many distinct users asked each."""
        import polars as pl

        pairs = pl.DataFrame({"query": self.query, "user": self.user})
        people = pairs.group_by("query").agg(pl.col("user").n_unique())
        out = np.zeros(len(self.queries), dtype=np.int64)
        out[people["query"].to_numpy()] = people["user"].to_numpy()
        return out


def _texts(values: Sequence[str], name: str, rows: int | None = None) -> list[str]:
    """Return the entries of a column; refuse what is no text, and a column of another length. No value is shown."""
    found = list(values)
    odd = next((i for i, value in enumerate(found) if not isinstance(value, str)), None)
    if odd is not None:
        kind = type(found[odd]).__name__
        raise ParameterError(f"QueryLog.of: `{name}` must be a list of texts; entry {odd + 1} is of type {kind}.")
    if rows is not None and len(found) != rows:
        raise ParameterError(
            f"QueryLog.of: there are {rows:,} `users` and {len(found):,} `{name}`; one of each per row."
        )
    return found


def encode(values: Iterable[str | None]) -> tuple[Codes, pl.Series]:
    """Code strings by order of first appearance; None becomes -1."""
    import polars as pl

    words: dict[str, int] = {}
    codes = np.array([NO_CODE if v is None else words.setdefault(v, len(words)) for v in values], dtype=np.int32)
    return codes, pl.Series(list(words), dtype=pl.String)
