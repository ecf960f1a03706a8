"""The gate's check of k: how many published users share each bag of rows, counted over the whole table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.releases.checks import broken

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.spark.spark_release import Draft

__all__ = ["check_classes", "class_sizes"]

PIECES: Final = 3
HEX_DIGITS: Final = 15
"""of a piece: 60 bits, which are 19 decimal digits; Spark adds up to 10^10 of them exactly"""


def check_classes(draft: Draft) -> None:
    """Check that every published user shares its rows with at least k - 1 others, where k-anonymity is promised."""
    statement = draft.statement
    if statement.unit != "user" or "k" not in statement.parameters:
        return
    k = int(statement.parameters["k"])
    sizes = class_sizes(draft.frame)
    few = sizes.where(F.col("users") < k).select(F.sum("users")).first()
    if few is not None and few[0]:
        raise broken(statement, f"{few[0]:,} published users are in a class of fewer than {k}")


def class_sizes(frame: DataFrame) -> DataFrame:
    """Return `users`, how many published users have each bag of rows, all columns but the user.

    A table of a cluster has no order of rows, and the writer brings the rows of an id into the order of their columns:
    equal bags are then equal rows. A bag is compared by its number of rows and the sums of three 60-bit pieces of a
    keyed SHA-256 of each row, so that no user's rows need to fit into memory. Two different bags are taken for equal
    with a probability of about 2^-180; the key is new on each call, so nobody can prepare a pair. Values are compared
    by their bytes, in hexadecimal: no value reads like another, like a missing one, or like two.
    """
    columns = sorted(name for name in frame.columns if name != "user")
    values = [F.coalesce(F.hex(F.col(name).cast("string").cast("binary")), F.lit("none")) for name in columns]
    row = F.concat_ws(",", F.lit(os.urandom(16).hex()), *values)
    hashed = frame.select("user", F.sha2(row, 256).alias("hash"))
    pieces = [
        F.sum(F.conv(F.substring("hash", 1 + HEX_DIGITS * i, HEX_DIGITS), 16, 10).cast("decimal(19,0)")).alias(f"h{i}")
        for i in range(PIECES)
    ]
    bags = hashed.groupBy("user").agg(F.count("*").alias("rows"), *pieces)
    return bags.groupBy("rows", *(f"h{i}" for i in range(PIECES))).agg(F.count("*").alias("users")).select("users")
