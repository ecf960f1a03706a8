"""The gate's check of a stream: no record leaves under its asker, or with too few candidates; ids keep their period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.logs.durations import DAY
from querycloak.releases.checks import broken

if TYPE_CHECKING:
    from querycloak.spark.spark_release import Draft

__all__ = ["check_stream"]


def check_stream(draft: Draft) -> None:
    """Check the rule of a stream on each published row, where candidates are promised."""
    statement = draft.statement
    if "candidates" not in statement.parameters:
        return
    departures = draft.also.get("departures")
    if departures is None:
        raise broken(statement, "records leave without their asker or their candidates")
    k = int(statement.parameters["candidates"])
    own = F.col("asker").isNull() | F.col("stands_for").isNull() | (F.col("asker") == F.col("stands_for"))
    few = F.col("candidates").isNull() | (F.col("candidates") < k)
    rows, under_own, of_few = departures.select(F.count("*"), F.count_if(own), F.count_if(few)).first() or (0, 0, 0)
    if rows != statement.counts_out.get("rows"):
        raise broken(statement, "of some published records it is not known who asked them")
    if under_own:
        raise broken(statement, f"{under_own:,} records leave under the user who asked them")
    if of_few:
        raise broken(statement, f"{of_few:,} records leave with fewer than {k} candidates")
    if draft.truth is not None:
        pairs = departures.select(F.col("user").alias("id"), F.col("stands_for").alias("user")).distinct()
        if pairs.join(draft.truth, ["id", "user"], "left_anti").head(1):
            raise broken(statement, "an id does not stand for the user who was drawn")
    if statement.ids == "day":
        day = F.floor(F.col("time") / DAY)
        days = draft.frame.where(F.col("time").isNotNull()).groupBy("user").agg(F.countDistinct(day).alias("days"))
        if days.where("days > 1").head(1):
            raise broken(statement, "another id in each day is promised, and an id is in two")
