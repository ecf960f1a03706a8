"""The five microaggregations on a cluster: users in topical blocks, each block grouped and drawn by one machine's code.

What people share of texts is counted over the whole log (`shared_texts.py`); who is grouped with whom, and which rows
a group publishes, is decided in the user's block (`blocks.py`) by the functions of one machine. A block returns one row
per group: its members, and the rows that all of them get. So members cannot differ, and groups that lie on disk between
two jobs are k times smaller than the release.

Everything random in a block is a function of the secret and of the block's number, and its rows are sorted first: a
task that runs twice publishes the same. A log of one block is drawn, with a seed, as on one machine.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.errors import InputError
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.microaggregation._group_release import group_statement
from querycloak.methods.microaggregation._group_settings import BLOCK_USERS, MdavSettings
from querycloak.methods.microaggregation._grouping import refuse_too_few
from querycloak.spark.block_figures import added_up
from querycloak.spark.block_groups import grouping_of, groups_of
from querycloak.spark.block_rows import OF_LOG, OF_QUERY, read_block
from querycloak.spark.blocks import Blocks, Histogram, cut_blocks
from querycloak.spark.concepts import with_concepts
from querycloak.spark.kept import kept
from querycloak.spark.kept_columns import KeptColumns
from querycloak.spark.new_ids import NewIds, all_digits
from querycloak.spark.shared_texts import shared_texts
from querycloak.spark.spark_release import Draft
from querycloak.spark.sweep import window_of
from querycloak.spark.topics import PATH_BINS, hashed, letters, path_bin, topics_of
from querycloak.texts.text_promises import covered_in

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import Column, DataFrame

    from querycloak.methods.microaggregation._group_settings import GroupSettings
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = [
    "USERS_OF_BLOCK",
    "plain_microaggregation",
    "semantic_microaggregation",
    "syntactic_microaggregation",
    "url_microaggregation",
    "word_microaggregation",
]

KEPT: Final = StorageLevel.MEMORY_AND_DISK
USERS_OF_BLOCK: Final = {
    "syntactic-microaggregation": 2_000,
    "url-microaggregation": BLOCK_USERS,
    "word-microaggregation": BLOCK_USERS,
}
"""users grouped together by methods that have no setting for it: one machine compares all users with all"""
ENTRY: Final = {"query": "string", "kind": "string", "time": "bigint", "rank": "int", "url": "string"}
"""columns that a group may publish"""


def semantic_microaggregation(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Group users by what their queries mean (`methods/microaggregation/semantic_microaggregation.py`)."""
    return _release("semantic-microaggregation", log, settings, random, knowledge)


