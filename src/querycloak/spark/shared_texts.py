"""What may be published instead of each query of a log, on a cluster: the same choice as `texts/phrases.py`.

People are counted exactly, by Spark, over the whole log. What a text is by itself (its words, identifiers, names, what
it is about) is found once for each distinct text, by the code of one machine.

**Few runs of words are counted.** A run has at most as many people as all queries that hold it have together. So runs
are first added up over distinct queries, without people; only those that reach m so, and that a query needs which is
not published whole, are counted by people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.spark.concepts import with_concepts
from querycloak.spark.kept import SHORT_NUMBERS, kept, sent_if_short
from querycloak.spark.people import asked, people_of, people_of_concepts
from querycloak.spark.text_functions import holds_identifier, names_in, on_texts, runs_in
from querycloak.texts._shared_labels import LEAST_DEPTH, labels_of_concepts
from querycloak.texts.phrases import LABEL, NOTHING, PHRASE, QUERY, as_label

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog
    from querycloak.texts.text_settings import TextRule

__all__ = ["SparkTexts", "shared_texts"]


@dataclass(frozen=True, eq=False, repr=False)
class SparkTexts:
    """For each distinct query of a log, what may be published instead of it."""

    texts: DataFrame
    """one row per distinct query: `query`, `text` and `kind` as in `of_query`"""
    of_query: DataFrame
    """one row per distinct query: `query`, `text` (null = nothing), `kind` tinyint (QUERY, PHRASE, LABEL, NOTHING) and
    `people` bigint: how many people of the log asked, hold or mean the text, null for nothing"""
    label: npt.NDArray[np.int64]
    """int64[taxonomy]: the concept whose label may be published for each that the log is about; -1 = none"""
    concepts: DataFrame | None = None
    """`query` and its `concepts`, of each distinct query; None = they were not asked for"""


def shared_texts(log: SparkLog, rule: TextRule, knowledge: Knowledge, *, labels: bool = True) -> SparkTexts:
    """Find what may be published instead of each distinct query; people are counted over the whole log.

    Without `labels` none is published, and nothing is mapped.
    """
    pairs = kept(asked(log, rule.most_rows))
    queries = _queries(pairs)
    whole = _whole(queries, pairs, rule, knowledge)
    found = whole.withColumn("kind", F.when(F.col("text").isNotNull(), QUERY))
    if rule.rare == "phrase":
        runs = _best_runs(whole, pairs, rule, knowledge)
        found = found.join(runs, "form", "left")
        is_run = F.col("kind").isNull() & F.col("run").isNotNull()
        found = found.select(
            "query",
            F.when(is_run, PHRASE).otherwise(F.col("kind")).alias("kind"),
            F.when(is_run, F.col("run")).otherwise(F.col("text")).alias("text"),
            F.when(is_run, F.col("run_people")).otherwise(F.col("people")).alias("people"),
        )
    label = np.full(len(knowledge.taxonomy), -1, dtype=np.int64)
    concepts: DataFrame | None = None
    if labels and rule.rare in {"phrase", "label"}:
        concepts = kept(with_concepts(queries.select("query"), knowledge))
        reached = _reached(concepts, pairs, knowledge)
        label = labels_of_concepts(reached >= rule.people, knowledge.taxonomy)
        labelled = _labels(concepts, reached, rule.people, knowledge)
        found = found.join(labelled, "query", "left")
        is_label = F.col("kind").isNull() & F.col("label").isNotNull()
        found = found.select(
            "query",
            F.when(is_label, LABEL).otherwise(F.col("kind")).alias("kind"),
            F.when(is_label, F.col("label")).otherwise(F.col("text")).alias("text"),
            F.when(is_label, F.col("label_people")).otherwise(F.col("people")).alias("people"),
        )
    kind = F.coalesce("kind", F.lit(NOTHING)).cast("tinyint")
    found = found.select("query", F.when(kind < NOTHING, F.col("text")).alias("text"), kind.alias("kind"), "people")
    found = kept(found)
    # A text that is published in several ways is of as many people as the way with most of them.
    most = found.where("text is not null").groupBy("text").agg(F.max("people").alias("people"))
    of_query = found.drop("people").join(most, "text", "left").select("query", "text", "kind", "people")
    return SparkTexts(found.drop("people"), of_query, label, concepts)


def _queries(pairs: DataFrame) -> DataFrame:
    """Return each distinct query with its `form`, and `typed`: how many people typed it so."""
    return kept(pairs.groupBy("query", "form").agg(F.count_if("counted").alias("typed")))


def _whole(queries: DataFrame, pairs: DataFrame, rule: TextRule, knowledge: Knowledge) -> DataFrame:
    """Add to each query the `people` of its form, and the `text` by which it is published whole; null = it is not."""
    forms = queries.groupBy("form").agg(F.count("*").alias("spellings"), F.sum("typed").alias("people"))
    several = forms.where("spellings > 1").select("form", F.col("form").alias("thing"))  # who typed two is one person
    counted = people_of(several, pairs).select(F.col("thing").alias("form"), F.col("people").alias("counted"))
    people = F.when(F.col("spellings") > 1, F.coalesce("counted", F.lit(0))).otherwise(F.col("people"))
    all_ = queries.join(forms.join(counted, "form", "left").select("form", people.alias("people")), "form")
    enough = all_ if rule.rare == "keep" else all_.where(F.col("people") >= rule.people)
    good = _publishable(enough.select(F.col("query").alias("text"), "people"), pairs, queries, rule, knowledge)
    good = good.select(F.col("text").alias("query"), F.lit(True).alias("good"))
    text = F.when(F.col("typed") >= rule.people, F.col("query")).otherwise(F.col("form"))
    text = F.col("query") if rule.rare == "keep" else text
    return kept(all_.join(good, "query", "left").withColumn("text", F.when(F.col("good"), text)).drop("good", "typed"))


def _publishable(
    texts: DataFrame, pairs: DataFrame, queries: DataFrame, rule: TextRule, knowledge: Knowledge
) -> DataFrame:
    """Keep the texts that hold neither an identifier nor the name of somebody who is not famous.

    texts: distinct `text`, and how many `people` share it; a text of many people holds a name of many.
    """
    if rule.identifiers == "keep":
        return texts
    asked_about = F.when(F.col("people") < rule.famous, F.col("text")).otherwise("")
    told = (
        kept(texts)
        .withColumn("bad", holds_identifier(F.col("text")))
        .withColumn("names", names_in(asked_about, knowledge))
    )
    clean = kept(told.where("not bad").drop("bad"))
    named = clean.select("text", F.explode("names").alias("name"))
    names = kept(named.select("name").distinct())
    lengths = sorted(row.n for row in names.select(F.size(F.split("name", " ")).alias("n")).distinct().collect())
    if not lengths:
        return clean.drop("names")
    words = queries.select("form").distinct().select("form", F.split("form", " ").alias("words"))
    held = _holding(words, names, lengths)
    famous = people_of(held, pairs).where(F.col("people") >= rule.famous).select(F.col("thing").alias("name"))
    rare = named.join(famous, "name", "left_anti").select("text").distinct()
    return clean.drop("names").join(rare, "text", "left_anti")


def _holding(words: DataFrame, names: DataFrame, lengths: list[int]) -> DataFrame:
    """Return `form` and `thing`: which texts (`form`, `words`) hold which names, which have so many words.

    Names are found by the two words they begin with, and compared whole then.
    """
    size = F.size(F.split("name", " ")).alias("n")
    begins = kept(names.select(F.substring_index("name", " ", 2).alias("begin"), size).distinct())
    at = words.select("form", "words", F.posexplode("words").alias("at", "word"))
    begin = F.explode(F.array(*(_joined("words", F.col("at"), F.lit(n)) for n in sorted({min(n, 2) for n in lengths}))))
    pieces = at.select("form", "words", "at", begin.alias("begin")).join(sent_if_short(begins), "begin")
    cut = pieces.select("form", _joined("words", F.col("at"), F.col("n")).alias("name"))
    return cut.join(sent_if_short(names), "name").select("form", F.col("name").alias("thing"))


def _joined(words: str, at: Column, n: Column) -> Column:
    """Return n words from a place on, which is counted from 0."""
    return F.array_join(F.slice(F.col(words), at + 1, n), " ")


def _best_runs(whole: DataFrame, pairs: DataFrame, rule: TextRule, knowledge: Knowledge) -> DataFrame:
    """Return the longest run that may be published of each form that is not: `form`, `run` and `run_people`."""
    forms = whole.groupBy("form").agg(
        F.first("people").alias("people"), F.bool_or(F.col("text").isNull()).alias("open")
    )
    forms = kept(forms.withColumn("runs", runs_in(F.col("form"))))
    runs = forms.select("form", "people", "open", F.explode("runs.run").alias("run"))
    runs = runs.withColumn("hash", F.xxhash64("run"))  # two runs of one hash are both counted, which does no harm
    some = runs.groupBy("hash").agg(F.sum("people").alias("most"), F.bool_or("open").alias("wanted"))
    some = kept(some.where((F.col("most") >= rule.people) & F.col("wanted")).select("hash"))
    things = runs.join(sent_if_short(some, SHORT_NUMBERS), "hash").select("form", F.col("run").alias("thing"))
    shared = (
        people_of(things, pairs).where(F.col("people") >= rule.people).select(F.col("thing").alias("text"), "people")
    )
    good = _publishable(shared, pairs, whole, rule, knowledge)
    good = sent_if_short(kept(good.select(F.col("text").alias("run"), F.col("people").alias("n"))))
    in_form = forms.where("open").select("form", F.posexplode("runs").alias("at", "found"))
    in_form = in_form.select("form", "at", "found.words", "found.run").join(good, "run")
    best = F.max(F.struct("words", "n", (-F.col("at")).alias("before"), "run")).alias("best")
    return in_form.groupBy("form").agg(best).select("form", "best.run", F.col("best.n").alias("run_people"))


def _reached(concepts: DataFrame, pairs: DataFrame, knowledge: Knowledge) -> npt.NDArray[np.int64]:
    """int64[taxonomy]: how many people's queries reach each concept that is deep enough, or that a query has."""
    found = concepts.select(F.explode("concepts").alias("concept")).where("concept >= 0").distinct().collect()
    wanted = knowledge.taxonomy.depth >= LEAST_DEPTH
    wanted[[row.concept for row in found]] = True
    return np.where(wanted, people_of_concepts(concepts, pairs, knowledge), 0)


