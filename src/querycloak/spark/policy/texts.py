"""What the rules about texts work on: each distinct query of the log once, and who asked it.

Five rules (`identifiers`, `query_users`, `entities`, `phrase_users`, `length`) decide by the text alone, and by how
many people asked it: all rows of a query are kept, cut or left out together. So they work on distinct queries and on
the distinct pairs of query and person, and rows are touched once, when all of them are done.

**People are counted exactly, and few of them are looked at.** A thing (a text, a word, an entity) that one single query
of enough people has is of enough people; one whose queries have too few people all together is not. Only what is in
between is counted by people.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.methods.policy.draft import DAY
from querycloak.spark.kept import kept
from querycloak.spark.text_functions import compared_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

__all__ = ["Counts", "Texts"]

COLUMNS: Final = ("query", "text", "form", "rows", "people", "gone")


@dataclass(frozen=True)
class Counts:
    """What became of the rows of a log."""

    left: int
    dropped: Mapping[str, int]
    """rows by reason"""
    cut: Mapping[str, int]
    """rows that a rule cut to a part of the query, by the name of the rule"""


@dataclass(frozen=True, eq=False, repr=False)
class Texts:
    """The distinct queries of a log on their way through the rules."""

    asked: DataFrame
    """who asked what: distinct `query` and `user`, and `last`, when for the last time; null = no time is known"""
    table: DataFrame
    """one row per query: `query`; `text`, what would be published; `form`, as it is compared; `rows`; `people`; `people
    D`, those of the last D days; `gone`, why it is left out, null = it is not; `cut RULE`: a rule cut it"""
    last: int | None
    """when the last query of the log was asked"""
    reasons: Sequence[str] = field(default_factory=tuple)
    """what the numbers in `gone` mean"""

    @classmethod
    def of(cls, rows: DataFrame, days: Collection[int], last: int | None) -> Texts:
        """Begin with all queries of a log; `days`: for which people of the last days will be asked for."""
        time = F.max("time") if "time" in rows.columns else F.lit(None).cast("bigint")
        asked = kept(rows.groupBy("query", "user").agg(time.alias("last"), F.count("*").alias("rows")))
        recent = [F.count_if(_in_last(n, last)).alias(f"people {n}") for n in sorted(days)]
        counted = asked.groupBy("query").agg(F.sum("rows").alias("rows"), F.count("*").alias("people"), *recent)
        table = counted.withColumns(
            {"text": F.col("query"), "form": compared_text(F.col("query")), "gone": F.lit(None).cast("int")}
        )
        return cls(asked.drop("rows"), kept(table), last)

    @property
    def there(self) -> DataFrame:
        """The queries that are not left out."""
        return self.table.where(F.col("gone").isNull())

    def over(self, table: DataFrame) -> Texts:
        """Go on with another table of the same queries."""
        return replace(self, table=table)

    def keep(self, stays: Column, reason: str) -> Texts:
        """Leave out queries, and note the reason."""
        reasons = list(self.reasons) if reason in self.reasons else [*self.reasons, reason]
        goes = F.col("gone").isNull() & ~stays
        gone = F.when(goes, F.lit(reasons.index(reason))).otherwise(F.col("gone"))
        return replace(self, table=self.table.withColumn("gone", gone), reasons=reasons)

    def settled(self) -> Texts:
        """Keep what was found so far, without the columns of one rule, so that no rule is run twice."""
        names = [n for n in self.table.columns if n in COLUMNS or n.startswith(("people ", "cut "))]
        return replace(self, table=kept(self.table.select(*names)))

    def of_many(self, things: DataFrame, keys: Sequence[str], days: int | None = None) -> DataFrame:
        """Return the keys of the things that enough people asked, in the last days: a table of `keys`.

        things: `query`, `people` (those of these days), the keys, and `least`, how many people it takes; distinct.
        """
        bounds = things.groupBy(*keys).agg(
            F.max("people").alias("most"), F.sum("people").alias("all"), F.first("least").alias("least")
        )
        bounds = bounds.where("all >= least")
        open_ = bounds.where("most < least").select(*keys)
        asked = self.asked if days is None else self.asked.where(_in_last(days, self.last))
        pairs = things.join(open_, [*keys], "left_semi").select("query", "least", *keys)
        found = pairs.join(asked.select("query", "user"), "query").groupBy(*keys)
        counted = found.agg(F.countDistinct("user").alias("people"), F.first("least").alias("least"))
        enough = counted.where("people >= least").select(*keys)
        return bounds.where("most >= least").select(*keys).unionByName(enough)

    def judged(self, people: int, days: int | None = None, *, of: str = "form", to: str = "many") -> Texts:
        """Add a column: so many people asked the `form`, however they spelled it, or the `text` as it is spelled."""
        count = "people" if days is None else f"people {days}"
        things = self.there.select("query", of, F.col(count).alias("people"), F.lit(people).alias("least"))
        many = self.of_many(things, [of], days).withColumn("found", F.lit(True))
        joined = self.table.join(many, of, "left")
        return self.over(joined.withColumn(to, F.col("found").isNotNull()).drop("found"))

    def counts(self) -> Counts:
        """Count rows, by what became of them: one job."""
        cut = [name for name in self.table.columns if name.startswith("cut ")]
        sums = [F.sum(F.when(F.col(f"`{name}`"), F.col("rows"))).alias(name) for name in cut]
        found = self.table.groupBy("gone").agg(F.sum("rows").alias("rows"), *sums).collect()
        rows = {row["gone"]: int(row["rows"]) for row in found}
        dropped = {reason: rows.get(i, 0) for i, reason in enumerate(self.reasons)}
        cut_rows = {name.removeprefix("cut "): sum(int(row[name] or 0) for row in found) for name in cut}
        return Counts(rows.get(None, 0), dropped, cut_rows)

    def any_cut(self) -> bool:
        """Tell whether a row that is left is cut: one job."""
        cut = [F.col(f"`{name}`") for name in self.table.columns if name.startswith("cut ")]
        return any(self.table.where(column).head(1) for column in cut)


def _in_last(days: int, last: int | None) -> Column:
    """Tell who asked a query within so many days before the last one of the log."""
    return F.lit(False) if last is None else F.coalesce(F.col("last") > last - days * DAY, F.lit(False))
