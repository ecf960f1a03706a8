"""What of the times and clicks of a log a batch release keeps, on a cluster: the rules of `releases/columns.py`.

A click is kept where at least m people of the log have the same published text and the same URL, its rank where m
people have all three; what is a label has no clicks, and no URL is kept that holds an identifier, a session id or a
name. Pairs of text and URL are counted first, and only those of enough people are looked at by their letters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from querycloak.logs.durations import MONDAY, WEEK
from querycloak.releases.columns import CLICKS, GRAINS, TIME, exposed_columns
from querycloak.spark.kept import SHORT_NUMBERS, kept, sent_if_short
from querycloak.spark.people import without_machines
from querycloak.spark.text_functions import on_texts, series_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.releases.columns import ColumnSettings
    from querycloak.spark.spark_log import SparkLog
    from querycloak.texts.text_settings import TextRule

__all__ = ["KeptColumns", "rounded"]


@dataclass(frozen=True, eq=False, repr=False)
class KeptColumns:
    """What a release keeps of the times and clicks of a log."""

    log: SparkLog
    time_grain: str
    """"" = no times are published"""
    click_users: int
    """people who share each click; 0 = no clicks are published"""
    texts: DataFrame
    """of each distinct query its `number`, the `text` that is published, and what else is to be in the rows"""
    clicks: DataFrame | None
    """`text`, `url` and `ranks`: clicks that may be published, and with them those ranks; None = none may"""

    @classmethod
    def of(cls, log: SparkLog, settings: ColumnSettings, rule: TextRule, texts: DataFrame) -> Self:
        """Find which times and clicks may be published; a column that the log does not have is not.

        `texts` are as `SparkTexts.texts`: `number` and `text`, and further columns that the rows will have.
        """
        grain = settings.time_grain if settings.keeps(TIME) and log.has("time") else ""
        if not settings.keeps(CLICKS) or not log.has("url"):
            return cls(log, grain, 0, texts, None)
        searched = texts.where(~(F.startswith("text", F.lit("[")) & F.endswith("text", F.lit("]"))))
        values = ["text", "url", *(["rank"] if log.has("rank") else [])]
        rows = log.numbered(_often_clicked(log, rule.people)).join(searched.select("number", "text"), "number")
        pairs = without_machines(rows, log, rule.most_rows).select("person", *values).distinct()
        enough = F.col("people") >= rule.people
        if log.has("rank"):  # one pass over pairs: people of each rank, and of all of them together
            of_rank = pairs.groupBy(values).agg(F.count("*").alias("people"))
            ranked = of_rank.where(enough & F.col("rank").isNotNull())
            ranks = ranked.groupBy("text", "url").agg(F.collect_list("rank").alias("ranks"))
        people = pairs.select("person", "text", "url").distinct().groupBy("text", "url")
        clicks = people.agg(F.count("*").alias("people")).where(enough).drop("people")
        if rule.identifiers == "drop":
            clicks = kept(clicks)  # a wall for the filter on URLs
            urls = clicks.select("url").distinct()
            clicks = clicks.join(urls.where(_tells(F.col("url"))), "url", "left_anti")
        clicks = clicks.join(ranks, ["text", "url"], "left") if log.has("rank") else clicks
        return cls(log, grain, rule.people, texts, clicks)

    @property
    def promises(self) -> dict[str, Any]:
        """What the statement says, as its fields."""
        return {"time_grain": self.time_grain, "click_users": self.click_users}

    @property
    def exposes(self) -> tuple[str, ...]:
        """What the columns leave open, one sentence each, for the statement."""
        return exposed_columns(self.time_grain, self.click_users)

    @property
    def marked(self) -> DataFrame:
        """The rows of the log with what `texts` has of their queries, and `click_kept` and `rank_kept`.

        `time` is rounded where times are published.
        """
        number = self.log.query_numbers.of(F.col("query"))
        rows = self.log.frame.withColumn("number", number).join(self.texts, "number").drop("number")
        if self.clicks is not None:
            known = self.clicks.withColumn("known", F.lit(True))
            rows = rows.join(known, ["text", "url"], "left")
        kept = F.col("known").isNotNull() if self.clicks is not None else F.lit(False)
        with_rank = self.clicks is not None and self.log.has("rank")
        ranked = F.coalesce(F.array_contains("ranks", F.col("rank")), F.lit(False)) if with_rank else F.lit(False)
        rows = rows.withColumn("click_kept", kept).withColumn("rank_kept", kept & ranked)
        rows = rows.withColumn("time", rounded(F.col("time"), self.time_grain)) if self.time_grain else rows
        return rows.drop("known", "ranks")

    @property
    def rows(self) -> DataFrame:
        """The rows of a release, with the columns of `texts`: one for each query event whose text is published.

        With clicks, an event has as many rows as clicks that are kept, or one without a click. Columns: `person` (the
        number of the user), those of `texts`, and those of `time`, `url` and `rank` that are published.
        """
        texts = self.texts.where(F.col("text").isNotNull())
        of_text = [name for name in texts.columns if name != "number"]
        if not self.click_users:
            rows = self.log.numbered_events.join(texts, "number")
            rows = rows.withColumn("time", rounded(F.col("time"), self.time_grain)) if self.time_grain else rows
            return rows.select("person", *of_text, *(["time"] if self.time_grain else []))
        exact = KeptColumns(self.log, "", self.click_users, texts, self.clicks).marked
        if self.log.has("time"):
            exact = _once(exact)
        url = F.when(F.col("click_kept"), F.col("url")).alias("url")
        rank = [F.when(F.col("rank_kept"), F.col("rank")).alias("rank")] if self.log.has("rank") else []
        time = [rounded(F.col("time"), self.time_grain).alias("time")] if self.time_grain else []
        person = self.log.user_numbers.of(F.col("user")).alias("person")
        return exact.select(person, *of_text, *time, url, *rank)


def _often_clicked(log: SparkLog, least: int) -> DataFrame:
    """Return the clicks whose URL has rows enough for so many people: most URLs of a log have one or two."""
    clicked = log.frame.where(F.col("url").isNotNull())
    if least <= 1:
        return clicked
    clicked = clicked.withColumn("hash", F.xxhash64("url"))  # two URLs of one hash are both looked at
    often = clicked.groupBy("hash").agg(F.count("*").alias("rows")).where(F.col("rows") >= least).select("hash")
    return clicked.join(sent_if_short(kept(often), SHORT_NUMBERS), "hash", "left_semi").drop("hash")


def rounded(time: Column, grain: str) -> Column:
    """Round times down to a grain; weeks begin on Monday, and a missing time stays missing."""
    size = GRAINS[grain]
    begin = MONDAY if size % WEEK == 0 else 0
    return time - F.pmod(time - begin, F.lit(size).cast("bigint"))


def _once(marked: DataFrame) -> DataFrame:
    """Keep of the rows of an event those whose click is kept, or one of them where none is."""
    joins = F.col("time").isNotNull() & F.col("url").isNotNull()
    event = Window.partitionBy("user", "query", "time").orderBy(F.col("click_kept").desc())
    many = marked.where(joins).withColumn(" nth", F.row_number().over(event))
    return many.where(F.col("click_kept") | (F.col(" nth") == 1)).drop(" nth").unionByName(marked.where(~joins))


def _tells(url: Column) -> Column:
    """Tell which URLs hold what may stand for one person, or a name."""

    def find(urls: pa.Array) -> pa.Array:
        from querycloak.texts.urls import urls_that_identify, urls_with_names

        series = series_of(urls)
        return pa.array(urls_that_identify(series) | urls_with_names(series))

    return on_texts(find, T.BooleanType(), url)
