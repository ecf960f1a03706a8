"""How many people of a log hold something of its queries: distinct people, counted exactly by Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.spark.kept import kept, sent_if_short
from querycloak.spark.text_functions import compared_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["asked", "machines_of", "people_of", "people_of_concepts"]


def asked(log: SparkLog, most_rows: int | None) -> DataFrame:
    """Return who asked which query: distinct `query` and `user`, its `form`, and whether the user is `counted`.

    An id with more than `most_rows` rows is taken for a machine and is not counted.
    """
    rows = log.frame.select("query", "user")
    if most_rows is None:
        marked = rows.distinct().withColumn("counted", F.lit(True))
        return marked.withColumn("form", compared_text(F.col("query")))
    machines = machines_of(log, most_rows)
    marked = rows.distinct().join(machines.withColumn("few", F.lit(False)), "user", "left")
    marked = marked.select("query", "user", F.col("few").isNull().alias("counted"))
    return marked.withColumn("form", compared_text(F.col("query")))


def machines_of(log: SparkLog, most_rows: int) -> DataFrame:
    """Return the ids with more than `most_rows` rows: `user`."""
    per_user = log.frame.groupBy("user").agg(F.count("*").alias("rows"))
    return sent_if_short(kept(per_user.where(F.col("rows") > most_rows).select("user")))  # hardly ever many


def people_of(things: DataFrame, pairs: DataFrame) -> DataFrame:
    """Return `thing` and `people`: how many distinct people asked a query that holds it.

    things: `form` and `thing`, distinct; pairs as `asked` returns them. What nobody holds has no row.
    """
    held = things.join(pairs.where("counted").select("form", "user"), "form").select("thing", "user").distinct()
    return held.groupBy("thing").agg(F.count("*").alias("people"))


def people_of_concepts(concepts: DataFrame, pairs: DataFrame, knowledge: Knowledge) -> npt.NDArray[np.int64]:
    """int64[taxonomy]: how many people have a query at or below each concept.

    concepts: `query` and its `concepts`. What comes to the driver is one number for each concept of the taxonomy; what
    a task holds of a user is at most the taxonomy.
    """
    counted = pairs.where("counted").select("query", "user")
    own = concepts.join(counted, "query").select("user", F.explode("concepts").alias("concept")).where("concept >= 0")
    of_user = own.distinct().groupBy("user").agg(F.collect_list("concept").alias("concepts")).select("concepts")

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        taxonomy = knowledge.taxonomy
        total = np.zeros(len(taxonomy), dtype=np.int64)
        for batch in batches:
            total += _reached(batch.column(0), taxonomy.parent)
        some = np.flatnonzero(total)
        yield pa.record_batch([pa.array(some), pa.array(total[some])], names=["concept", "people"])

    parts = of_user.mapInArrow(count, "concept bigint, people bigint")
    out = np.zeros(len(knowledge.taxonomy), dtype=np.int64)
    for row in parts.groupBy("concept").agg(F.sum("people").alias("people")).collect():
        out[row.concept] = row.people
    return out


def _reached(of_user: pa.ListArray, parent: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Count, for each concept, the rows with a concept at or below it; a row = the concepts of one user."""
    width = len(parent)
    owner = np.repeat(np.arange(len(of_user), dtype=np.int64), of_user.value_lengths().to_numpy(zero_copy_only=False))
    level = np.unique(owner * width + of_user.flatten().to_numpy(zero_copy_only=False))
    levels = [level]
    while len(level):
        user, above = level // width, parent[level % width].astype(np.int64)
        level = np.unique((user * width + above)[above >= 0])
        levels.append(level)
    return np.bincount(np.unique(np.concatenate(levels)) % width, minlength=width).astype(np.int64)
