"""Sweep on a cluster: new ids, and of each query only what many people share. No guarantee.

The same table, with a seed, as `methods/suppression/sweep.py` makes on one machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak._version import __version__
from querycloak.methods.suppression.sweep import exposed_by, hash_tokens, token_key
from querycloak.releases.kinds import KIND_NAMES
from querycloak.releases.statement import PrivacyStatement
from querycloak.spark.kept import kept, sent_if_short
from querycloak.spark.kept_columns import KeptColumns
from querycloak.spark.new_ids import NewIds, all_digits
from querycloak.spark.shared_texts import shared_texts
from querycloak.spark.spark_release import Draft
from querycloak.spark.text_functions import on_texts, series_of
from querycloak.texts.phrases import COUNT_NAMES, NOT_PUBLISHED
from querycloak.texts.text_promises import covered_in, promised_texts, window_between

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.methods.suppression.sweep import Sweep
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["sweep", "window_of"]


def sweep(log: SparkLog, settings: Sweep, random: Randomness, knowledge: Knowledge) -> Draft:
    """Put every user under a new id; publish of each query what many people share."""
    shared = shared_texts(log, settings.rule, knowledge)
    shown = F.col("text")
    if settings.hash_tokens:
        shown = _hashed(shown, token_key(random))
    texts = shared.texts.drop("people").withColumn("shown", shown)
    columns = KeptColumns.of(log, settings, settings.rule, texts)
    rows = kept(columns.rows)
    counts = _counts(log, texts)
    people = rows.select("person").distinct()
    names = kept(log.users.withColumn("person", log.user_numbers.of(F.col("user"))).join(people, "person"))
    ids = NewIds.of(names.select("user"), random, avoid=log.users, digits=all_digits(log.users))
    truth = kept(ids.put_on(names))
    readings = None
    if settings.hash_tokens:
        readings = texts.where("text is not null").select(F.col("shown").alias("text"), F.col("text").alias("reading"))
        readings = readings.distinct()
    kind = F.element_at(F.array(*map(F.lit, KIND_NAMES)), F.col("kind") + 1)
    further = [kind.alias("kind")] if settings.kinds == "column" else []
    of_log = [name for name in ("time", "rank", "url") if name in rows.columns]
    under_ids = rows.join(sent_if_short(truth.select("person", "id")), "person")
    table = under_ids.select(F.col("id").alias("user"), F.col("shown").alias("query"), *of_log, *further)
    events = sum(counts.values())
    clicks_out = rows.count() - (events - counts[NOT_PUBLISHED])  # those that are published are rows
    dropped = {
        "further clicks of a query": log.counts_in["rows"] - events - clicks_out,
        NOT_PUBLISHED: counts.pop(NOT_PUBLISHED),
    }
    statement = PrivacyStatement(
        method="sweep",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        **promised_texts(settings),
        **columns.promises,
        covers=covered_in(settings, window_of(log)),
        does_not_cover=(*exposed_by(settings), *columns.exposes),
        randomness=random.describe(),
        new_ids=True,
        counts_in=log.counts_in,
        counts_out={},
        dropped=dropped,
        figures={**counts},
    )
    also = {} if shared.concepts is None else {"concepts": shared.concepts}
    return Draft("log", table, statement, truth=truth.select("id", "user"), readings=readings, also=also)


def window_of(log: SparkLog) -> str:
    """Say which input people were counted over, by days: one job (`texts/text_promises.py`)."""
    if not log.has("time"):
        return window_between()
    first, last = log.frame.select(F.min("time"), F.max("time")).first() or (None, None)
    return window_between(first, last)


def _counts(log: SparkLog, texts: DataFrame) -> dict[str, int]:
    """Count query events by what is published of them: one job."""
    found = log.numbered_events.join(texts.select("number", "kind"), "number").groupBy("kind")
    counts = {row.kind: row.events for row in found.agg(F.count("*").alias("events")).collect()}
    return {name: counts.get(code, 0) for code, name in enumerate(COUNT_NAMES)}


def _hashed(text: Column, key: bytes) -> Column:
    """Return texts with each word as a keyed hash; the key is in the function alone, and in no plan."""

    def hashed(texts: pa.Array) -> pa.Array:
        return hash_tokens(series_of(texts), key).to_arrow().cast(pa.string())

    return on_texts(hashed, T.StringType(), text)
