"""The query events of each user in the order of time, on a cluster: sessions, repetitions, topics.

What `methods/dp/_synthetic_events.py` finds, by windows over the user. A table of a cluster has no order of rows:
events of one second are in the order of their texts, and without times in a random order that follows from the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from querycloak.arrays.ragged import Ragged
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._synthetic_domain import SESSION_SECONDS
from querycloak.methods.dp._synthetic_events import AGAIN, EARLIER, FIRST_EARLIER, FIRST_NEW, NEW
from querycloak.spark.concepts import with_concepts
from querycloak.spark.dp.contribution import word_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.methods.dp._synthetic_domain import Topics
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["Events", "read_events"]

OF_QUERY = T.StructType(
    [
        T.StructField("topic", T.IntegerType()),
        T.StructField("field", T.IntegerType()),
        T.StructField("topics", T.ArrayType(T.IntegerType())),
        T.StructField("fields", T.ArrayType(T.IntegerType())),
    ]
)


class Events(NamedTuple):
    """Query events, kept by Spark, spread by user."""

    frame: DataFrame
    """`user`; `time`, if the log has it; `first`: begins a session; `session`: its number within the user; `kind`:
    FIRST_NEW to AGAIN; `topic`, `field`: of the first part that has one; `topics`, `fields`: of all parts, or of none
    together; and of the event before it: `pause` in seconds, `old_topic`, `old_field`"""
    times: bool


def read_events(log: SparkLog, knowledge: Knowledge, topics: Topics, random: Randomness) -> Events:
    """Read the events of all users."""
    times = log.has("time")
    events = log.events.select("user", "query", *(["time"] if times else []))
    queries = with_concepts(events.select("query").distinct(), knowledge)
    known = queries.select("query", _topics(F.col("concepts"), topics).alias("of"))
    events = events.join(known, "query").select(*events.columns, "of.*")
    if times:
        by = [F.col("time").asc_nulls_first(), F.col("query")]
    else:
        same = F.row_number().over(Window.partitionBy("user", "query").orderBy(F.lit(0)))
        name = F.concat(same.cast("string"), F.lit(" "), F.col("query"))
        keyed = KeyedRandomness(random.child("order of events"))
        events = events.withColumn("name", name).withColumn("key", word_of(F.col("user"), F.col("name"), keyed))
        by = [F.col("key"), F.col("name")]
    events = events.withColumn("n", F.row_number().over(Window.partitionBy("user").orderBy(*by)))
    in_turn = Window.partitionBy("user").orderBy("n")
    first = F.col("n") == 1
    if times:
        before = F.lag("time").over(in_turn)
        pause = F.col("time") - before
        events = events.withColumn("pause", pause)
        first = first | F.col("pause").isNull() | (F.col("pause") > SESSION_SECONDS)
    events = (
        events.withColumn("first", first)
        .withColumn("same", F.col("query") == F.lag("query").over(in_turn))
        .withColumn("old_topic", F.lag("topic").over(in_turn))
        .withColumn("old_field", F.lag("field").over(in_turn))
        .withColumn("session", F.sum(F.col("first").cast("bigint")).over(in_turn))
        .withColumn("earliest", F.min("n").over(Window.partitionBy("user", "query")))
    )
    new = F.when(F.col("first"), FIRST_NEW).otherwise(NEW) + (F.col("topic") == topics.none).cast("int")
    kind = (
        F.when(~F.col("first") & F.col("same"), AGAIN)
        .when(F.col("n") > F.col("earliest"), F.when(F.col("first"), FIRST_EARLIER).otherwise(EARLIER))
        .otherwise(new)
    )
    kept = events.withColumn("kind", kind).drop("query", "n", "same", "earliest", "key", "name")
    return Events(kept.persist(StorageLevel.MEMORY_AND_DISK), times)


def _topics(concepts: Column, topics: Topics) -> Column:
    """Return the topics and fields of the parts of a query."""

    def find(lists: pa.Array) -> pa.Array:
        flat = topics.bin_of[lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)]
        owner = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy(zero_copy_only=False))
        there = flat != topics.none
        without = np.setdiff1d(np.arange(len(lists)), owner[there])
        parts = Ragged.of(
            np.concatenate([owner[there], without]),
            np.concatenate([flat[there], np.full(len(without), topics.none)]),
            len(lists),
        )
        start, of = pa.array(parts.start.astype(np.int32)), parts.values.astype(np.int32)
        head = of[parts.start[:-1]]
        field = topics.field.astype(np.int32)
        columns = [
            pa.array(head),
            pa.array(field[head]),
            pa.ListArray.from_arrays(start, pa.array(of)),
            pa.ListArray.from_arrays(start, pa.array(field[of])),
        ]
        return pa.StructArray.from_arrays(columns, names=OF_QUERY.names)

    found: Column = F.arrow_udf(find, OF_QUERY)(concepts)  # type: ignore[attr-defined] # stubs lag behind
    return found
