"""A query log in memory.

Strings become integers once, at the source, and strings again once, at the sink: in between a log is arrays of codes
into vocabularies. No repr shows a query or a user id.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import numpy.typing as npt

from querycloak.logs.user_ids import normal_user

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.form import LogForm

__all__ = ["MISSING_TIME", "NO_CODE", "Codes", "QueryLog", "Times", "encode"]

Codes = npt.NDArray[np.int32]
Times = npt.NDArray[np.int64]

NO_CODE: Final = -1
"""Code of a missing value, and of a concept that is not in the taxonomy."""

MISSING_TIME: Final = np.iinfo(np.int64).min
"""A time that was absent or did not parse."""


@dataclass(frozen=True, eq=False, repr=False)
class QueryLog:
    """Rows of a query log in the order of the file, as codes into vocabularies."""

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

    @classmethod
    def of(
        cls,
        users: list[str],
        queries: list[str],
        *,
        times: list[int] | None = None,
        urls: list[str | None] | None = None,
        categories: list[str | None] | None = None,
    ) -> Self:
        """Make a log from plain lists, one entry per row; user ids are put into their normal form.

        >>> QueryLog.of(["ann", "bob", "ann"], ["tea", "tea", "green tea"])
        QueryLog(3 rows, 2 users, 2 distinct queries)
        """
        user, user_words = encode([normal_user(user) for user in users])
        query, query_words = encode(queries)
        columns: dict[str, Any] = {}
        if times is not None:
            columns["time"] = np.array(times, dtype=np.int64)
        if urls is not None:
            columns["url"], columns["urls"] = encode(urls)
        if categories is not None:
            columns["category"], columns["categories"] = encode(categories)
        return cls(user=user, users=user_words, query=query, queries=query_words, **columns)

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


def encode(values: list[str] | list[str | None]) -> tuple[Codes, pl.Series]:
    """Code strings by order of first appearance; None becomes -1."""
    import polars as pl

    words: dict[str, int] = {}
    codes = np.array([NO_CODE if v is None else words.setdefault(v, len(words)) for v in values], dtype=np.int32)
    return codes, pl.Series(list(words), dtype=pl.String)
