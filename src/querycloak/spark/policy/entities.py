"""Rule `entities` on a cluster: each distinct query is split by the code of one machine, its entities are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.spark.kept import kept
from querycloak.spark.text_functions import on_texts, series_of

if TYPE_CHECKING:
    from pyspark.sql import Column

    from querycloak.methods.policy.rule_entities import Entities
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.policy.texts import Texts

__all__ = ["judge_entities"]

PIECES: Final = "array<struct<is_span:boolean,key:string,shown:string>>"
KEYS: Final = ("is_span", "key")


def judge_entities(texts: Texts, rule: Entities, knowledge: Knowledge) -> Texts:
    """Leave out, or cut, queries with an entity that too few people asked."""
    split = texts.there.select("query", "text", "form", _people(rule)).withColumn(
        "pieces", _pieces(F.col("text"), rule, knowledge)
    )
    parts = split.select("query", "people", F.posexplode("pieces").alias("at", "piece"))
    parts = kept(parts.select("query", "people", "at", "piece.*"))
    span_people = rule.people if rule.span_people is None else rule.span_people
    least = F.when(F.col("is_span"), span_people).otherwise(rule.people)
    things = parts.select("query", "people", *KEYS, least.alias("least")).distinct()
    enough = texts.of_many(things, KEYS, rule.days).withColumn("enough", F.lit(True))
    judged = parts.join(enough, [*KEYS], "left")
    good = F.col("enough").isNotNull()
    shown = F.array_sort(F.collect_list(F.when(good, F.struct("at", "shown"))))
    of_query = judged.groupBy("query").agg(
        F.bool_and(good).alias("whole"), F.bool_or(good).alias("some"), shown.alias("shown")
    )
    joined = texts.over(texts.table.join(of_query, "query", "left"))
    if rule.rare == "drop":
        return joined.keep(F.col("whole"), "entities: a part that too few people asked").settled()
    left = joined.keep(F.col("some"), "entities: no part that enough people asked")
    cuts = F.col("gone").isNull() & ~F.col("whole")
    rest = F.array_join(F.col("shown.shown"), " ")
    table = left.table.withColumn("cut entities", cuts)
    # What is left of a query is in the form that is compared.
    shown_now = {name: F.when(cuts, rest).otherwise(F.col(name)) for name in ("text", "form")}
    return left.over(table.withColumns(shown_now)).settled()


def _people(rule: Entities) -> Column:
    """Return how many people asked each query, in the days that count."""
    return F.col("people" if rule.days is None else f"people {rule.days}").alias("people")


def _pieces(text: Column, rule: Entities, knowledge: Knowledge) -> Column:
    """Return the entities of each text, in their order."""

    def split(texts: pa.Array) -> pa.Array:
        from querycloak.methods.policy.rule_entities import pieces_of

        found = pieces_of(series_of(texts), rule, knowledge.taxonomy)
        start = np.searchsorted(np.array(found.owner, dtype=np.int64), np.arange(len(texts) + 1)).astype(np.int32)
        pieces = pa.StructArray.from_arrays(
            [pa.array(found.is_span, pa.bool_()), pa.array(found.key, pa.string()), pa.array(found.shown, pa.string())],
            names=["is_span", "key", "shown"],
        )
        return pa.ListArray.from_arrays(pa.array(start), pieces)

    return on_texts(split, PIECES, text)
