"""The methods of streams over a whole log of Spark: rows in the order of time, one engine for each top-level category.

Spark brings the rows of a category together and sorts them; they pass through its branch batch by batch, so that a
category may be larger than memory. All that is random is a function of the driver's secret and of the category: a task
that runs again makes the same rows again. Equal in distribution to one machine, whose engines share one source.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.durations import DAY
from querycloak.logs.query_log import MISSING_TIME
from querycloak.spark.new_ids import NewIds, all_digits
from querycloak.spark.spark_release import Draft
from querycloak.spark.streams.branch import Branch, published_columns
from querycloak.spark.streams.plan import Plan, categories_of, check_settings
from querycloak.spark.streams.rows import ENTERING, stream_rows
from querycloak.spark.streams.tallies import BranchFigures, Figures, figures_of, stated
from querycloak.texts.phrases import LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["BATCH", "FIELDS", "fixed_depth", "flat", "nearest", "self_adjusting", "text_order_key"]

BATCH: Final = 1 << 16
"""Rows that enter at a time."""
FIELDS: Final = {
    "user": T.StringType(),
    "query": T.StringType(),
    "time": T.LongType(),
    "rank": T.IntegerType(),
    "url": T.StringType(),
    "category": T.StringType(),
}


def text_order_key(random: Randomness) -> bytes:
    """Return the 16 secret bytes of the order of rows of the same second."""
    return random.child("order").words(2).astype("<u8").tobytes()


def _release(method: str, log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Let the rows of a log pass."""
    roles = tuple(name for name in ENTERING if log.has(name))
    check_settings(settings, roles)
    categories = None if log.has("category") else _categories(log, settings, knowledge)
    plan = Plan(method, settings, roles, KeyedRandomness(random.child("engine")), categories)
    rows = stream_rows(log.frame, settings.separator, categories, text_order_key(random))
    order = ["top", *(["time"] if "time" in roles else []), "tie"]
    sorted_rows = rows.repartition("top").sortWithinPartitions(order).drop("tie")
    columns = published_columns(roles)
    schema = T.StructType(
        [
            *(T.StructField(name, FIELDS[name]) for name in ("user", *columns)),
            T.StructField("asker", T.StringType()),
            T.StructField("candidates", T.IntegerType()),
            T.StructField("kind", T.ByteType()),
            T.StructField("figures", T.StringType()),
        ]
    )

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _run(plan, batches, schema_arrow)

    schema_arrow = _arrow_schema(columns)
    left = sorted_rows.mapInArrow(run, schema).persist(StorageLevel.MEMORY_AND_DISK)
    told = [row[0] for row in left.where(F.col("figures").isNotNull()).select("figures").collect()]  # one per category
    figures = Figures(msgspec.json.decode(text, type=BranchFigures) for text in told)
    table = left.where(F.col("figures").isNull()).drop("figures")
    counts_in = {name: log.counts_in[name] for name in ("rows", "users")}
    statement = stated(method, settings, random, figures, roles, counts_in, {})
    published, truth = _under_ids(table, settings.ids, log, random)
    labels = published.where(F.col("kind") == LABEL).select(F.col("query").alias("text")).distinct()
    departures = published.select("user", "asker", "stands_for", "candidates")
    frame = published.select("user", *columns)
    if "time" in columns:
        frame = frame.withColumn("time", F.when(F.col("time") != int(MISSING_TIME), F.col("time")))
    return Draft("stream", frame, statement, truth, public=labels, also={"departures": departures})


def _categories(log: SparkLog, settings: Any, knowledge: Knowledge) -> Knowledge:
    """Return what finds categories: the taxonomy that was asked for, or the usual one of streams."""
    if knowledge.is_usual:
        return categories_of(log.frame.sparkSession, settings, None, knowledge.mapping)
    return knowledge


def _under_ids(table: DataFrame, ids: str, log: SparkLog, random: Randomness) -> tuple[DataFrame, DataFrame]:
    """Return the rows with published ids in `user` and original ones in `stands_for`, and whom ids stand for."""
    named = table.withColumnRenamed("user", "stands_for")
    if ids == "original":
        published = named.withColumn("user", F.col("stands_for"))
    else:
        name = F.col("stands_for")
        if ids == "day":
            day = F.floor(F.col("time") / DAY)  # of the published time
            name = F.concat(day.cast("string"), F.lit("\x1f"), name)
        named = named.withColumn(" name", name)
        distinct = named.select(" name").distinct()
        users = log.users
        made = NewIds.of(distinct, random, avoid=users, digits=all_digits(users))
        published = made.put_on(named, " name", "user").drop(" name")
    return published, published.select(F.col("user").alias("id"), F.col("stands_for").alias("user")).distinct()


def _arrow_schema(columns: tuple[str, ...]) -> pa.Schema:
    kinds = {"time": pa.int64(), "rank": pa.int32()}
    return pa.schema(
        [
            *((name, kinds.get(name, pa.string())) for name in ("user", *columns)),
            ("asker", pa.string()),
            ("candidates", pa.int32()),
            ("kind", pa.int8()),
            ("figures", pa.string()),
        ]
    )


def _run(plan: Plan, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Let sorted rows of several categories pass, one category after the other."""
    import polars as pl

    branch: Branch | None = None
    kept: list[pa.RecordBatch] = []
    open_top, size = "", 0

    def enter() -> Iterator[pa.RecordBatch]:
        nonlocal kept, size
        if branch is not None and kept:
            table = pl.DataFrame(pa.Table.from_batches(kept))
            kept, size = [], 0
            yield from _batches(branch.push(table).with_columns(figures=pl.lit(None, dtype=pl.String)), schema)

    def finish() -> Iterator[pa.RecordBatch]:
        yield from enter()
        if branch is not None:
            told = msgspec.json.encode(figures_of(branch)).decode()
            nothing = {name: pa.nulls(1, schema.field(name).type) for name in schema.names}
            yield pa.RecordBatch.from_pydict({**nothing, "figures": pa.array([told])}, schema=schema)

    for batch in batches:
        tops = batch.column("top").dictionary_encode()
        codes = tops.indices.to_numpy(zero_copy_only=False)
        cuts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
        for begin, end in pairwise(cuts):
            if begin == end:
                continue
            top = tops.dictionary[int(codes[begin])].as_py()
            if branch is None or top != open_top:
                yield from finish()
                branch, open_top = Branch(plan, top), top
            kept.append(batch.slice(begin, end - begin))
            size += end - begin
            if size >= BATCH:
                yield from enter()
    yield from finish()


def _batches(table: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Return rows as batches of Spark's types."""
    if len(table):
        yield from table.select(schema.names).to_arrow().cast(schema).to_batches()


def self_adjusting(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Let each record leave from its category, or else from the deepest branch above with enough users."""
    return _release("self-adjusting", log, settings, random, knowledge)


def nearest(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Let each record leave from a pool, with one of the k + 1 users who asked nearest to it."""
    return _release("nearest", log, settings, random, knowledge)


def fixed_depth(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Let each record leave with a user of its category, cut to a depth."""
    return _release("fixed-depth", log, settings, random, knowledge)


def flat(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Let each record leave with a user of its top-level category."""
    return _release("flat", log, settings, random, knowledge)
