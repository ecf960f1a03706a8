"""Rules `time` and `ids` on a cluster: times are rounded down; rows of a person, day or session share an id.

A table has no order of rows, so there is nothing to shuffle. Days and sessions are those of the times that were not
rounded, and are called as on one machine: by person, and by the day, or the beginning of the session. Ids are drawn by
these names, so that with a seed they are those of one machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql.window import Window

from querycloak.methods.policy.draft import DAY
from querycloak.methods.policy.rule_time import MONDAY, SECONDS

if TYPE_CHECKING:
    from pyspark.sql import Column

    from querycloak.methods.policy.rule_ids import Ids
    from querycloak.methods.policy.rule_time import Time
    from querycloak.spark.policy.rows import PolicyRows

__all__ = ["assign_ids", "round_times"]


def round_times(rows: PolicyRows, rule: Time) -> PolicyRows:
    """Round times down; a log without times stays as it is."""
    if "time" not in rows.columns:
        return rows
    origin = MONDAY if rule.grain == "week" else 0
    return rows.with_columns({"time": F.col("time") - F.pmod(F.col("time") - origin, F.lit(SECONDS[rule.grain]))})


def assign_ids(rows: PolicyRows, rule: Ids) -> PolicyRows:
    """Say which rows are published under one id."""
    if rule.per == "none":
        return replace(rows, ids="none")
    if rule.per == "release":
        return rows
    if rule.per == "day":
        day = F.floor(F.col("asked at") / DAY)
        return replace(rows.with_columns({"unit": _named("day", day)}), ids="day")
    return replace(_sessions(rows, gap=60 * rule.gap, most=rule.most), ids="session")


def _named(kind: str, *numbers: Column) -> Column:
    """Return what a unit is called; "-" is a missing time."""
    told = [F.coalesce(number.cast("string"), F.lit("-")) for number in numbers]
    return F.concat_ws(" ", F.lit(kind), *told, F.col("user"))


def _sessions(rows: PolicyRows, *, gap: int, most: int | None) -> PolicyRows:
    """Find the sessions of each person, in one pass over the person's rows in the order of time.

    A session ends with a gap of more than so many seconds, and after so many query events; clicks of one event stay
    together. A row without a time is a session of its own. Rows of one time are ordered by what was asked and clicked.
    """
    others = [name for name in rows.columns if name not in {"time", "url", "rank"}]
    clicks = [name for name in ("url", "rank") if name in rows.columns]
    by_time = Window.partitionBy("user").orderBy("asked at", "asked query", "of click", *clicks, *others, "text")
    so_far = by_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    time = F.col("asked at")
    before = F.lag("asked at").over(by_time)
    new = time.isNull() | before.isNull() | (time - before > gap)
    same = F.col("of click") & F.lag("of click").over(by_time) & (time == before)
    same = same & (F.col("asked query") == F.lag("asked query").over(by_time))
    frame = rows.frame.withColumns(
        {"new": new, "event": new | ~F.coalesce(same, F.lit(False)), "nth": F.row_number().over(by_time)}
    )
    frame = frame.withColumn("events", F.sum(F.col("event").cast("bigint")).over(so_far))
    start = F.last(F.when(F.col("new"), time), ignorenulls=True).over(so_far)
    first = F.last(F.when(F.col("new"), F.col("events")), ignorenulls=True).over(so_far)
    part = F.lit(0) if most is None else F.floor((F.col("events") - first) / most)
    part = F.when(time.isNull(), F.col("nth") - 1).otherwise(part)
    start = F.when(time.isNotNull(), start)
    frame = frame.withColumn("unit", _named("session", start, part)).drop("new", "event", "nth", "events")
    return replace(rows, frame=frame)
