"""What queries are about, on a cluster: the concepts of a column of texts, each distinct text mapped once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.errors import InputError, ParameterError
from querycloak.spark.concepts import concepts_of
from querycloak.spark.knowledge import Knowledge
from querycloak.spark.spark_log import SOURCE
from querycloak.spark.text_functions import on_texts

if TYPE_CHECKING:
    from os import PathLike

    from pyspark.sql import DataFrame

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["map_queries"]

SHOWN: Final = {"concepts": "array<int>", "labels": "array<string>", "paths": "array<string>"}


def map_queries(
    frame: DataFrame,
    column: str = "query",
    *,
    show: str = "labels",
    to: str | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
) -> DataFrame:
    """Return a table with one more column: what each text of a column is about; lazily.

    It holds an array, in the order in which the text names its units, without those that the taxonomy does not know: of
    `labels`, of `paths` from the root, or of `concepts`, which are the numbers of the taxonomy. The column is called as
    `show` says, or `to`. Of a text that is missing it is missing.
    """
    if show not in SHOWN:
        raise ParameterError.of("map_queries: show", f"one of {', '.join(SHOWN)}", show)
    if column not in frame.columns:
        raise InputError.at(SOURCE, f"there is no column {column!r}; its columns are {', '.join(frame.columns)}")
    name = to or show
    if name in frame.columns:
        raise ParameterError.of("map_queries: to", "the name of a column that is not there yet", name)
    knowledge = Knowledge.of(frame.sparkSession, taxonomy, mapping)
    text = frame[f"`{column.replace('`', '``')}`"]
    distinct = frame.select(text.cast("string").alias(" text")).where(F.col(" text").isNotNull()).distinct()
    known = F.filter(concepts_of(F.col(" text"), knowledge), lambda concept: concept >= 0)
    mapped = distinct.select(" text", known.alias(" concepts"))
    shown = F.col(" concepts")
    if show != "concepts":
        shown = on_texts(_names(knowledge, paths=show == "paths"), SHOWN[show], shown)
    mapped = mapped.select(" text", shown.alias(name))
    return frame.join(mapped, text.cast("string") == mapped[" text"], "left").drop(" text")


def _names(knowledge: Knowledge, *, paths: bool) -> Any:
    """Return what writes concepts as their labels or paths."""

    def write(concepts: pa.Array) -> pa.Array:
        taxonomy = knowledge.taxonomy
        which = concepts.flatten().to_numpy(zero_copy_only=False)
        names = [taxonomy.paths[c] if paths else taxonomy.label(c) for c in which.tolist()]
        lengths = concepts.value_lengths().to_numpy(zero_copy_only=False)
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(start), pa.array(names, pa.string()))

    return write
