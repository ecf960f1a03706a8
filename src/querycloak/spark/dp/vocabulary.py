"""The texts of `synthetic-dp` on a cluster: chosen by set union, with noisy numbers of people (`_synthetic_texts.py`).

What was chosen, with its noise, comes to the driver, and goes to the executors from there: it is public, and it is what
the invented log is made of. It grows with the log, about as the number of queries that hundreds of people share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.logs.query_log import NO_CODE
from querycloak.methods.dp._synthetic_texts import Clicks, Vocabulary, beyond_noise, longest_chosen
from querycloak.spark.dp.items import click_items, click_of, phrase_items, query_items
from querycloak.spark.dp.set_union import choose_items, count_chosen

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import Column, DataFrame

    from querycloak.methods.dp._set_union_table import Plan, Shares
    from querycloak.randomness import Randomness
    from querycloak.spark.spark_log import SparkLog

__all__ = ["choose_vocabulary"]


def choose_vocabulary(
    log: SparkLog, plans: Mapping[str, Plan], shares: Mapping[str, Shares], random: Randomness
) -> Vocabulary:
    """Choose queries, phrases and, where they have a share, clicks, and count people."""
    import polars as pl

    queries = query_items(log, short=True)
    chosen = choose_items("query", queries, plans["query"], shares["query"], random)
    people = _read(count_chosen("query", queries, chosen.items, plans["query"], shares["query"], random))
    rules = {"query": chosen.rules}

    phrases = phrase_items(log, short=True)
    phrase = choose_items("phrase", phrases, plans["phrase"], shares["phrase"], random)
    phrases.unpersist()
    rules["phrase"] = phrase.rules
    free = phrase.items.join(
        chosen.items.select(_compared(F.col("item")).alias("item")).distinct(), "item", "left_anti"
    )
    free = free.persist(StorageLevel.MEMORY_AND_DISK)
    rest = queries.join(chosen.items, "item", "left_anti")
    sent = log.frame.sparkSession.sparkContext.broadcast(frozenset(row["item"] for row in free.collect()))
    stands_for = rest.select("user", _longest(F.col("item"), sent).alias("item")).where(F.col("item").isNotNull())
    counts = shares["phrase"].counts
    assert counts is not None
    of_phrases = _read(count_chosen("phrase", stands_for.distinct(), free, plans["phrase"], shares["phrase"], random))
    clicks = None
    if "click" in shares:
        pairs = click_items(log, chosen.items)
        found = choose_items("click", pairs, plans["click"], shares["click"], random)
        rules["click"] = found.rules
        clicks = _clicks(
            people["item"], count_chosen("click", pairs, found.items, plans["click"], shares["click"], random)
        )
        pairs.unpersist()
    queries.unpersist()
    return Vocabulary(
        pl.concat([people["item"], of_phrases["item"]]),
        np.concatenate(
            [
                people["count"].to_numpy().astype(np.float64),
                beyond_noise(of_phrases["count"].to_numpy().astype(np.int64), plans["phrase"], counts),
            ]
        ),
        len(people),
        clicks,
        rules,
    )


def _read(table: DataFrame) -> pl.DataFrame:
    """Bring chosen items and their noisy counts to the driver, in the order of their letters."""
    import polars as pl

    return pl.DataFrame(
        [tuple(row) for row in table.select("item", "count").collect()],
        schema={"item": pl.String, "count": pl.Int64},
        orient="row",
    ).sort("item")


def _clicks(queries: pl.Series, table: DataFrame) -> Clicks:
    import polars as pl

    query, url = click_of()
    rows = [tuple(row) for row in table.select(query, url, "count").collect()]
    code_of = {word: i for i, word in enumerate(queries.to_list())}
    coded = [(code_of[text], address, count) for text, address, count in rows]
    schema = {"code": pl.Int64, "url": pl.String, "count": pl.Float64}
    found = pl.DataFrame(coded, schema=schema, orient="row").sort("code", "url")
    return Clicks(found["code"].to_numpy(), found["url"], found["count"].to_numpy())


def _compared(query: Column) -> Column:
    """Return texts as they are compared."""

    def change(texts: pa.Array) -> pa.Array:
        import polars as pl

        from querycloak.texts.compared import compared

        return compared(pl.Series(texts.cast(pa.large_string()))).to_arrow().cast(pa.string())

    changed: Column = F.arrow_udf(change, T.StringType())(query)  # type: ignore[attr-defined] # stubs lag behind
    return changed


def _longest(query: Column, chosen: Broadcast[frozenset[str]]) -> Column:
    """Return the longest chosen phrase of each query; none = it has none."""

    def find(texts: pa.Array) -> pa.Array:
        import polars as pl

        from querycloak.texts.compared import code_texts, compared
        from querycloak.texts.word_runs import WordRuns

        forms = compared(pl.Series(texts.cast(pa.large_string())))
        code, first = code_texts(forms)
        runs = WordRuns.of(forms.gather(first))
        words = runs.texts(np.arange(len(runs.words)))
        best = longest_chosen(
            runs, np.array([i for i, t in enumerate(words.to_list()) if t in chosen.value], dtype=np.int64)
        )
        found = best[code]
        return words.to_arrow().cast(pa.string()).take(pa.array(found, mask=found == NO_CODE))

    longest: Column = F.arrow_udf(find, T.StringType())(query)  # type: ignore[attr-defined] # stubs lag behind
    return longest
