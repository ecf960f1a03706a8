"""The rows of one block, as Spark hands them to a task, read as a log of one machine.

Arrow delivers the rows of a group in any order, so they are sorted first: whatever is drawn then depends on the rows
and on the secret of the release, not on partitions or on who was faster. What was counted over the whole log (shared
texts, clicks that may be published) comes with the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.texts.phrases import SharedTexts

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = ["OF_LOG", "OF_QUERY", "Block", "read_block"]

OF_LOG: Final = ("user", "query", "time", "rank", "url", "category")
"""columns of the log"""
OF_QUERY: Final = ("text", "kind", "people", "concepts")
"""what is known of the row's query"""


class Block(NamedTuple):
    """A part of a log, with what was found over the whole log."""

    log: QueryLog
    concepts: ConceptLog
    shared: SharedTexts
    click: npt.NDArray[np.bool_]
    """bool[rows]: the row's click may be published; empty where no clicks are kept"""
    ranked: npt.NDArray[np.bool_]
    """bool[rows]: and its rank"""


def read_block(table: pa.Table, label: npt.NDArray[np.int64]) -> Block:
    """Read the rows of a block; `label` is that of `SharedTexts`."""
    import polars as pl

    frame = pl.DataFrame(pl.from_arrow(table))
    order: list[str | pl.Expr] = [name for name in ("user", "query", "time") if name in frame.columns]
    order += [pl.col("url").is_null()] if "url" in frame.columns else []  # the rows of an event next to each other
    order += [name for name in ("rank", "url", "category") if name in frame.columns]
    frame = frame.sort(order)
    user, users = _coded(frame["user"])
    query, queries = _coded(frame["query"])
    url, urls = _coded(frame["url"]) if "url" in frame.columns else (None, None)
    category, categories = _coded(frame["category"]) if "category" in frame.columns else (None, None)
    log = QueryLog(
        user=user,
        users=users,
        query=query,
        queries=queries,
        time=frame["time"].fill_null(MISSING_TIME).to_numpy() if "time" in frame.columns else None,
        rank=frame["rank"].fill_null(-1).to_numpy().astype(np.int32) if "rank" in frame.columns else None,
        url=url,
        urls=urls,
        category=category,
        categories=categories,
    )
    known = frame.select("query", *OF_QUERY).unique("query", keep="any").sort("query")
    none = np.zeros(0, dtype=np.bool_)
    click, ranked = (
        (frame["click_kept"].to_numpy(), frame["rank_kept"].to_numpy())
        if "click_kept" in frame.columns
        else (none, none)
    )
    return Block(log, _concepts(log, known["concepts"]), _shared(known, label), click, ranked)


def _coded(texts: pl.Series) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Code texts in the order of their letters; a missing one is -1."""
    code = texts.rank("dense").cast(int).fill_null(0).to_numpy()
    return (code - 1).astype(np.int32), texts.unique().drop_nulls().sort()


def _concepts(log: QueryLog, of_query: pl.Series) -> ConceptLog:
    """Return one row per query event and unit."""
    lists = Ragged(row_starts(of_query.list.len().to_numpy()), of_query.explode().to_numpy().astype(np.int32))
    events = np.flatnonzero(log.event)
    units = lists.take(log.query[events])
    row = events[units.owner]
    return ConceptLog(row, log.user[row], log.query[row], units.values.astype(np.int32))


def _shared(known: pl.DataFrame, label: npt.NDArray[np.int64]) -> SharedTexts:
    """Return what may be published instead of each query of the block, as it was counted over the whole log."""
    import polars as pl

    text, words = _coded(known["text"])
    people = known.drop_nulls("text").group_by("text").agg(pl.col("people").max()).sort("text")["people"]
    return SharedTexts(
        text.astype(np.int64),
        known["kind"].to_numpy().astype(np.int8),
        words,
        people.to_numpy().astype(np.int64),
        label,
    )
