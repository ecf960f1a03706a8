"""Rule `phrase_users` on a cluster: every word of a query, or the whole query, must be asked by enough people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.methods.policy.rule_phrase_users import reason_of
from querycloak.spark.shared_texts import shared_texts
from querycloak.spark.spark_log import SparkLog
from querycloak.texts.phrases import PHRASE
from querycloak.texts.text_settings import TextRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.methods.policy.rule_phrase_users import PhraseUsers
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.policy.texts import Texts

__all__ = ["keep_shared_phrases"]


def keep_shared_phrases(texts: Texts, rule: PhraseUsers, knowledge: Knowledge) -> Texts:
    """Keep queries whose every word, or which as a whole, enough people asked; cut others, or leave them out."""
    judged = texts.judged(rule.people, to="shared").judged(rule.people, of="text", to="so spelled")
    table = judged.table
    if rule.every == "word":
        table = table.join(_rare_words(texts, rule.people), "query", "left").withColumn("whole", F.col("rare").isNull())
    else:
        table = table.withColumn("whole", F.col("shared"))
    if rule.rare == "cut":
        table = table.join(_phrases(texts, rule.people, knowledge), "text", "left")
    else:
        table = table.withColumn("phrase", F.lit(None).cast("string"))
    kept = texts.over(table).keep(F.col("whole") | F.col("phrase").isNotNull(), reason_of(rule))
    cuts = F.col("gone").isNull() & ~F.col("whole")
    # A query that is kept for its words alone may be one person's: it is published without his spelling of it.
    plain = F.when(F.col("shared") & F.col("so spelled"), F.col("text")).otherwise(F.col("form"))
    shown = {
        "cut phrase_users": cuts,
        "text": F.when(cuts, F.col("phrase")).otherwise(plain),
        "form": F.when(cuts, F.col("phrase")).otherwise(F.col("form")),
    }
    return kept.over(kept.table.withColumns(shown)).settled()


def _rare_words(texts: Texts, people: int) -> DataFrame:
    """Return each `query` with a word that fewer people asked, in any of their queries, and `rare`."""
    words = F.explode(F.array_distinct(F.split("form", " ", -1))).alias("word")
    things = texts.there.select("query", "people", words, F.lit(people).alias("least"))
    shared = texts.of_many(things, ["word"])
    rare = things.join(shared, "word", "left_anti").select("query").distinct()
    return rare.withColumn("rare", F.lit(True))


def _phrases(texts: Texts, people: int, knowledge: Knowledge) -> DataFrame:
    """Return the longest `phrase` that enough people asked of each `text` that they did not ask as a whole."""
    asked = texts.asked.join(texts.there.select("query", "text"), "query")
    log = SparkLog(asked.select("user", F.col("text").alias("query")), {}, {})
    # As far as identifiers and names may be published, the rule `identifiers` has decided that before.
    rule = TextRule(people=people, rare="phrase", identifiers="keep")
    found = shared_texts(log, rule, knowledge, labels=False).of_query.where(F.col("kind") == PHRASE)
    return found.select(F.col("query").alias("text"), F.col("text").alias("phrase"))