def plain_microaggregation(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Group users by the queries they share (`methods/microaggregation/plain_microaggregation.py`)."""
    return _release("plain-microaggregation", log, settings, random, knowledge)


def syntactic_microaggregation(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Group users by the spelling of their queries (`methods/microaggregation/syntactic_microaggregation.py`)."""
    return _release("syntactic-microaggregation", log, settings, random, knowledge)


def url_microaggregation(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Group users by the categories of clicked sites (`methods/microaggregation/url_microaggregation.py`)."""
    if knowledge.directory is not None and not log.has("url"):
        raise InputError("The log has no clicked URLs, so its queries have no site.")
    if knowledge.directory is None and not log.has("category"):
        raise InputError("The log has no category column: give a directory of sites with --directory (directory=…).")
    return _release("url-microaggregation", log, settings, random, knowledge)


def word_microaggregation(log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
    """Group users by the categories of their words (`methods/microaggregation/word_microaggregation.py`)."""
    return _release("word-microaggregation", log, settings, random, knowledge)


def _release(name: str, log: SparkLog, settings: GroupSettings, random: Randomness, knowledge: Knowledge) -> Draft:
    """Group the users of a log block by block, and say what holds."""
    refuse_too_few(log.users.limit(settings.k).count(), settings.k, "")
    rows = _rows(name, log, settings, knowledge)
    users = kept(_topics(name, rows.frame, knowledge))
    histogram = Histogram.of(users)
    blocks = cut_blocks(users, _per_block(name, settings, int(histogram.users.sum())), settings.k, random, histogram)
    groups = kept(_groups(name, rows, blocks, log, settings, random, knowledge))
    figures = [json.loads(row.figures) for row in groups.where("figures is not null").select("figures").collect()]
    dropped = added_up([found["dropped"] for found in figures], counted=False)
    members = groups.where("size(entries) > 0").select(F.explode("users").alias("user"), "entries")
    names = members.select("user")
    ids = NewIds.of(names, random, avoid=log.users, digits=all_digits(log.users))
    known = ids.put_on(members)
    statement = group_statement(
        name,
        settings,
        random,
        covers=covered_in(settings, window_of(log)),
        kept=rows.columns,
        counts_in=log.counts_in,
        counts_out={},
        dropped={reason: int(n) for reason, n in dropped.items()},
        figures=added_up([found["figures"] for found in figures], counted=len(figures) > 1 and _cuts(settings)),
    )
    frame = known.select(F.col("id").alias("user"), F.explode("entries").alias("e")).select("user", "e.*")
    return Draft("log", frame, statement, truth=known.select("id", "user"), also={"concepts": rows.concepts})


def _cuts(settings: GroupSettings) -> bool:
    """Tell whether the statement of one machine counts blocks."""
    return isinstance(settings, MdavSettings)


def _per_block(name: str, settings: GroupSettings, n: int) -> int | None:
    """Return the users per block; None = one block of all."""
    if isinstance(settings, MdavSettings):
        return settings.block_users(n)
    return USERS_OF_BLOCK[name] if n > USERS_OF_BLOCK[name] else None


class _Rows:
    """The rows of a log with what was found over the whole log, each user's in one partition."""

    def __init__(
        self, frame: DataFrame, label: Broadcast[npt.NDArray[np.int64]], columns: KeptColumns, concepts: DataFrame
    ) -> None:
        self.frame = frame
        self.label = label
        self.columns = columns
        self.concepts = concepts


def _rows(name: str, log: SparkLog, settings: GroupSettings, knowledge: Knowledge) -> _Rows:
    """Join to each row what may be published instead of its query, what it is about, and whether its click is kept."""
    texts = shared_texts(log, settings.rule, knowledge)
    concepts = texts.concepts
    if concepts is None:
        concepts = with_concepts(texts.of_query.select("query", "number"), knowledge).drop("query")
    of_query = texts.of_query.drop("query").join(concepts, "number")
    columns = KeptColumns.of(log, settings, settings.rule, of_query)
    marked = replace(columns, time_grain="").marked  # exact times tell which rows are one event
    needed = {"user", "query", "time", "url", "rank"} if log.has("url") else {"user", "query", "time"}
    if name == "url-microaggregation" and knowledge.directory is None:
        needed |= {"category"}
    marks = ["click_kept", "rank_kept"] if columns.click_users else []
    found = marked.select(*(c for c in OF_LOG if log.has(c) and c in needed), *OF_QUERY, *marks)
    label = found.sparkSession.sparkContext.broadcast(texts.label)
    return _Rows(found.repartition("user").persist(KEPT), label, columns, concepts)


def _topics(name: str, rows: DataFrame, knowledge: Knowledge) -> DataFrame:
    """Return the topic of each user: where those are whom the method would find near."""
    others = F.lit(len(knowledge.taxonomy)) + hashed(F.coalesce("text", "query"))
    if name == "plain-microaggregation":
        return topics_of(rows, F.array(hashed(F.col("query"))), F.coalesce("people", F.lit(0)), None)
    if name == "syntactic-microaggregation":
        return topics_of(rows, F.array(letters(F.col("query"))), F.coalesce("people", F.lit(0)), None)
    if name == "url-microaggregation":
        if knowledge.directory is None:
            found = F.coalesce(path_bin(F.col("category")), PATH_BINS + hashed(F.col("query")))
            return topics_of(rows, F.array(found), F.lit(0), None)
        unlisted = len(_directory(knowledge).taxonomy) + hashed(F.col("query"))
        found = F.coalesce(F.nullif(_site(knowledge), F.lit(-1)), unlisted)
        return topics_of(rows, F.array(found), F.lit(0), lambda: _directory(knowledge).taxonomy)
    known = F.exists("concepts", lambda concept: concept >= 0)
    tokens = F.when(known, F.col("concepts")).otherwise(F.array(others))
    return topics_of(rows, tokens, F.lit(0), lambda: knowledge.taxonomy)


def _directory(knowledge: Knowledge) -> Any:
    directory = knowledge.directory
    assert directory is not None
    return directory


def _site(knowledge: Knowledge) -> Column:
    """Return the category of each row's site, -1 = none."""

    def look_up(urls: pa.Array) -> pa.Array:
        import polars as pl

        from querycloak.mapping.categories import _sites

        coded = urls.dictionary_encode()
        found = _sites(pl.Series(coded.dictionary.cast(pa.large_string())), _directory(knowledge))
        code = coded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
        return pa.array(np.append(found, -1).astype(np.int32)[code])

    site: Column = F.arrow_udf(look_up, "int")("url")  # type: ignore[attr-defined] # stubs lag behind
    return site


def _groups(
    name: str,
    rows: _Rows,
    blocks: Blocks,
    log: SparkLog,
    settings: GroupSettings,
    random: Randomness,
    knowledge: Knowledge,
) -> DataFrame:
    """Return one row per group: `users` and `entries`, and one per block with its `figures`."""
    columns = ["query", *(["kind"] if settings.kinds == "column" else [])]
    held = rows.columns
    columns += ["time"] if held.time_grain else []
    columns += ["url", *(["rank"] if log.has("rank") else [])] if held.click_users else []
    entry = ",".join(f"{column}:{ENTRY[column]}" for column in columns)
    schema = f"users array<string>, entries array<struct<{entry}>>, figures string"
    keyed = KeyedRandomness(random.child("blocks"))
    alone = random if blocks.count == 1 and random.repeats else None  # with a seed, one block is as on one machine
    label = rows.label
    group = grouping_of(name, settings, knowledge)
    grain, people = held.time_grain, held.click_users

    def run(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        block = read_block(table.drop_columns(["block"]), label.value)
        source = keyed.of(str(key[0].as_py())) if alone is None else alone
        return groups_of(block, group, source, knowledge.taxonomy, columns, grain=grain, people=people)

    placed = rows.frame.join(blocks.users, "user")
    return placed.repartition(blocks.partitions, "block").groupBy("block").applyInArrow(run, schema)
