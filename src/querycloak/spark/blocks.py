"""Topical blocks on a cluster: which users are grouped together, where all of them do not fit into one task.

On one machine users are put in the depth-first order of their topics and cut into runs of equal size
(`methods/microaggregation/_blocks.py`). Here the driver sees a histogram of topics, which is as long as the taxonomy at
most: it says where in that order each topic begins. Users of one topic are spread over its stretch by a keyed hash of
the user, so that the block of a user follows from topic and user alone, on whichever executor, and a topic of any size
is cut. A block that came out too small joins its neighbour: every block has at least 2k users.

The privacy argument is that of the groups. Blocks only say who may be grouped with whom; each group has at least k
members of its block, and all of them get the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.errors import InputError
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.spark.kept import kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.randomness import Randomness

__all__ = [
    "MOST_ROWS",
    "ROWS_OF_BLOCK",
    "Blocks",
    "Histogram",
    "blocks_of",
    "cut_blocks",
    "join_small",
    "starts_of_topics",
]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

ROWS_OF_BLOCK: Final = 1_000_000
"""rows of a block that are aimed at, where users have very many"""
MOST_ROWS: Final = 4_000_000
"""rows of a block at most: they must fit into the memory of one task"""

MOST_PARTITIONS: Final = 20_000


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many users each topic has, topics ascending: bounded by the taxonomy."""

    topic: Int64s
    users: Int64s
    rows: Int64s
    """rows of all users of the topic"""
    most: int
    """rows of the user with most of them"""

    @classmethod
    def of(cls, users: DataFrame) -> Histogram:
        """Count users by topic: one job. `users` has `user`, `topic` and `rows`."""
        counted = users.groupBy("topic").agg(
            F.count("*").alias("n"), F.sum("rows").alias("rows"), F.max("rows").alias("m")
        )
        found = sorted(tuple(row) for row in counted.collect())
        columns = np.array(found, dtype=np.int64).reshape(-1, 4).T
        return cls(columns[0], columns[1], columns[2], int(columns[3].max(initial=0)))


@dataclass(frozen=True, eq=False, repr=False)
class Blocks:
    """The block of each user."""

    users: DataFrame
    """`user` and `block`"""
    count: int

    @property
    def partitions(self) -> int:
        """How many partitions to spread the blocks over: as many as there are, since each is much work and few rows."""
        return min(self.count, MOST_PARTITIONS)


def starts_of_topics(histogram: Histogram, per_block: int | None) -> Float64s:
    """Return where each topic begins, in blocks: float64[topics + 1]; None = all users are one block.

    A topic is as long as its users need, or its rows where these are very many. All lengths are stretched so that
    they end at a whole number of blocks.
    """
    if per_block is None:
        return np.linspace(0, 1, len(histogram.topic) + 1)
    length = np.maximum(histogram.users / per_block, histogram.rows / ROWS_OF_BLOCK)
    end = np.concatenate([[0.0], np.cumsum(length)])
    blocks = max(1, round(end[-1]))
    out = np.asarray(end * (blocks / end[-1]), dtype=np.float64)
    out[-1] = blocks
    return out


def join_small(size: Int64s, least: int) -> Int64s:
    """Return the block that each block becomes, so that all have `least` users or more: int64[blocks], from 0 on.

    >>> join_small(np.array([5, 1, 9, 2]), 4).tolist()
    [0, 1, 1, 1]
    """
    new = np.zeros(len(size), dtype=np.int64)
    at, filled = 0, 0
    for block, users in enumerate(size.tolist()):
        if filled >= least:
            at, filled = at + 1, 0
        new[block] = at
        filled += users
    if at and filled < least:  # what is left at the end joins the block before
        new[new == at] = at - 1
    return new


def cut_blocks(users: DataFrame, per_block: int | None, k: int, random: Randomness, histogram: Histogram) -> Blocks:
    """Cut users (`user`, `topic`, `rows`) into blocks of about `per_block`; refuse what does not fit into a task."""
    if histogram.most > MOST_ROWS:
        raise InputError(
            f"One user has {histogram.most:,} rows, and a user's rows must fit into one task: {MOST_ROWS:,} at most. "
            "Leave such users out of the log: they are not people."
        )
    starts = starts_of_topics(histogram, per_block)
    first = _put_on(users, histogram.topic, starts, KeyedRandomness(random.child("spread")))
    first = kept(first)
    counted = first.groupBy("block").agg(F.count("*").alias("n"), F.sum("rows").alias("rows"))
    size, rows = np.zeros((2, round(starts[-1])), dtype=np.int64)
    for row in counted.collect():
        size[row.block], rows[row.block] = row.n, row.rows
    new = join_small(size, 2 * k)
    together = np.bincount(new, weights=rows)
    if together.max() > MOST_ROWS:
        raise InputError(
            f"A block of users who are grouped together has {int(together.max()):,} rows, and must fit into one task: "
            f"{MOST_ROWS:,} at most. Set fewer users per block, or leave out users with very many rows."
        )
    if (new == np.arange(len(new))).all():
        return Blocks(first.select("user", "block"), len(new))

    def rename(blocks: pa.Array) -> pa.Array:
        return pa.array(new[blocks.to_numpy()].astype(np.int32))

    renamed = F.arrow_udf(rename, T.IntegerType())("block")  # type: ignore[attr-defined] # stubs lag behind
    return Blocks(first.select("user", renamed.alias("block")), int(new.max()) + 1)


def _put_on(users: DataFrame, topic: Int64s, starts: Float64s, keyed: KeyedRandomness) -> DataFrame:
    """Add `block`."""

    def place(names: pa.Array, topics: pa.Array) -> pa.Array:
        return pa.array(blocks_of(names, topics.to_numpy(), topic, starts, keyed))

    block = F.arrow_udf(place, T.IntegerType())("user", "topic")  # type: ignore[attr-defined] # stubs lag behind
    return users.select("user", "rows", block.alias("block"))


def blocks_of(
    names: pa.Array, topics: Int64s, topic: Int64s, starts: Float64s, keyed: KeyedRandomness
) -> npt.NDArray[np.int32]:
    """Return the block of each user by name and topic: int32[users]. A topic within one block needs no hash."""
    at = np.searchsorted(topic, topics)
    low, high = starts[at], starts[at + 1]
    block = np.floor(low)
    cut = np.flatnonzero(high > block + 1)
    words = keyed.words(names.take(pa.array(cut)).to_pylist())[:, 0]
    share = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    block[cut] = np.floor(low[cut] + share * (high[cut] - low[cut]))
    return np.asarray(np.minimum(block, round(starts[-1]) - 1), dtype=np.int32)
