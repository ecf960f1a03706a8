"""What one machine knows of the words of a text, as functions of columns: the same code, inside Arrow batches.

Each is a function of the text alone, and is meant for distinct texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from pyspark.sql import Column

    from querycloak.spark.knowledge import Knowledge

__all__ = ["compared_text", "holds_identifier", "names_in", "on_texts", "runs_in", "series_of"]


def series_of(texts: pa.Array) -> pl.Series:
    """Return a column of text as the package reads texts; a missing one stays missing."""
    import polars as pl

    return pl.Series(texts.cast(pa.large_string()), dtype=pl.String)


def on_texts(function: Callable[..., pa.Array], kind: T.DataType | str, *columns: Column) -> Column:
    """Return a column that a function of Arrow arrays makes of others.

    It is made where it is used: executors import this module, and have no session.
    """
    made: Column = F.arrow_udf(function, kind)(*columns)  # type: ignore[attr-defined] # stubs lag behind
    return made


def compared_text(text: Column) -> Column:
    """Return texts in the form in which they are compared (`texts/compared.py`)."""

    def compare(texts: pa.Array) -> pa.Array:
        from querycloak.texts.compared import compared

        return compared(series_of(texts)).to_arrow().cast(pa.string())

    return on_texts(compare, T.StringType(), text)


def holds_identifier(text: Column) -> Column:
    """Tell which texts hold an identifier."""

    def find(texts: pa.Array) -> pa.Array:
        from querycloak.texts.identifiers import find_identifiers

        return pa.array(find_identifiers(series_of(texts)) != 0)

    return on_texts(find, T.BooleanType(), text)


def names_in(text: Column, knowledge: Knowledge) -> Column:
    """Return the names of people in each text whom the taxonomy does not know, as texts are compared, each once."""

    def find(texts: pa.Array) -> pa.Array:
        from querycloak.texts.names import names_in_texts

        return pa.array(names_in_texts(series_of(texts), knowledge.taxonomy), type=pa.list_(pa.string()))

    return on_texts(find, T.ArrayType(T.StringType()), text)


def runs_in(form: Column) -> Column:
    """Return the runs of words of each compared text that say something, each once: array of (`words`, `run`).

    Short ones first, then from left to right, where each first occurs. The words of a run follow from its text, so a
    text stands for its run.
    """

    def find(forms: pa.Array) -> pa.Array:
        from querycloak.arrays.ragged import row_starts
        from querycloak.texts.word_runs import WordRuns

        runs = WordRuns.of(series_of(forms))
        texts = runs.texts(np.arange(len(runs.words))).to_arrow().cast(pa.string())
        text, of_text = runs.of_text.owner, runs.of_text.values
        _, first = np.unique(text * max(len(texts), 1) + of_text, return_index=True)
        first.sort()
        which = pa.array(of_text[first])
        start = row_starts(np.bincount(text[first], minlength=len(forms))).astype(np.int32)
        fields: dict[str, Any] = {"words": pa.array(runs.words).take(which), "run": texts.take(which)}
        found = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
        return pa.ListArray.from_arrays(pa.array(start), found)

    return on_texts(find, "array<struct<words:int,run:string>>", form)
