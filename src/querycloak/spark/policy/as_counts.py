"""Rule `as_counts` on a cluster, and the table of counts: equal rows as one, with their number, and without ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.spark.kept import kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.methods.policy.rule_as_counts import AsCounts
    from querycloak.spark.policy.rows import PolicyRows

__all__ = ["counted", "drop_small_counts"]


def counted(rows: PolicyRows) -> DataFrame:
    """Return equal rows once, with their number: `text`, the columns and `count`."""
    return rows.frame.groupBy("text", *rows.columns).count()


def drop_small_counts(rows: PolicyRows, rule: AsCounts) -> PolicyRows:
    """Make rows to counts, and leave out small ones. No rule comes after this one."""
    counts = kept(counted(rows))
    small = counts.where(F.col("count") < rule.least).select(F.sum("count")).first()
    few = int(small[0] or 0) if small is not None else 0
    left = replace(rows, frame=counts.where(F.col("count") >= rule.least), ids="none")
    return left.note(f"as_counts: a count below {rule.least}", few)
