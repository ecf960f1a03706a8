"""Measures on a cluster: those that are sums over rows and texts, equal to those of one machine on the same log.

Equal counts at the cut of the top queries are taken by the order of texts here, since a log of many files has no first
appearance: only there a figure may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.errors import UnknownNameError
from querycloak.measures.score import Score
from querycloak.measures.top_queries import spearman
from querycloak.spark.kept import kept
from querycloak.spark.spark_log import SparkLog
from querycloak.spark.text_functions import on_texts, series_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from querycloak.releases.statement import PrivacyStatement

__all__ = ["MEASURES", "measure"]

MEASURES = ("kept", "top queries", "unchanged")


def measure(
    original: DataFrame | SparkLog,
    released: DataFrame,
    statement: PrivacyStatement,
    truth: DataFrame | None = None,
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[Score]:
    """Run all measures that Spark has, or those named. `unchanged` needs the truth: `id` and `user`."""
    del statement  # every release of texts can be measured
    chosen = [name.replace("-", " ") for name in MEASURES if names is None] or [
        n.replace("-", " ") for n in names or ()
    ]
    for name in chosen:
        if name not in MEASURES:
            raise UnknownNameError.of("measure on Spark", name, MEASURES)
    log = original if isinstance(original, SparkLog) else SparkLog.of(original, columns, on_error="skip")
    events = kept(log.events.select("user", "query"))
    weight = (
        F.sum(F.greatest("count", F.lit(0)))
        if "count" in released.columns and "user" not in released.columns
        else F.count("*")
    )
    before = events.groupBy("query").agg(F.count("*").alias("before"))
    after = released.groupBy("query").agg(weight.alias("after"))
    counts = kept(before.join(after, "query", "full").fillna(0, ["before", "after"]))
    scores: list[Score] = []
    if "kept" in chosen:
        scores += _kept(counts, events, log, released)
    if "top queries" in chosen:
        scores += _top(counts)
    if "unchanged" in chosen and truth is not None and "user" in released.columns:
        scores.append(_unchanged(events, released, truth))
    return scores


def _kept(counts: DataFrame, events: DataFrame, log: SparkLog, released: DataFrame) -> list[Score]:
    both = F.least("before", "after")
    row: Any = counts.agg(F.sum("before"), F.sum(both), F.count_if(F.col("before") > 0), F.count_if(both > 0)).first()
    asked, volume, queries, there = (float(value or 0) for value in row)
    scores = [
        Score(measure="volume kept", value=volume / max(asked, 1.0), better="higher"),
        Score(measure="distinct queries kept", value=there / max(queries, 1.0), better="higher"),
    ]
    if "user" in released.columns:
        ids: Any = released.agg(F.count("*"), F.countDistinct("user")).first()
        then = float(events.count()) / max(log.users.count(), 1)
        now = float(ids[0]) / max(int(ids[1]), 1)
        scores.append(Score(measure="rows per user", value=now, better="higher", details={"of the log": then}))
    return scores


def _top(counts: DataFrame) -> list[Score]:
    most = counts.where(F.col("before") > 0).orderBy(F.desc("before"), "query").limit(1000)
    rows = most.select("before", "after").collect()
    before, after = (np.array([float(row[i]) for row in rows]) for i in (0, 1))
    return [
        Score(measure=f"rank correlation, top {n}", value=spearman(before[:n], after[:n]), better="higher")
        for n in (100, 1000)
    ]


def _unchanged(events: DataFrame, released: DataFrame, truth: DataFrame) -> Score:
    owner = truth.select("id", F.col("user").alias("owner")).distinct()
    shown = released.select(F.col("user").alias("id"), "query").join(owner, "id")
    has = shown.groupBy(F.col("owner").alias("user"), _trimmed(F.col("query")).alias("text")).agg(
        F.count("*").alias("has")
    )
    had = events.groupBy("user", _trimmed(F.col("query")).alias("text")).agg(F.count("*").alias("had"))
    both = has.join(had, ["user", "text"], "left").fillna(0, ["had"])
    row: Any = both.agg(F.sum(F.least("has", "had")), F.sum("has")).first()
    return Score(measure="queries unchanged", value=float(row[0] / row[1]) if row[1] else 0.0, better="lower")


def _trimmed(text: Column) -> Column:
    """Return texts in lower case and without spaces at the ends, as `measures/unchanged.py` compares them."""

    def trim(texts: pa.Array) -> pa.Array:
        return series_of(texts).str.strip_chars().str.to_lowercase().to_arrow().cast(pa.string())

    return on_texts(trim, T.StringType(), text)
