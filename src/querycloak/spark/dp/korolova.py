"""Choosing and counting queries with discrete Laplace noise, on a cluster (`methods/dp/_korolova.py` has the proof).

The first d queries of each user count. A table of a cluster has no order of rows: they are the first by time, and of
those of one time, or without times, those that a random number of the pair of user and query puts first. What counts
follows from the user's own rows in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql.window import Window

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._korolova import rule_of_choice, threshold
from querycloak.spark.dp.contribution import add_up, word_of
from querycloak.spark.dp.noise import laplace_for, reaches, with_noise

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share
    from querycloak.spark.spark_log import SparkLog

__all__ = ["choose_queries", "count_queries", "first_queries"]


def first_queries(log: SparkLog, d: int, random: Randomness) -> DataFrame:
    """Return `item` and `sum`: how often each query is among the first d query events of a user, over all users."""
    events = log.events.select("user", F.col("query").alias("item"), *(["time"] if log.has("time") else []))
    drawn = events.withColumn("key", word_of(F.col("user"), F.col("item"), KeyedRandomness(random.child("order"))))
    by_time = [F.col("time").asc_nulls_last()] if log.has("time") else []
    order = Window.partitionBy("user").orderBy(*by_time, "key", "item")
    first = drawn.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= d)
    return add_up(first.withColumn("weight", F.lit(1).cast("bigint"))).persist(StorageLevel.MEMORY_AND_DISK)


def choose_queries(counts: DataFrame, d: int, share: Share, random: Randomness) -> tuple[DataFrame, dict[str, float]]:
    """Choose queries by noisy counts, with an ε and a δ: `item` and its exact `sum`, and the rule."""
    scale = laplace_for(d, share.use())
    least = threshold(d, scale, share.delta)
    keyed = KeyedRandomness(random.child("choice"))
    chosen = counts.where(reaches(F.col("item"), F.col("sum"), keyed, scale, least, laplace=True))
    return chosen, rule_of_choice(least, scale)


def count_queries(chosen: DataFrame, d: int, share: Share, random: Randomness) -> DataFrame:
    """Return `item` and `count`, with noise."""
    keyed = KeyedRandomness(random.child("counts"))
    noisy = with_noise(F.col("item"), F.col("sum"), keyed, laplace_for(d, share.use()), laplace=True)
    return chosen.select("item", noisy.alias("count"))
