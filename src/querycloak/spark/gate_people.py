"""Who of a log asked, holds or means a text: counted again for the gate, by other code than methods choose texts with.

Methods look for runs of words inside queries (`texts/word_runs.py`) and count those. Here each published text is looked
for: the words of a query are one text with a space between any two words, and a query holds a text where it is between
two of these spaces. Spark cuts the queries into texts of as many words, and joins those that are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.spark.kept import kept, sent_if_short
from querycloak.spark.people import asked_by_people, without_machines
from querycloak.spark.text_functions import compared_text, on_texts, series_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame

    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["Asked"]

JOINED: Final = "\x1f"


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """The rows of a log that count, and the words of its queries."""

    log: SparkLog
    most: int | None = None
    """Ids with more rows are taken for machines, and count as nobody; None = no id is."""

    @classmethod
    def of(cls, log: SparkLog, statement: PrivacyStatement) -> Asked:
        """Leave out what the settings take for machines.

        A stream cannot know at an id's first records that many will follow; there all of them may have counted.
        """
        most: Any = statement.settings.get("max_rows_per_user")
        return cls(log, None if most is None or "candidates" in statement.parameters else int(most))

    @cached_property
    def rows(self) -> DataFrame:
        """`number`, `person` and the further columns of the log, without ids that are taken for machines."""
        return without_machines(self.log.numbered(self.log.frame), self.log, self.most)

    @cached_property
    def pairs(self) -> DataFrame:
        """`number` and `person`, distinct, without ids that are taken for machines."""
        return asked_by_people(self.log, self.most)

    @property
    def queries(self) -> DataFrame:
        """`query` and `number` of each distinct query."""
        return self.log.queries.withColumn("number", self.log.query_numbers.of(F.col("query")))

    def exactly(self, texts: DataFrame) -> DataFrame:
        """Return `text` and `people`: how many people asked each, by its letters; texts: distinct `text`."""
        wanted = sent_if_short(kept(texts.select("text")))
        number = self.queries.withColumnRenamed("query", "text").join(wanted, "text")
        asked = self.pairs.join(sent_if_short(kept(number)), "number")
        return asked.groupBy("text").agg(F.countDistinct("person").alias("people"))

    def holding(self, texts: DataFrame, *, parts: bool) -> DataFrame:
        """Return `number` and `text`: which queries are a text, in any spelling, or with `parts` hold it.

        texts: distinct `text`, in the form in which texts are compared.
        """
        if not parts:
            wanted = sent_if_short(kept(texts.select("text")))
            forms = self.queries.withColumn("text", compared_text(F.col("query")))
            return forms.join(wanted, "text").select("number", "text")
        wanted = texts.select("text", _words(F.col("text")).alias("of_text"))
        begin = F.array_join(F.slice("of_text", 1, 2), " ")
        whole = F.array_join("of_text", " ")
        wanted = kept(wanted.select("text", F.size("of_text").alias("n"), begin.alias("begin"), whole.alias("whole")))
        begins = kept(wanted.select("begin", "n").distinct())
        lengths = sorted({min(row.n, 2) for row in begins.select("n").distinct().collect()}) or [1]
        at = self.words.select("number", "words", F.posexplode("words").alias("at", "word"))
        begin = F.explode(F.array(*(_from("words", F.col("at"), F.lit(n)) for n in lengths)))
        # Few places begin as a text does; there, as many words as a text has are cut, and compared whole.
        pieces = at.select("number", "words", "at", begin.alias("begin")).join(sent_if_short(begins), "begin")
        cut = pieces.select("number", _from("words", F.col("at"), F.col("n")).alias("whole"))
        return cut.join(sent_if_short(wanted.select("text", "whole")), "whole").select("number", "text").distinct()

    @cached_property
    def words(self) -> DataFrame:
        """The `words` of each distinct query, by its `number`."""
        return kept(self.queries.select("number", _words(F.col("query")).alias("words")))

    def people_of(self, texts: DataFrame, *, parts: bool) -> DataFrame:
        """Return `text` and `people` who ask each compared text in any spelling, or with `parts` hold it in a query."""
        held = self.holding(texts, parts=parts).join(self.pairs, "number")
        return held.groupBy("text").agg(F.countDistinct("person").alias("people"))

    def meaning(self, texts: DataFrame, concepts: DataFrame, knowledge: Knowledge) -> dict[str, int]:
        """Return how many people mean each text that is a label in brackets: with a query at or below its concepts.

        concepts: `number` and `concepts` of each query. Labels are as many as the taxonomy has, so they come to the
        driver; the concepts of a user are no more.
        """
        senses = on_texts(_senses_in(knowledge), T.ArrayType(T.IntegerType()), F.col("text"))
        labels = texts.where(F.col("text").startswith("[")).select("text", senses.alias("senses"))
        found = labels.where(F.size("senses") > 0).collect()
        if not found:
            return {}
        name, of_label = [row.text for row in found], [row.senses for row in found]
        own = concepts.join(self.pairs, "number")
        own = own.select("person", F.explode("concepts").alias("concept")).where("concept >= 0")
        of_person = own.groupBy("person").agg(F.collect_set("concept").alias("concepts")).select("concepts")
        counts = of_person.mapInArrow(_count_labels(of_label, knowledge), "label int, people bigint")
        total = counts.groupBy("label").agg(F.sum("people").alias("people")).collect()
        return {name[row.label]: row.people for row in total}


def _words(text: Column) -> Column:
    """Return the words of each text as it is compared, those without a space before them marked with JOINED."""

    def part(texts: pa.Array) -> pa.Array:
        from querycloak.texts.compared import compared
        from querycloak.texts.words import in_words

        return in_words(compared(series_of(texts))).to_arrow().cast(pa.string())

    return F.split(on_texts(part, T.StringType(), text), " ")


def _from(words: str, at: Column, n: Column) -> Column:
    """Return n words from a place on, counted from 0, as one text; no space is before the first."""
    return F.ltrim(F.array_join(F.slice(F.col(words), at + 1, n), " "), F.lit(JOINED))


def _senses_in(knowledge: Knowledge) -> Any:
    def find(texts: pa.Array) -> pa.Array:
        taxonomy = knowledge.taxonomy
        inside = [text[1:-1] if text.startswith("[") and text.endswith("]") else None for text in texts.to_pylist()]
        return pa.array([[] if t is None else list(taxonomy.find(t)) for t in inside], pa.list_(pa.int32()))

    return find


def _count_labels(of_label: list[list[int]], knowledge: Knowledge) -> Any:
    """Return what counts, over rows that each hold the concepts of one user, the rows that mean each label."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sense = np.array([concept for senses in of_label for concept in senses])
        end = sense + knowledge.taxonomy.size[sense]
        total = np.zeros(len(of_label), dtype=np.int64)
        for batch in batches:
            lists = batch.column(0)
            lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
            user = np.repeat(np.arange(len(lists)), lengths)
            concept = lists.flatten().to_numpy(zero_copy_only=False)
            order = np.argsort(concept, kind="stable")
            user, concept = user[order], concept[order]
            bounds = zip(np.searchsorted(concept, sense).tolist(), np.searchsorted(concept, end).tolist(), strict=True)
            for i, senses in enumerate(of_label):
                inside = [user[a:b] for a, b in islice(bounds, len(senses)) if b > a]
                total[i] += len(np.unique(np.concatenate(inside))) if inside else 0
        labels = np.flatnonzero(total)
        yield pa.record_batch([pa.array(labels.astype(np.int32)), pa.array(total[labels])], names=["label", "people"])

    return count
