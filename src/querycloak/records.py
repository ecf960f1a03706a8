"""The types that folders share: a log, its concepts, a release and what it promises, and what attacks and measures say.

Strings become integers once, at the reader, and strings again once, at the writer: in between a log is arrays of codes
into vocabularies. No repr shows a query or a user id.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "MISSING_TIME",
    "NO_CODE",
    "AttackResult",
    "Column",
    "ConceptLog",
    "LogForm",
    "PrivacyStatement",
    "QueryLog",
    "Release",
    "ReleaseKind",
    "Score",
    "Truth",
]

Codes = npt.NDArray[np.int32]
Times = npt.NDArray[np.int64]

NO_CODE: Final = -1
"""Code of a missing value, and of a concept that is not in the taxonomy."""

MISSING_TIME: Final = np.iinfo(np.int64).min
"""A time that was absent or did not parse."""

ReleaseKind = Literal["log", "items", "counts", "stream"]

Role = Literal["user", "query", "time", "rank", "url", "category"]


@dataclass(frozen=True)
class Column:
    """One column of a file: its name there, and the role it plays (None = rides along untouched)."""

    name: str
    role: Role | None
    kind: Literal["text", "number", "json"] = "text"
    """how values are written: as text; as a number where they are one; as the JSON text that was read"""
    null: bool = False
    """JSON lines: a missing value is written as null, not left out"""
    path: tuple[str, ...] = ()
    """JSON lines: the keys that lead to a nested value; empty = the name is the key"""


@dataclass(frozen=True)
class LogForm:
    """How a log lies in a file, so that what is written has the form of what was read."""

    format: str
    """aol, excite, tsv, csv, jsonl, ubi, parquet"""
    columns: tuple[Column, ...]
    """in the order of the file"""
    header: bool = True
    """the first line names the columns (text formats)"""
    compression: Literal["", "gz", "zst"] = ""
    time_format: str = "%Y-%m-%d %H:%M:%S"
    """strftime pattern; 'epoch' and 'epoch_ms' for numbers; 'iso' for ISO 8601 with T; 'datetime' for Parquet's own"""
    line_end: Literal["\n", "\r\n", "\r"] = "\n"
    last_line_end: bool = True
    """the last line ends like all others"""
    bom: bool = False
    """the file begins with a byte order mark"""
    quoting: Literal["needed", "all"] = "needed"
    """CSV: quotes around the fields that need them, or around all"""
    json_spaces: bool = False
    """JSON lines: a space after each comma and colon"""
    json_ascii: bool = False
    """JSON lines: characters outside ASCII are written as escapes"""

    def without(self, roles: set[str]) -> LogForm:
        """Leave columns out: those of the given roles."""
        return replace(self, columns=tuple(c for c in self.columns if c.role not in roles))


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
    """what the reader had to mend or pass over, counted by kind"""

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
        """Make a log from plain lists, one entry a row.

        >>> QueryLog.of(["ann", "bob", "ann"], ["tea", "tea", "green tea"])
        QueryLog(3 rows, 2 users, 2 distinct queries)
        """
        user, user_words = encode(users)
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
        """bool[n]: True on the first row of each query event.

        A search with several clicks takes several rows (AOL): a row goes on with the event of the row above when user,
        query and time are the same and both rows have a click.
        """
        start = np.ones(len(self), dtype=np.bool_)
        if self.time is None or self.url is None or len(self) < 2:
            return start
        same = (self.user[1:] == self.user[:-1]) & (self.query[1:] == self.query[:-1])
        same &= (self.time[1:] == self.time[:-1]) & (self.time[1:] != MISSING_TIME)
        same &= (self.url[1:] != NO_CODE) & (self.url[:-1] != NO_CODE)
        start[1:] = ~same
        return start

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
        pairs = np.unique(self.query.astype(np.int64) * max(len(self.users), 1) + self.user)
        return np.bincount(pairs // max(len(self.users), 1), minlength=len(self.queries)).astype(np.int64)


def encode(values: list[str] | list[str | None]) -> tuple[Codes, pl.Series]:
    """Code strings by order of first appearance; None becomes -1."""
    import polars as pl

    words: dict[str, int] = {}
    codes = np.array([NO_CODE if v is None else words.setdefault(v, len(words)) for v in values], dtype=np.int32)
    return codes, pl.Series(list(words), dtype=pl.String)


@dataclass(frozen=True, eq=False)
class ConceptLog:
    """What the queries of a log are about: one row per (query event, unit). Every event has at least one row."""

    row: npt.NDArray[np.int64]
    """int64[m], row of the QueryLog (the first of the query event)"""
    user: Codes
    """int32[m]"""
    query: Codes
    """int32[m], code of the query's text"""
    concept: Codes
    """int32[m], -1 = not in the taxonomy"""

    def __len__(self) -> int:
        return len(self.row)

    def known(self) -> ConceptLog:
        """Keep the rows that have a concept."""
        keep = self.concept != NO_CODE
        return ConceptLog(self.row[keep], self.user[keep], self.query[keep], self.concept[keep])


@dataclass(frozen=True, kw_only=True)
class PrivacyStatement:
    """What a release promises and what it does not: written beside it as `<output>.statement.json`."""

    method: str
    settings: dict[str, Any]
    version: str
    """of QueryCloak"""
    model: str
    """the formal model in one line, or 'none'"""
    parameters: dict[str, float]
    """the numbers of the model, such as k or epsilon; empty where there is none"""
    unit: str
    """what is protected: 'user', 'query', or 'none'"""
    covers: tuple[str, ...]
    """what the guarantee says, one sentence each"""
    does_not_cover: tuple[str, ...]
    """what stays visible or is published as it was"""
    assumptions: tuple[str, ...] = ()
    randomness: str
    new_ids: bool
    """user ids are new random ones"""
    columns: tuple[str, ...] = ()
    """columns published; filled by the writer"""
    counts_in: dict[str, int]
    counts_out: dict[str, int]
    dropped: dict[str, int]
    """rows left out, by reason"""
    figures: dict[str, float] = field(default_factory=dict)
    """what the method measured of its own release, such as distortion"""

    def __post_init__(self) -> None:
        for name in ("parameters", "figures"):  # 5 and 5.0 must not differ once written and read back
            object.__setattr__(self, name, {key: float(value) for key, value in getattr(self, name).items()})

    @property
    def bound(self) -> float | None:
        """The chance of naming a user that the model allows: 1/k for k-anonymity, None where it says nothing."""
        return 1 / self.parameters["k"] if "k" in self.parameters else None

    def seeded(self) -> PrivacyStatement:
        """Give the statement with what a seed costs, whatever the method."""
        open_to = (
            "made with a seed: who knows or guesses it can undo ids, draws and noise; for experiments, not to publish"
        )
        return replace(self, does_not_cover=(*self.does_not_cover, open_to))

    def short(self) -> str:
        """Give the lines that the command line prints."""
        rows_in = f"{self.counts_in['rows']:,} rows in, " if "rows" in self.counts_in else ""
        lines = [f"{self.method}: {rows_in}{self.counts_out.get('rows', 0):,} rows out", f"guarantee: {self.model}"]
        lines += [f"  covers: {text}" for text in self.covers]
        lines += [f"  does not cover: {text}" for text in self.does_not_cover]
        lines += [f"  dropped: {n:,} rows, {reason}" for reason, n in self.dropped.items() if n]
        lines.append(f"randomness: {self.randomness}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """Which original user a published id stands for: kept in memory, on disk only where asked."""

    user: Codes
    """int32[published users], code of the original user"""
    asker: Codes | None = None
    """int32[published rows], code of the user who asked; None = the user that the row's published id stands for"""


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A published table with its statement.

    `kind` says what a row is: 'log' = a query of a published user; 'items' = a concept of a published user, `queries`
    holding labels and `categories` the path of each; 'counts' = a query with a count in `extra`, and no user
    (`user` is all 0, and not written); 'stream' = a query published under the id of another user, `truth.asker` saying
    who asked.
    """

    log: QueryLog
    statement: PrivacyStatement
    truth: Truth | None = None
    kind: ReleaseKind = "log"

    def __repr__(self) -> str:
        return f"Release({self.statement.method}, {len(self.log):,} rows)"


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """What one attack found."""

    attack: str
    rate: float
    """share of targets that the attacker named rightly (expected, where it guesses among equals)"""
    low: float
    high: float
    """95 % interval of the rate"""
    guess: float
    """rate of blind guessing"""
    bound: float | None
    """the bound that the release's statement claims, if any"""
    targets: int
    names_users: bool = True
    """the attack names users; False where it counts something else that is risky, such as phone numbers"""
    details: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one measure found."""

    measure: str
    value: float
    better: Literal["higher", "lower"]
    details: dict[str, float] = field(default_factory=dict)
