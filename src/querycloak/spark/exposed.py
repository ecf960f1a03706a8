"""Exposure on a cluster: what of single people is readable in a release, counted against the original log.

The figures are those of `evaluation/exposure.py`, counted by Spark: how many people asked each published text, which
texts hold an identifier or a name, how many ids share each published log. They equal those of one machine where each
published text is a query of the log or a part of one, or a label in brackets; what is not is counted as
`texts_of_nobody` and said in `not_counted`. What needs all texts of a published log at once is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.errors import UserError
from querycloak.evaluation.exposure import FEW_PEOPLE, Exposure
from querycloak.spark.concepts import with_concepts
from querycloak.spark.gate_classes import class_sizes
from querycloak.spark.gate_people import Asked
from querycloak.spark.kept import kept
from querycloak.spark.knowledge import Knowledge
from querycloak.spark.spark_log import SparkLog
from querycloak.spark.text_functions import compared_text, on_texts, series_of
from querycloak.texts.identifiers import KINDS
from querycloak.texts.sensitive import load_sensitive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from querycloak.releases.statement import PrivacyStatement

__all__ = ["exposure", "refuse_other_kinds"]

LEFT_OUT: Final = (
    (
        "most own texts in one log, members named and texts that whole groups share need all texts of a log at once, "
        "and are counted on one machine alone"
    ),
    "values of other columns and times are counted on one machine alone",
)


def exposure(
    original: DataFrame | SparkLog,
    released: DataFrame,
    statement: PrivacyStatement,
    columns: Mapping[str, str] | None = None,
    *,
    knowledge: Knowledge | None = None,
) -> Exposure:
    """Count what of single people is readable in a release; `released` has its columns by their roles."""
    refuse_other_kinds(released, statement)
    log = original if isinstance(original, SparkLog) else SparkLog.of(original, columns, on_error="skip")
    known = Knowledge.of(released.sparkSession) if knowledge is None else knowledge
    weight = (
        F.sum(F.greatest("count", F.lit(0)))
        if "count" in released.columns and "user" not in released.columns
        else F.count("*")
    )
    texts = kept(released.groupBy(F.col("query").alias("text")).agg(weight.cast("double").alias("rows")))
    counted = kept(_with_people(texts, log, statement, known).join(_with_contents(texts, known), "text"))
    own = F.col("people") == 1
    ids, name = F.col("identifiers") != 0, F.col("name")
    sums = {
        "rows": F.sum("rows"),
        "texts": F.count("*"),
        "own_rows": F.sum(F.when(own, F.col("rows")).otherwise(0.0)),
        "own_texts": F.count_if(own),
        "exposed_people": F.countDistinct(F.when(own, F.col("person"))),
        "identifier_texts": F.count_if(ids),
        "identifier_rows": F.sum(F.when(ids, F.col("rows")).otherwise(0.0)),
        "name_texts": F.count_if(name),
        "name_rows": F.sum(F.when(name, F.col("rows")).otherwise(0.0)),
        "texts_of_nobody": F.count_if(F.col("people") == 0),
        "labels": F.count_if(own & F.col("person").isNull()),
        **{f"few {n}": F.count_if((F.col("people") >= 1) & (F.col("people") < n)) for n in FEW_PEOPLE},
        **{f"kind {bit}": F.count_if(F.col("identifiers").bitwiseAND(1 << bit) != 0) for bit in range(len(KINDS))},
    }
    words = load_sensitive()
    topics = {f"topic {t}": F.count_if(own & (F.col("topic") == t)) for t in range(len(words.topics))}
    row: Any = counted.agg(*(column.alias(key) for key, column in {**sums, **topics}.items())).first()
    found = {key: value or 0 for key, value in row.asDict().items()}
    people = log.users.count()
    not_counted = list(LEFT_OUT)
    if found["labels"]:
        not_counted.append(
            f"who means {found['labels']:,} labels that one person means: they are missing in the people"
        )
    if found["texts_of_nobody"]:
        not_counted.append("texts that no query is or holds as they are written: labels and other spellings among them")
    made = Exposure(
        rows=found["rows"], texts=found["texts"], people=people,
        own_rows=found["own_rows"], own_texts=found["own_texts"],
        own_row_share=_share(found["own_rows"], found["rows"]),
        own_text_share=_share(found["own_texts"], found["texts"]),
        exposed_people=found["exposed_people"], exposed_share=_share(found["exposed_people"], people),
        most_own_in_one_log=None, logs_with_own=None, logs_naming_member=None,
        public_rows=0.0, public_texts=0, texts_of_nobody=found["texts_of_nobody"], unknown_texts=0,
        own_value_shares={}, own_moment_share=None,
        few_people={n: found[f"few {n}"] for n in FEW_PEOPLE},
        identifiers={kind: found[f"kind {bit}"] for bit, kind in enumerate(KINDS)},
        identifier_texts=found["identifier_texts"], identifier_rows=found["identifier_rows"],
        name_texts=found["name_texts"], name_rows=found["name_rows"],
        smallest_class=None, classes=None,
        sensitive_own_texts={name: found[f"topic {t}"] for t, name in enumerate(words.topics)},
        classes_with_sensitive=None, classes_sharing_sensitive=None,
        not_counted=tuple(not_counted),
    )  # fmt: skip
    return made if "user" not in released.columns else replace(made, **_classes(released))


def refuse_other_kinds(released: DataFrame, statement: PrivacyStatement) -> None:
    """Refuse releases whose texts are no texts of the log."""
    pure = "epsilon" in statement.parameters and not statement.parameters.get("delta", 0.0)
    if pure or statement.ids == "invented" or "concept_id" in released.columns:
        raise UserError(
            f"What {statement.method} publishes are concepts or drawn texts: who asked them is told on one machine "
            "alone, by `querycloak attack` on a sample of the users."
        )


def _classes(released: DataFrame) -> dict[str, Any]:
    """Count the distinct published logs, and the ids that share the rarest."""
    row: Any = class_sizes(released).agg(F.min("users"), F.count("*")).first()
    return {"smallest_class": None if row[0] is None else int(row[0]), "classes": int(row[1])}


def _with_people(texts: DataFrame, log: SparkLog, statement: PrivacyStatement, knowledge: Knowledge) -> DataFrame:
    """Return `text`, `rows`, `people` who asked it, and the `person` where it is one of whom that is known."""
    asked = Asked(log)  # all people: whom a method takes for a machine is one of them
    plain = kept(texts.withColumn("plain", compared_text(F.col("text"))))
    forms = plain.select(F.col("plain").alias("text")).distinct()
    if statement.parts:
        found = _people(asked, forms, parts=True)
        meant = asked.meaning(texts, with_concepts(asked.queries, knowledge).drop("query"), knowledge)
    else:
        whole = kept(_people(asked, forms, parts=False))
        found = whole.unionByName(_people(asked, forms.join(whole, "text", "left_anti"), parts=True))
        meant = {}
    joined = plain.join(found.withColumnRenamed("text", "plain"), "plain", "left").fillna(0, ["people"])
    if not meant:
        return joined
    labels = joined.sparkSession.createDataFrame(list(meant.items()), "text string, meant bigint")
    both = joined.join(F.broadcast(labels), "text", "left")
    more = F.col("meant") > F.col("people")
    person = F.when(~F.coalesce(more, F.lit(False)), F.col("person")).alias("person")
    return both.select("text", "rows", F.greatest("people", "meant").alias("people"), person)


def _people(asked: Asked, forms: DataFrame, *, parts: bool) -> DataFrame:
    held = asked.holding(forms, parts=parts).join(asked.pairs, "number")
    return held.groupBy("text").agg(F.countDistinct("person").alias("people"), F.min("person").alias("person"))


def _with_contents(texts: DataFrame, knowledge: Knowledge) -> DataFrame:
    """Return `text`, and of each its `identifiers` (kinds as bits), whether it holds a `name`, and its `topic`."""

    def tell(found: pa.Array) -> pa.Array:
        from querycloak.texts.identifiers import find_identifiers
        from querycloak.texts.names import find_names
        from querycloak.texts.sensitive import sensitive_topics

        series = series_of(found)
        told = [
            pa.array(find_identifiers(series).astype(np.int32)),
            pa.array(np.asarray(find_names(series, knowledge.taxonomy), dtype=np.bool_)),
            pa.array(sensitive_topics(series, load_sensitive()).astype(np.int32)),
        ]
        return pa.StructArray.from_arrays(told, names=["identifiers", "name", "topic"])

    kind = T.StructType([
        T.StructField("identifiers", T.IntegerType()),
        T.StructField("name", T.BooleanType()),
        T.StructField("topic", T.IntegerType()),
    ])  # fmt: skip
    told = on_texts(tell, kind, F.col("text"))
    return texts.select("text", told.alias("told")).select("text", "told.*")


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
