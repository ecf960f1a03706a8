"""What each user contributes, on a cluster: the bounds and weights of `methods/dp/_contribution.py`, in Spark's SQL.

A table of contributions has one row for each distinct pair of a `user` and an `item`, with the `cost` of the item. All
of a user is looked at together, by windows over the user: exact, and spilled to disk where somebody has millions of
items. All numbers are whole (bigint), and each formula is that of one machine, so sums are equal to the last digit.

**Which items a user keeps.** The cheapest d; of equally cheap ones random ones, by a word of (secret, user, item). Two
pairs of a user that draw the same word are told apart by the letters of their items: also that is of the user alone,
so what others have decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from querycloak.methods.dp._contribution import MOST_COST, PART

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.keyed_randomness import KeyedRandomness

__all__ = ["add_up", "count_people", "keep_cheapest", "weigh", "word_of"]


def keep_cheapest(some: DataFrame, d: int, keyed: KeyedRandomness) -> DataFrame:
    """Keep the d cheapest items of each user. Equally cheap ones are drawn at random."""
    counted = some.withColumn("t", F.count("*").over(Window.partitionBy("user")))
    item = F.when(F.col("t") > d, F.col("item"))  # else nothing is drawn
    drawn = counted.withColumn("key", word_of(F.col("user"), item, keyed))
    order = Window.partitionBy("user").orderBy(F.least("cost", F.lit(MOST_COST)), "key", "item")
    return drawn.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= d).drop("t", "key", "rank")


def weigh(some: DataFrame, unit: int) -> DataFrame:
    """Add `weight`: the squares of a user's weights are at most unit² in sum."""
    cost = F.least("cost", F.lit(MOST_COST)).cast("bigint")
    parted = some.withColumn("part", _divided(F.lit(PART).cast("bigint"), cost * cost))
    squares = F.sum(F.col("part") * F.col("part")).over(Window.partitionBy("user"))
    summed = parted.withColumn("squares", squares).withColumn("root", _truncated_root("squares"))
    for _ in range(2):  # a rounded root may be one too low
        summed = summed.withColumn(
            "root", F.col("root") + (F.col("root") * F.col("root") < F.col("squares")).cast("int")
        )
    weight = _divided(F.col("part") * unit, F.greatest("root", F.lit(1)))
    return summed.withColumn("weight", weight).drop("part", "squares", "root")


def count_people(some: DataFrame, d: int, unit: int) -> DataFrame:
    """Return `item` and `sum`: how many people have each, in units; a user with more than d items counts in part."""
    t = F.count("*").over(Window.partitionBy("user"))
    counted = some.withColumn("t", t).withColumn("square", _divided(F.lit(d * unit * unit).cast("bigint"), F.col("t")))
    rooted = counted.withColumn("root", _truncated_root("square"))
    root = F.col("root") - (F.col("root") * F.col("root") > F.col("square")).cast("int")
    return add_up(rooted.withColumn("weight", F.when(F.col("t") > d, root).otherwise(F.lit(unit).cast("bigint"))))


def add_up(some: DataFrame) -> DataFrame:
    """Return `item` and `sum`: the sum of the weights of each item, exact; more than 64 bits hold is an error."""
    return some.groupBy("item").agg(F.sum("weight").alias("sum"))


def _divided(number: Column, by: Column) -> Column:
    """Divide whole numbers >= 0, rounded down."""
    quotient: Column = F.call_function("div", number, by)
    return quotient


def _truncated_root(name: str) -> Column:
    return F.sqrt(F.col(name).cast("double")).cast("bigint")


def word_of(user: Column, item: Column, keyed: KeyedRandomness) -> Column:
    """Return a word of each pair of a user and an item, 0 to 2^63 - 1; none for none."""
    name = F.concat(F.length(user), F.lit(" "), user, item)

    def draw(names: pa.Array) -> pa.Array:
        there = names.drop_null()
        words = (keyed.words(there.to_pylist())[:, 0] >> np.uint64(1)).astype(np.int64)
        out = np.zeros(len(names), dtype=np.int64)
        missing = names.is_null().to_numpy(zero_copy_only=False)
        out[~missing] = words
        return pa.array(out, mask=missing)

    drawn: Column = F.arrow_udf(draw, T.LongType())(name)  # type: ignore[attr-defined] # stubs lag behind
    return drawn
