"""From rows of a log to rows of a stream: each with its top-level category, and a place among rows of the same second.

A table of Spark has no order. Rows enter in the order of their times; rows of the same second, and all rows of a log
without times, in an order that a secret draws (SipHash of the whole row). It does not depend on partitions, so a run
repeats; and nobody can tell from it who asks, as one could from an order of users: which record is the one that brings
a text to m people would then depend on its asker.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.logs.category_paths import split_path
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.mapping.row_paths import concept_path, first_concept
from querycloak.methods.stream.run_ids import text_hashes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.spark.knowledge import Knowledge

__all__ = ["ENTERING", "stream_rows"]

ENTERING = ("user", "query", "time", "rank", "url", "category")
"""Columns of a log that a stream reads, where they are there."""


def stream_rows(frame: DataFrame, separator: str, knowledge: Knowledge | None, order_key: bytes) -> DataFrame:
    """Return the columns of a log, `top` (never null, "" = unclassified), `tie`, and `concept` without categories.

    A missing time is MISSING_TIME. `order_key` has 16 secret bytes.
    """
    present = [name for name in ENTERING if name in frame.columns]
    rows = frame.select(present)
    if "time" in present:
        rows = rows.withColumn("time", F.coalesce("time", F.lit(int(MISSING_TIME)).cast("bigint")))
    rows = rows.withColumn("tie", _ties(order_key, present))
    if knowledge is None:
        return rows.withColumn("top", _tops_of_categories(separator))
    return rows.withColumn("concept", _concepts(knowledge)).withColumn("top", _tops_of_concepts(knowledge))


def _ties(key: bytes, columns: list[str]) -> Column:
    """Return a number of each row that nobody can tell without the key."""

    def hashes(*values: pa.Array) -> pa.Array:
        texts = [pc.fill_null(value.cast(pa.large_string()), "") for value in values]
        lengths = [pc.binary_length(text).cast(pa.large_string()) for text in texts]
        whole = pc.binary_join_element_wise(
            *lengths, *texts, pa.scalar(":", pa.large_string())
        )  # which text ends where is said before them
        _, offsets, data = whole.combine_chunks().buffers() if isinstance(whole, pa.ChunkedArray) else whole.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
        words = text_hashes(key, np.frombuffer(data or b"", dtype=np.uint8), ends)
        return pa.array(words.view(np.int64))

    tie: Column = F.arrow_udf(hashes, T.LongType())(*columns)  # type: ignore[attr-defined] # stubs lag behind
    return tie


def _tops_of_categories(separator: str) -> Column:
    """Return the first level of each category; the paths of a branch are found again in it."""

    def tops(categories: pa.Array) -> pa.Array:
        coded = categories.dictionary_encode()
        names = [(split_path(text, separator) or ("",))[0] for text in coded.dictionary.to_pylist()]
        return pc.fill_null(pa.array(names, type=pa.string()).take(coded.indices), "")

    top: Column = F.arrow_udf(tops, T.StringType())(F.col("category").cast("string"))  # type: ignore[attr-defined]
    return top


def _concepts(knowledge: Knowledge) -> Column:
    """Return the first concept of each query; each distinct query of a batch is mapped once."""

    def concepts(queries: pa.Array) -> pa.Array:
        import polars as pl

        coded = queries.dictionary_encode()
        found = knowledge.mapper.map_queries(pl.Series(coded.dictionary.cast(pa.large_string())), workers=1)
        start = found.start.tolist()
        every = found.concept.tolist()
        first = [first_concept(every[a:b]) for a, b in pairwise(start)]
        return pc.fill_null(pa.array(first, type=pa.int32()).take(coded.indices), NO_CODE)

    concept: Column = F.arrow_udf(concepts, T.IntegerType())("query")  # type: ignore[attr-defined]
    return concept


def _tops_of_concepts(knowledge: Knowledge) -> Column:
    def tops(concepts: pa.Array) -> pa.Array:
        coded = concepts.dictionary_encode()
        names = [(concept_path(knowledge.taxonomy, c) or ("",))[0] for c in coded.dictionary.to_pylist()]
        return pa.array(names, type=pa.string()).take(coded.indices)

    top: Column = F.arrow_udf(tops, T.StringType())("concept")  # type: ignore[attr-defined]
    return top
