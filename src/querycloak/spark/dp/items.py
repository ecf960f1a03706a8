"""The items that a set union chooses from, on a cluster: whole queries, phrases, clicks. Each user's own, no others.

Tables of `user`, `item` and `cost`, distinct pairs, spread by user and kept by Spark. The name of a click is its query
and its URL with NUL between them, which no query of a log holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.spark.spark_log import SparkLog

__all__ = ["click_items", "click_of", "phrase_items", "phrases_of", "query_items"]

BETWEEN: Final = "\0"
SPACES: Final = r"(?U)\s+"
"""White space of all scripts, as Polars has it"""
RUNS: Final = T.ArrayType(T.StructType([T.StructField("item", T.StringType()), T.StructField("cost", T.IntegerType())]))


def query_items(log: SparkLog, *, short: bool) -> DataFrame:
    """Return the whole queries as they were typed; `short` = short ones are cheap, else all cost the same."""
    pairs = _distinct(log.frame.select("user", F.col("query").alias("item")))
    return _kept(pairs.withColumn("cost", _words("item") if short else F.lit(1)))


def phrase_items(log: SparkLog, *, short: bool) -> DataFrame:
    """Return the runs of words of each user's queries, in the form in which texts are compared."""
    asked = _distinct(log.frame.select("user", "query"))
    runs = asked.select("user", F.explode(phrases_of(F.col("query"))).alias("run"))
    pairs = _distinct(runs.select("user", "run.item", "run.cost"))
    return _kept(pairs if short else pairs.withColumn("cost", F.lit(1)))


def click_items(log: SparkLog, queries: DataFrame) -> DataFrame:
    """Return the pairs of a query and a URL clicked for it, among queries that were chosen: a table of `item`."""
    if not log.has("url"):
        return _kept(log.frame.where(F.lit(False)).select("user", F.col("query").alias("item"), F.lit(1).alias("cost")))
    clicked = log.frame.where(F.col("url").isNotNull())
    of_chosen = clicked.join(queries.withColumnRenamed("item", "query"), "query", "left_semi")
    pairs = of_chosen.select("user", F.concat("query", F.lit(BETWEEN), "url").alias("item"))
    return _kept(_distinct(pairs).withColumn("cost", F.lit(1)))


def click_of(item: str = "item") -> tuple[Column, Column]:
    """Return the query and the URL of a click."""
    at = F.instr(F.col(item), BETWEEN)
    return F.substring(F.col(item), F.lit(1), at - 1), F.substring(F.col(item), at + 1, F.length(item))


def phrases_of(query: Column) -> Column:
    """Return the runs of words of each query, each with its number of words: array<struct<item, cost>>."""

    def find(queries: pa.Array) -> pa.Array:
        import polars as pl

        from querycloak.texts.compared import code_texts, compared
        from querycloak.texts.word_runs import WordRuns

        forms = compared(pl.Series(queries.cast(pa.large_string())))
        code, first = code_texts(forms)
        runs = WordRuns.of(forms.gather(first))
        held = runs.of_text.take(code)
        texts = runs.texts(np.arange(len(runs.words)))
        item = texts.gather(held.values).to_arrow().cast(pa.string())
        cost = pa.array(runs.words[held.values], type=pa.int32())
        entries = pa.StructArray.from_arrays(
            [item, cost], fields=[pa.field("item", pa.string()), pa.field("cost", pa.int32())]
        )
        return pa.ListArray.from_arrays(pa.array(held.start.astype(np.int32)), entries)

    found: Column = F.arrow_udf(find, RUNS)(query)  # type: ignore[attr-defined] # stubs lag behind
    return found


def _words(text: str) -> Column:
    """Count the words of a text: one more than there are runs of white space inside."""
    stripped = F.regexp_replace(F.col(text), rf"^{SPACES}|{SPACES}$", "")
    return F.size(F.split(stripped, SPACES, -1))


def _distinct(pairs: DataFrame) -> DataFrame:
    """Keep each row once; spread by user, as all that follows needs it."""
    return pairs.repartition("user").distinct()


def _kept(pairs: DataFrame) -> DataFrame:
    return pairs.persist(StorageLevel.MEMORY_AND_DISK)
