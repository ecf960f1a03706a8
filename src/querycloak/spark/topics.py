"""The topic of each user: where most of what a user asked about is, found by blocks of users on executors.

A user brings tokens, one or more per row: concepts of a taxonomy, which say where in it the user's weight is (the
kernel of one machine, `_blocks_kernels.py`); and numbers after the last concept for what has no concept, where the
token that the user brings most often counts. Such numbers are hashes into a fixed number of bins: there are never
more topics than concepts and bins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["OTHERS", "PATH_BINS", "TreeOf", "hashed", "letters", "path_bin", "topics_of"]

OTHERS: Final = 1 << 16
"""bins of what is in no taxonomy"""
OF_LEVEL: Final = 64
"""bins of each of the first three levels of a category path"""
PATH_BINS: Final = OF_LEVEL**3
MOST_TIMES: Final = 10_000
"""how often a token of a user counts at most"""
LETTERS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


class TreeOf(Protocol):
    """What returns the taxonomy of tokens, in a task."""

    def __call__(self) -> Taxonomy:
        """Return it, loaded once per process."""
        ...


def hashed(text: Column) -> Column:
    """Return the bin of a text: users with the same one have the same topic."""
    return F.pmod(F.xxhash64(text), F.lit(OTHERS)).cast("int")


def letters(text: Column) -> Column:
    """Return the bin of a text by its first three letters: texts that begin alike are near each other."""
    places = [F.instr(F.lit(LETTERS), F.substring(F.lower(text), i, 1)) for i in (1, 2, 3)]
    width = len(LETTERS) + 1
    return ((places[0] * width + places[1]) * width + places[2]).cast("int")


def path_bin(path: Column, separator: str = "/") -> Column:
    """Return the bin of a category path: paths with the same first levels are near each other."""
    parts = F.split(path, separator)
    out = F.lit(0)
    for level in (1, 2, 3):
        name = F.array_join(F.slice(parts, 1, level), separator)
        out = out * OF_LEVEL + F.pmod(F.xxhash64(name), F.lit(OF_LEVEL))
    return out.cast("int")


def topics_of(rows: DataFrame, tokens: Column, weight: Column, tree: TreeOf | None) -> DataFrame:
    """Return `topic`, `rows` and `tokens` of each user. `tokens`: array<int>, one or more per row, -1 = none.

    `weight` of a row decides between tokens that a user brings equally often. Rows of a user should be in one partition
    already: nothing is shuffled then.
    """
    one = rows.select("user", weight.alias("weight"), F.posexplode(tokens).alias("at", "token"))
    counted = one.groupBy("user", "token").agg(
        F.count("*").cast("int").alias("n"),
        F.max("weight").cast("bigint").alias("w"),
        F.count_if(F.col("at") == 0).alias("rows"),
    )
    of_user = counted.groupBy("user").agg(
        F.sum("rows").alias("rows"),
        F.sum("n").alias("tokens"),
        F.collect_list(F.struct("token", "n", "w")).alias("lists"),
    )

    def choose(lists: pa.Array) -> pa.Array:
        return pa.array(_topics(lists, None if tree is None else tree()))

    topic = F.arrow_udf(choose, T.LongType())("lists")  # type: ignore[attr-defined] # stubs lag behind
    return of_user.select("user", "rows", "tokens", topic.alias("topic"))


def _topics(lists: pa.ListArray, tree: Taxonomy | None) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """int64[users], the topic of each: -1 = the user has no token."""
    from querycloak.distances.user_concepts import user_concepts
    from querycloak.methods.microaggregation._blocks_kernels import topics

    n = len(lists)
    owner = np.repeat(np.arange(n), lists.value_lengths().to_numpy(zero_copy_only=False))
    parts = lists.flatten()
    token, times, weight = (parts.field(i).to_numpy(zero_copy_only=False).astype(np.int64) for i in range(3))
    out = np.full(n, -1, dtype=np.int64)
    known = token >= 0
    order = np.lexsort((-token, weight, times, owner))[::-1]  # the best of each user first
    order = order[known[order]]
    first = np.unique(owner[order], return_index=True)
    out[first[0]] = token[order[first[1]]]
    if tree is None:
        return out
    mapped = known & (token < len(tree))
    times = np.minimum(times, MOST_TIMES)
    if mapped.any():
        users, index = np.unique(owner[mapped], return_inverse=True)
        bags = user_concepts(np.repeat(index, times[mapped]), np.repeat(token[mapped], times[mapped]), len(users), tree)
        out[users] = bags.original[topics(bags)]
    return out