def _labels(concepts: DataFrame, reached: npt.NDArray[np.int64], least: int, knowledge: Knowledge) -> DataFrame:
    """Return the `label` that stands for each `query`, and its `label_people`."""
    shared = concepts.sparkSession.sparkContext.broadcast(reached)

    def choose(of_query: pa.Array) -> pa.Array:
        from querycloak.arrays.ragged import Ragged, row_starts
        from querycloak.texts._phrases_kernels import choose_labels

        taxonomy, people = knowledge.taxonomy, shared.value
        start = row_starts(of_query.value_lengths().to_numpy(zero_copy_only=False))
        own = Ragged(start, of_query.flatten().to_numpy(zero_copy_only=False).astype(np.int32))
        chosen = choose_labels(own, taxonomy.parent, taxonomy.depth, people, least, LEAST_DEPTH)
        labels = [as_label(taxonomy.label(c)) if c >= 0 else None for c in chosen.tolist()]
        of_label = np.where(chosen >= 0, people[chosen], 0)
        return pa.StructArray.from_arrays([pa.array(labels, pa.string()), pa.array(of_label)], names=["label", "n"])

    found = on_texts(choose, "struct<label:string,n:bigint>", F.col("concepts"))
    return concepts.select("query", found.alias("f")).select("query", "f.label", F.col("f.n").alias("label_people"))
