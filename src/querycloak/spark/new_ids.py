"""New ids on a cluster: the same ones, with the same seed, as on one machine (`KeyedRandomness.identifiers`).

The id of a user is a function of a secret and of the user's name, so rows get theirs where they are, without a join.
Two users may draw the same id, or one that is in the log: both then draw again, in a further turn. Such users are few,
and only they are joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from querycloak.keyed_randomness import KeyedRandomness

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from querycloak.randomness import Randomness

__all__ = ["NewIds", "all_digits"]


@dataclass(frozen=True, eq=False, repr=False)
class NewIds:
    """The new id of each name."""

    keyed: KeyedRandomness
    digits: bool
    """12 decimal digits; else 16 hexadecimal ones"""
    later: DataFrame | None
    """`name` and `later`: the ids of those whose first one was another's too; None = there is no such name"""

    @classmethod
    def of(cls, names: DataFrame, random: Randomness, *, avoid: DataFrame, digits: bool) -> NewIds:
        """Draw the ids of distinct names: tables of one column of text. No id is in `avoid`, the ids of the log."""
        return cls.drawn_by(KeyedRandomness(random.child("ids")), names, avoid=avoid, digits=digits)

    @classmethod
    def drawn_by(cls, keyed: KeyedRandomness, names: DataFrame, *, avoid: DataFrame, digits: bool) -> NewIds:
        """Draw the ids of distinct names: one job for each turn, of which there is nearly always one.

        As on one machine, who draws what another one of the same turn drew, or somebody before, draws again.
        """
        # One row for each name, with the id it has, and one for each id to avoid, which has no name.
        taken = avoid.toDF("id").select(F.lit(None).cast("string").alias("name"), "id", F.lit(-1).alias("turn"))
        first = candidates(keyed, F.col("name"), 0, digits=digits)
        drawn = names.toDF("name").select("name", first.alias("id"), F.lit(0).alias("turn"))
        table, turn = taken.unionByName(drawn), 0
        while True:
            of_id = Window.partitionBy("id")
            others = F.count("*").over(of_id) > 1  # who had it before, or draws it now
            bad = (F.col("turn") == turn) & others
            table = table.withColumn("bad", bad).persist(StorageLevel.MEMORY_AND_DISK)
            if not table.where("bad").head(1):
                later = table.where("turn > 0").select("name", F.col("id").alias("later"))
                return cls(keyed, digits, later if turn else None)
            turn += 1
            again = F.when(F.col("bad"), F.col("name"))
            new = F.when(F.col("bad"), candidates(keyed, again, turn, digits=digits)).otherwise(F.col("id"))
            table = table.select(
                "name", new.alias("id"), F.when(F.col("bad"), turn).otherwise(F.col("turn")).alias("turn")
            )

    def put_on(self, frame: DataFrame, name: str = "user", to: str = "id") -> DataFrame:
        """Return a table with one more column: the id of what is in the column `name`."""
        first = candidates(self.keyed, F.col(name), 0, digits=self.digits)
        if self.later is None:
            return frame.withColumn(to, first)
        later = self.later.withColumnRenamed("name", " name")
        joined = frame.join(later, frame[name] == later[" name"], "left")
        return joined.withColumn(to, F.coalesce("later", first)).drop(" name", "later")


def candidates(keyed: KeyedRandomness, name: Column, turn: int, *, digits: bool) -> Column:
    """Return the id that each name would have in a turn."""

    def draw(names: pa.Array) -> pa.Array:
        coded = names.dictionary_encode()
        ids = keyed.candidates(coded.dictionary.to_pylist(), turn, digits=digits)
        return pa.array(ids, type=pa.string()).take(coded.indices)  # a missing name has a missing id

    drawn: Column = F.arrow_udf(draw, T.StringType())(name)  # type: ignore[attr-defined] # stubs lag behind
    return drawn


def all_digits(users: DataFrame) -> bool:
    """Tell whether all ids of the log are decimal numbers, so that new ones are to be: one job."""
    return not users.where(~F.col("user").rlike("^[0-9]+$")).head(1)
