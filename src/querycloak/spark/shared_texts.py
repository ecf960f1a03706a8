"""What may be published instead of each query of a log, on a cluster: the same choice as `texts/phrases.py`.

People are counted exactly, by Spark, over the whole log. What a text is by itself (its words, identifiers, names, what
it is about) is found once for each distinct text, by the code of one machine. Everything else is done with numbers that
stand for texts (`numbers.py`): `number` for a query, `form` for a form in which queries are compared, `run` for a run
of words.

**Few runs of words are counted.** A run has at most as many people as all queries that hold it have together. So runs
are first added up over distinct forms, without people; only those that reach m so, and that a query needs which is not
published whole, are counted by people.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.spark.concepts import with_concepts
from querycloak.spark.kept import SHORT_NUMBERS, kept, sent_if_short
from querycloak.spark.numbers import Numbers
from querycloak.spark.people import asked_by_people, people_of, people_of_concepts
from querycloak.spark.text_functions import compared_text, holds_identifier, names_in, on_texts, runs_in
from querycloak.texts._shared_labels import LEAST_DEPTH, labels_of_concepts
from querycloak.texts.phrases import LABEL, NOTHING, PHRASE, QUERY, as_label

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog
    from querycloak.texts.text_settings import TextRule

__all__ = ["SparkTexts", "shared_texts"]

DIGITS: Final = {"words": 8, "n": 12, "at": 9}
"""of the words of a run, its people, and its place in a query"""


@dataclass(frozen=True, eq=False, repr=False)
class SparkTexts:
    """For each distinct query of a log, what may be published instead of it."""

    log: SparkLog
    texts: DataFrame
    """one row per distinct query: its `number`, `text` (null = nothing), `kind` tinyint (QUERY, PHRASE, LABEL, NOTHING)
    and `people` bigint: how many people of the log asked, hold or mean the text when it stands for this query"""
    label: npt.NDArray[np.int64]
    """int64[taxonomy]: the concept whose label may be published for each that the log is about; -1 = none"""
    concepts: DataFrame | None = None
    """`number` and `concepts` of each distinct query; None = they were not asked for"""

    @cached_property
    def of_query(self) -> DataFrame:
        """One row per distinct query: `query`, `number`, `text`, `kind` and `people`, null for nothing.

        A text that is published in several ways is of as many people as the way with most of them.
        """
        most = self.texts.where("text is not null").groupBy("text").agg(F.max("people").alias("people"))
        found = self.texts.drop("people").join(most, "text", "left")
        queries = self.log.queries.withColumn("number", self.log.query_numbers.of(F.col("query")))
        return queries.join(found, "number").select("query", "number", "text", "kind", "people")


class _Asked(NamedTuple):
    """What is known of the queries of a log and of those who asked them, kept by Spark."""

    queries: DataFrame
    """`query`, `number`, `plain` (its form as a text) and `form`: one row per distinct query"""
    forms: DataFrame
    """`plain` and `form`: one row per distinct form"""
    pairs: DataFrame
    """`number` and `person`: who asked which query, without ids that are taken for machines"""
    by_form: DataFrame
    """`form` and `person`: who asked which form, once for each spelling"""
    typed: DataFrame
    """`number`, `form`, `typed`, how many people typed it so, and `people`, how many asked its form"""

    @classmethod
    def of(cls, log: SparkLog, rule: TextRule) -> _Asked:
        pairs = asked_by_people(log, rule.most_rows)
        spelled = kept(log.queries.withColumn("plain", compared_text(F.col("query"))))
        forms = kept(spelled.select("plain").distinct())
        numbers = Numbers.of_distinct(forms)
        form = numbers.of(F.col("plain"))
        number = log.query_numbers.of(F.col("query"))
        queries = spelled.select("query", number.alias("number"), "plain", form.alias("form"))
        of_number = queries.select("number", "form")
        by_form = kept(pairs.join(of_number, "number").select("form", "person"))
        typed = pairs.groupBy("number").agg(F.count("*").alias("typed"))
        typed = kept(of_number.join(typed, "number", "left").fillna(0, ["typed"]))
        of_form = typed.groupBy("form").agg(F.count("*").alias("spellings"), F.sum("typed").alias("people"))
        # Who typed two spellings is one person.
        several = of_form.where("spellings > 1").select("form", F.col("form").alias("thing"))
        counted = people_of(several, by_form).select(F.col("thing").alias("form"), F.col("people").alias("counted"))
        people = F.when(F.col("spellings") > 1, F.coalesce("counted", F.lit(0))).otherwise(F.col("people"))
        of_form = of_form.join(counted, "form", "left").select("form", people.alias("people"))
        forms = forms.select("plain", form.alias("form"))
        return cls(queries, forms, pairs, by_form, kept(typed.join(of_form, "form")))


def shared_texts(log: SparkLog, rule: TextRule, knowledge: Knowledge, *, labels: bool = True) -> SparkTexts:
    """Find what may be published instead of each distinct query; people are counted over the whole log.

    Without `labels` none is published, and nothing is mapped.
    """
    asked = _Asked.of(log, rule)
    whole = _whole(asked, rule, knowledge)
    found = asked.typed.select("number", "form").join(whole, "number", "left")
    found = found.withColumn("kind", F.when(F.col("text").isNotNull(), QUERY))
    if rule.rare == "phrase":
        runs = _best_runs(asked, whole, rule, knowledge)
        found = found.join(runs, "form", "left")
        is_run = F.col("kind").isNull() & F.col("run").isNotNull()
        found = found.select(
            "number",
            F.when(is_run, PHRASE).otherwise(F.col("kind")).alias("kind"),
            F.when(is_run, F.col("run")).otherwise(F.col("text")).alias("text"),
            F.when(is_run, F.col("run_people")).otherwise(F.col("people")).alias("people"),
        )
    label = np.full(len(knowledge.taxonomy), -1, dtype=np.int64)
    concepts: DataFrame | None = None
    if labels and rule.rare in {"phrase", "label"}:
        concepts = kept(with_concepts(asked.queries.select("query", "number"), knowledge).drop("query"))
        reached = _reached(concepts, asked.pairs, knowledge)
        label = labels_of_concepts(reached >= rule.people, knowledge.taxonomy)
        labelled = _labels(concepts, reached, rule.people, knowledge)
        found = found.join(labelled, "number", "left")
        is_label = F.col("kind").isNull() & F.col("label").isNotNull()
        found = found.select(
            "number",
            F.when(is_label, LABEL).otherwise(F.col("kind")).alias("kind"),
            F.when(is_label, F.col("label")).otherwise(F.col("text")).alias("text"),
            F.when(is_label, F.col("label_people")).otherwise(F.col("people")).alias("people"),
        )
    kind = F.coalesce("kind", F.lit(NOTHING)).cast("tinyint")
    text = F.when(kind < NOTHING, F.col("text"))
    texts = kept(found.select("number", text.alias("text"), kind.alias("kind"), "people"))
    return SparkTexts(log, texts, label, concepts)


def _whole(asked: _Asked, rule: TextRule, knowledge: Knowledge) -> DataFrame:
    """Return the queries that are published whole: `number`, the `text` that is published, and its `people`."""
    enough = asked.typed if rule.rare == "keep" else asked.typed.where(F.col("people") >= rule.people)
    enough = sent_if_short(kept(enough.drop("form")), SHORT_NUMBERS)
    there = kept(asked.queries.join(enough, "number"))
    good = _publishable(there.select(F.col("query").alias("text"), "people"), asked, rule, knowledge)
    text = F.when(F.col("typed") >= rule.people, F.col("query")).otherwise(F.col("plain"))
    text = F.col("query") if rule.rare == "keep" else text
    good = there.join(good.select(F.col("text").alias("query")), "query", "left_semi")
    return kept(good.select("number", text.alias("text"), "people"))


def _publishable(texts: DataFrame, asked: _Asked, rule: TextRule, knowledge: Knowledge) -> DataFrame:
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
    words = asked.forms.select("form", F.split("plain", " ").alias("words"))
    held = _holding(words, names, lengths)
    famous = people_of(held, asked.by_form).where(F.col("people") >= rule.famous).select(F.col("thing").alias("name"))
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


def _best_runs(asked: _Asked, whole: DataFrame, rule: TextRule, knowledge: Knowledge) -> DataFrame:
    """Return the longest run that may be published of each form that is not: `form`, `run` and `run_people`."""
    good = whole.select("number", F.lit(True).alias("good"))
    is_open = F.bool_or(F.col("good").isNull()).alias("open")  # one of its spellings is not published whole
    people = F.max("people").alias("people")
    of_form = asked.typed.join(good, "number", "left").groupBy("form").agg(people, is_open)
    forms = kept(asked.forms.select("form", runs_in(F.col("plain")).alias("runs")).join(of_form, "form"))
    runs = forms.select("form", "people", "open", F.explode("runs.run").alias("run"))
    runs = runs.withColumn("hash", F.xxhash64("run"))  # two runs of one hash are both counted, which does no harm
    some = runs.groupBy("hash").agg(F.sum("people").alias("most"), F.bool_or("open").alias("wanted"))
    some = kept(some.where((F.col("most") >= rule.people) & F.col("wanted")).select("hash"))
    things = runs.join(sent_if_short(some, SHORT_NUMBERS), "hash").select("form", "run")
    texts = kept(things.select("run").distinct())
    number = Numbers.of_distinct(texts).of(F.col("run"))
    counted = people_of(things.select("form", number.alias("thing")), asked.by_form)
    counted = kept(counted.where(F.col("people") >= rule.people))
    numbered = texts.select(F.col("run").alias("text"), number.alias("thing"))
    shared = numbered.join(sent_if_short(counted, SHORT_NUMBERS), "thing").select("text", "people")
    good = _publishable(shared, asked, rule, knowledge)
    good = kept(good.select(F.col("text").alias("run"), F.col("people").alias("n")))
    good = kept(good.withColumn("thing", number))
    some = sent_if_short(kept(good.select(F.xxhash64("run").alias("hash")).distinct()), SHORT_NUMBERS)
    in_form = forms.where("open").select("form", F.posexplode("runs").alias("at", "found"))
    in_form = in_form.select("form", "at", "found.words", "found.run").withColumn("hash", F.xxhash64("run"))
    in_form = in_form.join(some, "hash", "left_semi").join(sent_if_short(good), "run").drop("run", "hash")
    # The most words, then the most people, then the first. One number of the three: Spark then need not sort.
    words, people, at = (F.col(name).cast(f"decimal({size},0)") for name, size in DIGITS.items())
    order = words * Decimal(10**21) + people * Decimal(10**9) - at
    best = in_form.groupBy("form").agg(F.max_by("thing", order).alias("thing"))
    return best.join(good.select("thing", "run", F.col("n").alias("run_people")), "thing").drop("thing")


def _reached(concepts: DataFrame, pairs: DataFrame, knowledge: Knowledge) -> npt.NDArray[np.int64]:
    """int64[taxonomy]: how many people's queries reach each concept that is deep enough, or that a query has."""
    found = concepts.select(F.explode("concepts").alias("concept")).where("concept >= 0").distinct().collect()
    wanted = knowledge.taxonomy.depth >= LEAST_DEPTH
    wanted[[row.concept for row in found]] = True
    return np.where(wanted, people_of_concepts(concepts, pairs, knowledge), 0)


def _labels(concepts: DataFrame, reached: npt.NDArray[np.int64], least: int, knowledge: Knowledge) -> DataFrame:
    """Return the `label` that stands for each query, by its `number`, and its `label_people`."""
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
    labelled = concepts.select("number", found.alias("f"))
    return labelled.select("number", "f.label", F.col("f.n").alias("label_people"))
