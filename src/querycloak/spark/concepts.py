"""What queries are about, on a cluster: each distinct query is mapped once, by the mapper of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.spark.knowledge import Knowledge

__all__ = ["concepts_of", "with_concepts"]


def with_concepts(queries: DataFrame, knowledge: Knowledge) -> DataFrame:
    """Add `concepts` to a table of distinct texts `query`: array<int>, one per unit in order, -1 = none."""
    return queries.withColumn("concepts", concepts_of(F.col("query"), knowledge))


def concepts_of(query: Column, knowledge: Knowledge) -> Column:
    """Return the concepts of each text; texts should be distinct, since each is mapped."""

    def read(texts: pa.Array) -> pa.Array:
        import polars as pl

        found = knowledge.mapper.map_queries(pl.Series(texts.cast(pa.large_string())), workers=1)
        return pa.ListArray.from_arrays(pa.array(found.start.astype(np.int32)), pa.array(found.concept))

    concepts: Column = F.arrow_udf(read, T.ArrayType(T.IntegerType()))(query)  # type: ignore[attr-defined]
    return concepts
