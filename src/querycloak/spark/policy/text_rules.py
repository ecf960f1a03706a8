"""The rules that judge a query as a whole: `identifiers`, `query_users` and `length`.

Each is a function of the text and of how many people asked it, as on one machine: detectors are those of one machine,
and run once for each distinct query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.spark.text_functions import on_texts, series_of

if TYPE_CHECKING:
    from pyspark.sql import Column

    from querycloak.methods.policy.rule_identifiers import Identifiers
    from querycloak.methods.policy.rule_length import Length
    from querycloak.methods.policy.rule_query_users import QueryUsers
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.policy.texts import Texts

__all__ = ["drop_identifiers", "drop_long_queries", "drop_rare_queries"]


def drop_identifiers(texts: Texts, rule: Identifiers, knowledge: Knowledge) -> Texts:
    """Leave out queries with an identifier, and those with a name that too few people asked."""
    kinds = rule.kinds

    def holds(found: pa.Array) -> pa.Array:
        from querycloak.methods.policy.rule_identifiers import holds_kind

        return pa.array(holds_kind(series_of(found), kinds))

    held = texts.table.withColumn("holds", on_texts(holds, T.BooleanType(), F.col("text")))
    texts = texts.over(held).keep(~F.col("holds"), "identifiers: personal identifier").settled()
    if not rule.names:
        return texts
    judged = texts.judged(rule.famous)
    asked_about = F.when(~F.col("many") & F.col("gone").isNull(), F.col("text"))
    named = judged.over(judged.table.withColumn("named", _holds_name(asked_about, knowledge)))
    return named.keep(~F.col("named"), "identifiers: name of a person").settled()


def _holds_name(text: Column, knowledge: Knowledge) -> Column:
    """Tell which texts hold the name of somebody who is not famous; a missing text does not."""

    def find(texts: pa.Array) -> pa.Array:
        from querycloak.texts.names import find_names

        out = np.zeros(len(texts), dtype=np.bool_)
        there = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
        out[there] = find_names(series_of(texts.take(pa.array(there))), knowledge.taxonomy)
        return pa.array(out)

    return on_texts(find, T.BooleanType(), text)


def drop_rare_queries(texts: Texts, rule: QueryUsers) -> Texts:
    """Leave out queries that fewer people asked, however they spelled them.

    A query is published as it was spelled where so many people spelled it so, else in the form that is compared.
    """
    judged = texts.judged(rule.people, rule.days)
    kept = judged.keep(F.col("many"), f"query_users: asked by fewer than {rule.people} people").settled()
    spelled = kept.judged(rule.people, of="text").table
    text = F.when(F.col("many"), F.col("text")).otherwise(F.col("form"))
    return kept.over(spelled.withColumn("text", text)).settled()


def drop_long_queries(texts: Texts, rule: Length) -> Texts:
    """Leave out queries with too many words or characters, but for those that enough people asked."""
    form = F.col("form")
    long = F.lit(False)
    if rule.words is not None:
        long = long | (F.size(F.split(form, " ", -1)) > rule.words)
    if rule.characters is not None:
        long = long | (F.char_length(form) > rule.characters)
    if rule.people is not None:
        texts = texts.judged(rule.people)
        long = long & ~F.col("many")
    return texts.keep(~long, "length: too long").settled()
