"""The units of each user's queries, on a cluster: one row for each user, with what the user asked about.

All users of the log have a row, also those without a unit. A user's row is bounded by the taxonomy, or by a setting,
however many queries the user has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from querycloak.arrays.ragged import Ragged
from querycloak.spark.concepts import with_concepts

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["counted_units", "read_counts"]


def counted_units(
    log: SparkLog, knowledge: Knowledge, bin_of: npt.NDArray[np.int32], most: int | None = None
) -> DataFrame:
    """Return `user` and `counts`, in the order of bins: how many units in each bin; null = the user has none.

    bin_of: int32[concepts], the bin of each concept, -1 = none. Of a user with more than `most` units in bins the first
    by time count, those of one time in the order of their texts: one machine takes them in the order of the log.
    """
    queries = with_concepts(log.events.select("query").distinct(), knowledge)
    binned = queries.select("query", _bins(F.col("concepts"), bin_of).alias("bins")).where(F.size("bins") > 0)
    time = ["time"] if log.has("time") and most is not None else []
    events = log.events.select("user", "query", *time).join(binned, "query")
    if most is None:
        units = events.select("user", F.explode("bins").alias("bin"))
    else:
        at = events.select("user", "query", *time, F.posexplode("bins").alias("at", "bin"))
        order = Window.partitionBy("user").orderBy(*[F.col(name).asc_nulls_first() for name in time], "query", "at")
        units = at.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= most)
    counts = units.groupBy("user", "bin").agg(F.count("*").alias("n"))
    rows = counts.groupBy("user").agg(F.sort_array(F.collect_list(F.struct("bin", "n"))).alias("counts"))
    return log.users.join(rows, "user", "left")


def read_counts(column: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the counts of users: int32[pairs] bins, int64[pairs] counts, and int64[users + 1] where each begins."""
    lists = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    start = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    pairs = lists.flatten()
    return (
        pairs.field("bin").to_numpy(zero_copy_only=False).astype(np.int32),
        pairs.field("n").to_numpy(zero_copy_only=False).astype(np.int64),
        start,
    )


def _bins(concepts: Column, bin_of: npt.NDArray[np.int32]) -> Column:
    """Return the bins of concepts, those that have one, in their order: array<int>."""

    def find(lists: pa.Array) -> pa.Array:
        flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
        owner = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy(zero_copy_only=False))
        found = np.where(flat < 0, -1, bin_of[flat])
        kept = Ragged.of(owner[found >= 0], found[found >= 0].astype(np.int32), len(lists))
        return pa.ListArray.from_arrays(pa.array(kept.start.astype(np.int32)), pa.array(kept.values.astype(np.int32)))

    bins: Column = F.arrow_udf(find, T.ArrayType(T.IntegerType()))(concepts)  # type: ignore[attr-defined]
    return bins
