"""The gate's checks of texts on a cluster: how many people share each one, whether it holds an identifier or a name.

The promises are those of `releases/text_checks.py`; people are counted by the letters of the published texts. A text is
shared by everybody who typed it exactly so, or, where it is published in the form in which texts are compared, in any
spelling; where parts are published, by everybody who holds it in a query; where it is a label in brackets, by everybody
who means it. Only texts that too few typed are counted in further ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.releases.checks import broken
from querycloak.spark.concepts import with_concepts
from querycloak.spark.kept import kept
from querycloak.spark.text_functions import compared_text, on_texts, series_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.gate_people import Asked
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_release import Draft

__all__ = ["check_identifiers", "check_texts", "published_readings"]


def check_texts(draft: Draft, knowledge: Knowledge, readings: DataFrame, asked: Asked) -> None:
    """Check that each published text is shared by at least the stated number of people, or is public knowledge.

    `readings`: what `published_readings` returns; `asked`: the rows of the log that count.
    """
    statement, least = draft.statement, draft.statement.text_users
    if least <= 1:
        return
    few = f"published texts were asked by fewer than {least} people"
    if draft.readings is not None:  # the method says what is behind a text: at least it is no rare query itself
        shown = asked.exactly(readings.select("text").distinct()).where(F.col("people") < least).count()
        if shown:
            raise broken(statement, f"{shown:,} {few}")
    texts = readings.select(F.col("reading").alias("text")).distinct()
    exact = texts.join(asked.exactly(texts), "text", "left").fillna(0, ["people"])
    rare = kept(exact.where(F.col("people") < least).withColumn("plain", compared_text(F.col("text"))))
    if not rare.head(1):
        return
    as_compared = rare.where(F.col("plain") == F.col("text")).select("text")
    enough = asked.people_of(as_compared, parts=statement.parts).where(F.col("people") >= least).select("text")
    rare = rare.join(enough, "text", "left_anti")
    if statement.parts:
        concepts = _concepts(draft, asked, knowledge)
        meant = asked.meaning(rare, concepts, knowledge)
        rare = _without(rare, [text for text, people in meant.items() if people >= least])
    if draft.public is not None:
        public = draft.public.select("text", F.lit(True).alias("public"))
        rare = rare.join(public, "text", "left").where(F.col("public").isNull() | (F.col("people") > 0))
    secret = rare.count()
    if secret:
        raise broken(statement, f"{secret:,} {few}")


def check_identifiers(draft: Draft, knowledge: Knowledge, readings: DataFrame, asked: Asked) -> None:
    """Check that no published text holds an identifier, or a name that too few people asked for, where so promised.

    Labels in brackets are public knowledge.
    """
    statement = draft.statement
    if not statement.identifiers_dropped:
        return
    texts = readings.select(F.col("reading").alias("text")).distinct()
    if draft.public is not None:
        texts = texts.join(draft.public.select("text"), "text", "left_anti")
    famous = statement.settings.get("famous")
    kind = "struct<identifier:boolean,label:boolean,names:array<string>>"
    told = on_texts(_tell(knowledge, names=famous is not None), kind, F.col("text"))
    told_texts = kept(texts.withColumn("told", told).select("text", "told.*").where("not label"))
    left = told_texts.where("identifier").count()
    if left:
        raise broken(statement, f"{left:,} published texts hold a personal identifier")
    if famous is not None:
        _check_names(told_texts.where(F.size("names") > 0), int(famous), statement, asked)


def published_readings(draft: Draft) -> DataFrame:
    """Return each published `text` with its `reading`: the text of the log behind it, which is mostly itself."""
    texts = draft.texts.withColumnRenamed("query", "text")
    if draft.readings is None:
        return texts.withColumn("reading", F.col("text"))
    found = kept(texts.join(draft.readings.select("text", "reading"), "text", "left"))
    if found.where(F.col("reading").isNull()).head(1):
        raise broken(draft.statement, "not every published text has its reading")
    return found


def _check_names(named: DataFrame, famous: int, statement: PrivacyStatement, asked: Asked) -> None:
    """Check that names of people who are not in the taxonomy were asked by enough people.

    A text passes where all its names do, or where enough people hold it whole.
    """
    if not named.head(1):
        return
    named = kept(named.withColumn("plain", compared_text(F.col("text"))))
    names = named.select(F.explode("names").alias("text"))
    wanted = names.union(named.select(F.col("plain").alias("text"))).distinct()
    enough = kept(asked.people_of(wanted, parts=True).where(F.col("people") >= famous).select("text"))
    of_name = named.select("text", F.explode("names").alias("name"))
    rare = of_name.join(enough.withColumnRenamed("text", "name"), "name", "left_anti").select("text").distinct()
    rare = named.select("text", "plain").join(rare, "text")
    left = rare.join(enough.withColumnRenamed("text", "plain"), "plain", "left_anti").count()
    if left:
        raise broken(statement, f"{left:,} published texts hold a name that fewer than {famous} people asked")


def _concepts(draft: Draft, asked: Asked, knowledge: Knowledge) -> DataFrame:
    """Return what the queries of the log mean: as the method was given it, or mapped again."""
    found: Any = draft.also.get("concepts")
    return with_concepts(asked.queries, knowledge).drop("query") if found is None else found


def _without(texts: DataFrame, some: list[str]) -> DataFrame:
    """Leave out some texts, which are labels of the taxonomy."""

    def others(found: pa.Array) -> pa.Array:
        return pa.array([text not in named for text in found.to_pylist()], pa.bool_())

    named = frozenset(some)
    return texts.where(_is(others, F.col("text"))) if some else texts


def _is(function: Any, text: Column) -> Column:
    return on_texts(function, T.BooleanType(), text)


def _tell(knowledge: Knowledge, *, names: bool) -> Any:
    """Return what tells of each text whether it holds an identifier, is a label, and which names it holds."""

    def tell(texts: pa.Array) -> pa.Array:
        from querycloak.texts.compared import compared
        from querycloak.texts.identifiers import find_identifiers
        from querycloak.texts.names import name_spans

        series, taxonomy = series_of(texts), knowledge.taxonomy
        words = series.to_list()
        label = [t.startswith("[") and t.endswith("]") and bool(taxonomy.find(t[1:-1])) for t in words]
        found: list[list[str]] = [[] for _ in words]
        if names:
            for i, text in enumerate(words):
                names_of = [text[a:b] for a, b in name_spans(text, taxonomy)]
                found[i] = compared(series_of(pa.array(names_of, pa.string()))).to_list() if names_of else []
        return pa.StructArray.from_arrays(
            [pa.array(find_identifiers(series) != 0), pa.array(label), pa.array(found, pa.list_(pa.string()))],
            names=["identifier", "label", "names"],
        )

    return tell
