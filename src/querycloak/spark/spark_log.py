"""A query log as a table of Spark: the same roles of columns, the same people and the same times as on one machine.

A log of many files has no order of rows that holds twice, so nothing here depends on one:

- **Query events.** A search with several clicks takes several rows. On one machine a row belongs to the event of the
  row before it; here rows of one user with the same query and the same time, all with a click, are one event. Both
  find the same events unless another row of this user stands in between.
- **User ids** are put into the normal form of one machine (`logs/user_ids.py`), so that one person is one user.

Columns without a role are left out, but for those that somebody asks for by name (`with_further`): a policy may.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.errors import InputError
from querycloak.logs.builder import BAD_RANK, BAD_TIME
from querycloak.logs.columns import assign
from querycloak.logs.user_ids import normal_user
from querycloak.spark.kept import kept
from querycloak.spark.numbers import Numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import Column

__all__ = ["FURTHER", "NO_QUERY", "NO_USER", "SOURCE", "SparkLog", "named", "rows_by_role"]

SOURCE: Final = "the DataFrame"
"""what messages call a table in memory"""
TEXTS: Final = (T.StringType, T.VarcharType, T.CharType)
WHOLE: Final = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
FURTHER: Final = "further "
"""What a column without a role is called begins with this; its own name may be any text."""
PLAIN_USER: Final = r"\A[!-~]+\z"
"""ids of ASCII without spaces: they are in their normal form"""
PLAIN_TIME: Final = r"\A[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d\z"
"""times that Spark reads as one machine does: a day that is none, such as 31 June, is missing"""
MISSING: Final = {"time": BAD_TIME, "rank": BAD_RANK}
SPACES: Final = "".join(chr(code) for code in range(128) if chr(code).isspace())
"""what `normal_user` takes away at the ends of ASCII"""
MOST_SECONDS: Final = 10**11
DAYS_AS_NUMBERS: Final = (19_000_000, 20_999_999)
"""Whole numbers from MOST_SECONDS on, and these, are no seconds: milliseconds, days or nothing, as on one machine."""
NO_USER: Final = "rows without a user"
NO_QUERY: Final = "rows without a query"


@dataclass(frozen=True, eq=False, repr=False)
class SparkLog:
    """Rows of a query log, spread over a cluster."""

    frame: DataFrame
    """`user` and `query`: text, never null or empty; of these, those that the log has: `time`: bigint, seconds since
    1970 UTC, null = missing; `rank`: int; `url`, `category`: text; null = missing"""
    names: Mapping[str, str]
    """role → name of the column in the input"""
    dropped: Mapping[str, int]
    """rows of the input that are no query of a user, by reason"""
    every: DataFrame | None = None
    """the same rows, also with all columns that have no role"""
    further: Mapping[str, str] = field(default_factory=dict)
    """name of a column without a role → what it is called in `every`"""
    missing: Mapping[str, int] = field(default_factory=dict)
    """values that are taken as missing, by reason: texts that are no time, or no rank"""
    columns_found: bool = False
    """Which column is which was found among the records, as of JSON without names of columns."""

    def __repr__(self) -> str:
        return f"SparkLog({', '.join(self.frame.columns)})"

    @classmethod
    def of(
        cls,
        frame: DataFrame,
        columns: Mapping[str, str] | None = None,
        *,
        source: str = SOURCE,
        on_error: str = "stop",
        only: Collection[str] | None = None,
    ) -> SparkLog:
        """Take a DataFrame as a log; `columns` is role → name, roles that are not in it are known by common names.

        `only` = the roles that are read, for a method that needs few of them.

        One job counts rows without a user or a query: with `on_error="stop"` they are refused, with "skip" left out
        and counted. Everything else that can be refused is refused before any job.
        """
        found, roles, further = rows_by_role(frame, columns, source, odd=())
        kept_roles = [role for role in roles if only is None or role in only]
        raw = frame.select([_raw(frame, roles[role]).alias(role) for role in kept_roles])
        raw = raw.persist(StorageLevel.MEMORY_AND_DISK)  # the input is read once
        own = {role: role for role in kept_roles}
        counts = _count(_first_look(raw, source))
        unusual = tuple(role for role in own if counts.get(f"odd {role}"))
        rows = rows_by_role(raw, own, source, odd=unusual)[0]
        if unusual:  # these are read by Python, once
            found = rows_by_role(frame, columns, source, odd=unusual)[0]
            rows = rows.persist(StorageLevel.MEMORY_AND_DISK)
            counts |= _count(rows)
            raw.unpersist()
        total, users, queries = (counts[name] for name in ("rows", NO_USER, NO_QUERY))
        missing = {words: counts[f"there {role}"] - counts[role] for role, words in MISSING.items() if role in counts}
        bad = users + queries
        if bad == total:
            there = f"none of its {total:,} rows has both a user and a query" if total else "there are no rows"
            raise InputError.at(source, there)
        if bad and on_error != "skip":
            what = f"{users:,} rows have no user, {queries:,} have a user and no query"
            raise InputError.at(source, f'{what}; leave them out with on_error="skip" (--on-error skip)')
        good, every = (table.where(~(_no_user() | _no_query())) if bad else table for table in (rows, found))
        return cls(good, roles, {NO_USER: users, NO_QUERY: queries}, every, further, missing)

    def with_further(self, names: Sequence[str]) -> SparkLog:
        """Return the log with some more columns, called as `further` says; without names, the log itself."""
        if not names or self.every is None:
            return self
        for name in names:
            kind = self.every.schema[self.further[name]].dataType
            if not isinstance(kind, T.AtomicType) or isinstance(kind, T.BinaryType):
                problem = f"the column {name} holds {kind.simpleString()} values; expected text, numbers or times"
                raise InputError.at(SOURCE, problem)
        return replace(self, frame=self.every.select(*self.frame.columns, *(self.further[name] for name in names)))

    def has(self, role: str) -> bool:
        """Tell whether the log has a column of this role."""
        return role in self.frame.columns

    @cached_property
    def events(self) -> DataFrame:
        """One row per query event: `user`, `query`, and `time`, `category` and further columns where the log has them.

        Of the categories of an event's rows, which are normally one, the first in the order of texts; with further
        columns, the first of them all.
        """
        further = [name for name in self.frame.columns if name.startswith(FURTHER)]
        if not (self.has("time") and self.has("url")):
            names = [name for name in ("user", "query", "time", "category") if self.has(name)]
            return self.frame.select(names + further)
        joins = F.col("time").isNotNull() & F.col("url").isNotNull()
        keys = ["user", "query", "time"]
        category = [F.min("category").alias("category")] if self.has("category") else []
        clicked = self.frame.where(joins).groupBy(keys)
        if further:
            others = ["category", *further] if self.has("category") else further
            one = clicked.agg(F.min(F.struct(*others)).alias("first")).select(*keys, "first.*")
            return one.unionByName(self.frame.where(~joins).select(one.columns))
        one = clicked.agg(*category) if category else self.frame.where(joins).select(keys).distinct()
        return one.unionByName(self.frame.where(~joins).select(one.columns))

    @cached_property
    def counts_in(self) -> dict[str, int]:
        """What came in, for the statement of a method that may say it."""
        rows = self.asked.agg(F.sum("rows")).first()
        return {
            "rows": 0 if rows is None or rows[0] is None else int(rows[0]),
            "query events": self.numbered_events.count(),
            "users": self.users.count(),
            "distinct queries": self.queries.count(),
        }

    @cached_property
    def users(self) -> DataFrame:
        """The distinct users: `user`."""
        return kept(self.frame.select("user").distinct())

    @cached_property
    def queries(self) -> DataFrame:
        """The distinct queries: `query`."""
        return kept(self.frame.select("query").distinct())

    @cached_property
    def user_numbers(self) -> Numbers:
        """Which number stands for each user."""
        return Numbers.of_distinct(self.users)

    @cached_property
    def query_numbers(self) -> Numbers:
        """Which number stands for each query."""
        return Numbers.of_distinct(self.queries)

    def numbered(self, table: DataFrame) -> DataFrame:
        """Return rows with `number` instead of `query` and `person` instead of `user`, as far as they have these.

        Users and queries must be those of this log.
        """
        found = table
        if "query" in table.columns:
            found = found.withColumn("number", self.query_numbers.of(F.col("query"))).drop("query")
        if "user" in table.columns:
            found = found.withColumn("person", self.user_numbers.of(F.col("user"))).drop("user")
        return found

    @cached_property
    def asked(self) -> DataFrame:
        """Who asked what: `number`, `person`, and `rows`, how many rows there are of both."""
        pairs = self.numbered(self.frame.select("query", "user")).groupBy("number", "person")
        return kept(pairs.agg(F.count("*").alias("rows")))

    @cached_property
    def rows_of_people(self) -> DataFrame:
        """How many `rows` each `person` has, kept."""
        return kept(self.asked.groupBy("person").agg(F.sum("rows").alias("rows")))

    @cached_property
    def numbered_events(self) -> DataFrame:
        """One row per query event: `number`, `person`, and `time` where the log has times."""
        time = ["time"] if self.has("time") else []
        rows = self.frame.select("query", "user", *time, *(["url"] if time and self.has("url") else []))
        if "url" not in rows.columns:
            return kept(self.numbered(rows))
        joins = F.col("time").isNotNull() & F.col("url").isNotNull()
        clicked = self.numbered(rows.where(joins).drop("url")).distinct()
        return kept(clicked.unionByName(self.numbered(rows.where(~joins).drop("url"))))


def rows_by_role(
    frame: DataFrame,
    columns: Mapping[str, str] | None,
    source: str = SOURCE,
    *,
    odd: Collection[str] = ("user", "time"),
) -> tuple[DataFrame, dict[str, str], dict[str, str]]:
    """Return the columns of a log by their roles, as `SparkLog.frame` has them; no job runs.

    Next to them role → name, and name → what it is called in the table for the columns without a role. Rows without a
    user or a query are still among them. Users and times are read by Python, as on one machine, unless they are known
    not to be `odd`: then they are what Spark makes of them.
    """
    assigned = assign(frame.columns, dict(columns) if columns else None, source, surely_names=True)
    roles = {str(column.role): column.name for column in assigned if column.role is not None}
    chosen = [_column(role, frame, name, source, odd=role in odd).alias(role) for role, name in roles.items()]
    others = [column.name for column in assigned if column.role is None]
    further = {name: f"{FURTHER}{i}" for i, name in enumerate(others)}
    return frame.select(*chosen, *(named(name).alias(called) for name, called in further.items())), roles, further


def _column(role: str, frame: DataFrame, name: str, source: str, *, odd: bool) -> Column:
    """Return the column of a role in the type that all methods read."""
    kind = frame.schema[name].dataType
    value = named(name)
    plain = isinstance(kind, (*TEXTS, *WHOLE)) or (isinstance(kind, T.DecimalType) and kind.scale == 0)
    if role == "time":
        return _seconds(value, kind, source, odd=odd)
    if role == "rank":
        rank = value.try_cast("int")
        return F.when(rank >= 0, rank) if plain else _refuse(role, kind, source)
    if not plain:
        return _refuse(role, kind, source)
    text = value.cast("string")
    if role == "user":
        user: Column = F.arrow_udf(_normal_users, T.StringType())(text) if odd else text  # type: ignore[attr-defined]
        return user
    return text if role == "query" else F.when(text != "", text)


def _raw(frame: DataFrame, name: str) -> Column:
    """Return a column as it is in the input; of a text, which may have a length, as text of any."""
    return named(name).cast("string") if isinstance(frame.schema[name].dataType, TEXTS) else named(name)


def _odd(raw: DataFrame) -> dict[str, Column]:
    """Return, for users and times, the condition under which a value needs the eyes of one machine."""
    found = {}
    for role, plain in (("user", PLAIN_USER), ("time", PLAIN_TIME)):
        if role in raw.columns and isinstance(raw.schema[role].dataType, T.StringType):
            found[role] = (F.col(role) != "") & ~F.col(role).rlike(plain)
        elif role == "time" and role in raw.columns and isinstance(raw.schema[role].dataType, WHOLE):
            number = F.col(role).cast("decimal(20)")  # of which -2^63 has an absolute value
            found[role] = (F.abs(number) >= MOST_SECONDS) | number.between(*DAYS_AS_NUMBERS)
    return found


def _no_user() -> Column:
    return F.col("user").isNull() | (F.col("user") == "")


def _no_query() -> Column:
    """Tell of a row with a user whether it has no query."""
    query = F.col("query")
    return ~_no_user() & (query.isNull() | (F.trim(query, F.lit(" \t")) == "") | query.contains("\0"))


def _first_look(raw: DataFrame, source: str) -> DataFrame:
    """Return users, queries, times and ranks as Spark reads them, which values are there, and which are odd."""
    values = [role for role in MISSING if role in raw.columns]
    return raw.select(
        *(F.col(role).cast("string").alias(role) for role in ("user", "query")),
        *(_column(role, raw, role, source, odd=False).alias(role) for role in values),
        *((F.col(role).cast("string") != "").alias(f"there {role}") for role in values),
        *(condition.alias(f"odd {role}") for role, condition in _odd(raw).items()),
    )


def _count(rows: DataFrame) -> dict[str, int]:
    """Count rows, those without a user or a query, values that are known, and flags: one job."""
    counts = [
        F.count("*").alias("rows"),
        F.count_if(_no_user()).alias(NO_USER),
        F.count_if(_no_query()).alias(NO_QUERY),
    ]
    for name in rows.columns:
        if name in MISSING:
            counts.append(F.count(name).alias(name))
        elif name.startswith(("odd ", "there ")):
            counts.append(F.count_if(name).alias(name))
    row = rows.select(counts).first()
    return {} if row is None else row.asDict()


def named(name: str) -> Column:
    """Return the column of a name, whatever characters it has."""
    return F.col(f"`{name.replace('`', '``')}`")


def _refuse(role: str, kind: T.DataType, source: str) -> Column:
    """Refuse a type that is no text of the role: of a float two users may be one."""
    expected = "text, whole numbers or timestamps" if role == "time" else "text or whole numbers"
    raise InputError.at(source, f"the column for the {role} holds {kind.simpleString()} values; expected {expected}")


def _seconds(value: Column, kind: T.DataType, source: str, *, odd: bool) -> Column:
    """Return seconds since 1970 UTC; a text that is no time is missing. No time depends on the session's time zone."""
    if isinstance(kind, T.TimestampType):
        return F.unix_seconds(value)
    if isinstance(kind, (T.TimestampNTZType, T.DateType)):
        return _seconds_of(value.cast("timestamp_ntz"))
    if isinstance(kind, WHOLE) and not odd:
        return value.cast("bigint")
    if not isinstance(kind, (*TEXTS, *WHOLE)):
        return _refuse("time", kind, source)
    if not odd:
        return _seconds_of(value.try_cast("timestamp_ntz"))
    # Made here and not when this file is imported: executors import it, and have no session.
    seconds: Column = F.arrow_udf(_times, T.LongType())(value.cast("string"))  # type: ignore[attr-defined] # stubs lag behind
    return seconds


def _seconds_of(value: Column) -> Column:
    days = F.datediff(value, F.lit("1970-01-01")).cast("bigint")
    seconds: Column = days * 86_400 + F.hour(value) * 3_600 + F.minute(value) * 60 + F.second(value)
    return seconds


def _times(texts: pa.Array) -> pa.Array:
    """Parse times as one machine does, each by the first of the known patterns that it looks like."""
    import polars as pl

    from querycloak.logs.query_log import MISSING_TIME
    from querycloak.logs.times import choose_pattern, parse_each

    found = pl.Series(texts.cast(pa.large_string())).fill_null("")
    times = parse_each(found, choose_pattern(found)) if len(found) else None
    return pa.array(
        [] if times is None else times, type=pa.int64(), mask=None if times is None else times == MISSING_TIME
    )


def _normal_users(ids: pa.Array) -> pa.Array:
    """Put user ids into their normal form; ids of plain letters and digits, nearly all, need no look at each."""
    if pc.all(pc.string_is_ascii(ids)).as_py() is not False:
        return pc.ascii_trim(ids, characters=SPACES)
    coded = ids.dictionary_encode()
    words = pa.array([normal_user(text) for text in coded.dictionary.to_pylist()], type=ids.type)
    return words.take(coded.indices)
