"""Texts as numbers: joins, shuffles and sorts then move 8 bytes instead of a text, and counts stay exact.

The number of a text is a hash of it. Two texts may have the same hash: which ones do is counted, and these take a hash
of a further turn, until all texts of a table have numbers of their own. So a number stands for one text, and whoever
counts numbers counts texts. A number is an expression of its text alone: rows get theirs where they are, without a
join, and a task that runs again gets the same.

The first turn is a quick hash, for which somebody who writes queries may find texts with the same number; further turns
are SHA-256, for which nobody can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Numbers"]

MOST_SHARED: Final = 1_000
"""numbers that several texts have, and that stand in a plan; with more, the quick hash is given up"""
HEX_DIGITS: Final = 15


@dataclass(frozen=True)
class Numbers:
    """The numbers of the texts of one table."""

    shared: tuple[tuple[int, ...], ...] = ()
    """of each turn the numbers that several texts had: these texts have a number of the next turn"""
    quick: bool = True
    """the first turn is a quick hash"""

    @classmethod
    def of_distinct(cls, texts: DataFrame) -> Numbers:
        """Find numbers for a table of one column of distinct texts: one job for each turn, of which one is usual."""
        name, found = texts.columns[0], cls()
        while True:
            number = found.of(F.col(name)).alias("number")
            several = texts.select(number).groupBy("number").agg(F.count("*").alias("n")).where("n > 1")
            again = sorted(row.number for row in several.select("number").limit(MOST_SHARED + 1).collect())
            if not again:
                return found
            too_many = found.quick and len(again) > MOST_SHARED
            found = cls(quick=False) if too_many else cls((*found.shared, tuple(again)), found.quick)

    def of(self, text: Column) -> Column:
        """Return the numbers of texts of the table."""
        number = quick_hash(text) if self.quick else slow_hash(text, 0)
        for turn, shared in enumerate(self.shared, 1):
            number = F.when(number.isin(*shared), slow_hash(text, turn)).otherwise(number)
        return number


def quick_hash(text: Column) -> Column:
    """Return 64 bits of each text."""
    return F.xxhash64(text)


def slow_hash(text: Column, turn: int) -> Column:
    """Return 60 bits of the SHA-256 of each text, others in each turn."""
    digest = F.sha2(F.concat(F.lit(f"{turn} "), text).cast("binary"), 256)
    return F.conv(F.substring(digest, 1, HEX_DIGITS), 16, 10).cast("bigint")
