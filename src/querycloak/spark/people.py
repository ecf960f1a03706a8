"""How many people of a log hold something of its queries: distinct people, counted exactly by Spark.

Queries, forms and people are numbers here (`numbers.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["asked_by_people", "people_of", "people_of_concepts", "without_machines"]

FEW: Final = 1_000
"""machines that stand in a plan by their numbers"""


def asked_by_people(log: SparkLog, most_rows: int | None) -> DataFrame:
    """Return who asked which query: distinct `number` and `person`, without ids that are taken for machines."""
    return without_machines(log.asked.select("number", "person"), log, most_rows)


def without_machines(table: DataFrame, log: SparkLog, most_rows: int | None) -> DataFrame:
    """Leave out of a table the rows of each `person` with more than `most_rows` rows in the log: a machine."""
    if most_rows is None:
        return table
    machines = log.rows_of_people.where(F.col("rows") > most_rows).select("person")
    few = [row.person for row in machines.limit(FEW + 1).collect()]  # hardly ever any
    if len(few) > FEW:
        return table.join(machines, "person", "left_anti")
    return table.where(~F.col("person").isin(few)) if few else table


def people_of(things: DataFrame, pairs: DataFrame) -> DataFrame:
    """Return `thing` and `people`: how many distinct people asked a form that holds it.

    things: `form` and `thing`, distinct; pairs: `form` and `person`. What nobody holds has no row.
    """
    held = things.join(pairs, "form").select("thing", "person").distinct()
    return held.groupBy("thing").agg(F.count("*").alias("people"))


def people_of_concepts(concepts: DataFrame, pairs: DataFrame, knowledge: Knowledge) -> npt.NDArray[np.int64]:
    """int64[taxonomy]: how many people have a query at or below each concept.

    concepts: `number` and `concepts` of each query; pairs: `number` and `person`. What comes to the driver is one
    number for each concept of the taxonomy; what a task holds of a person is at most the taxonomy.
    """
    own = concepts.join(pairs, "number").select("person", F.explode("concepts").alias("concept")).where("concept >= 0")
    # Spread by person alone, so that what follows finds a person in one place.
    of_person = own.repartition("person").distinct().groupBy("person")
    lists = of_person.agg(F.collect_list("concept").alias("concepts")).select("concepts")

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        taxonomy = knowledge.taxonomy
        total = np.zeros(len(taxonomy), dtype=np.int64)
        for batch in batches:
            total += _reached(batch.column(0), taxonomy.parent)
        some = np.flatnonzero(total)
        yield pa.record_batch([pa.array(some), pa.array(total[some])], names=["concept", "people"])

    parts = lists.mapInArrow(count, "concept bigint, people bigint")
    out = np.zeros(len(knowledge.taxonomy), dtype=np.int64)
    for row in parts.groupBy("concept").agg(F.sum("people").alias("people")).collect():
        out[row.concept] = row.people
    return out


def _reached(of_person: pa.ListArray, parent: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Count, for each concept, the rows with a concept at or below it; a row = the concepts of one person."""
    width = len(parent)
    lengths = of_person.value_lengths().to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(of_person), dtype=np.int64), lengths)
    level = np.unique(owner * width + of_person.flatten().to_numpy(zero_copy_only=False))
    levels = [level]
    while len(level):
        person, above = level // width, parent[level % width].astype(np.int64)
        level = np.unique((person * width + above)[above >= 0])
        levels.append(level)
    return np.bincount(np.unique(np.concatenate(levels)) % width, minlength=width).astype(np.int64)
