"""Rule `combination_users` on a cluster: a click is left out where too few people share query and URL, and more."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql.window import Window

from querycloak.methods.policy.draft import DAY
from querycloak.spark.kept import kept

if TYPE_CHECKING:
    from pyspark.sql import Column

    from querycloak.methods.policy.rule_combination_users import CombinationUsers
    from querycloak.spark.policy.rows import PolicyRows

__all__ = ["drop_rare_clicks"]


def drop_rare_clicks(rows: PolicyRows, rule: CombinationUsers, first: int | None) -> PolicyRows:
    """Empty the columns of rows whose combination too few people share within the row's period.

    `first` is when the first query of the log was asked. Of an event whose clicks are all left out one row stays: on
    one machine the first one of the log; here the least, since a table has no order. They differ only where rows of
    one event have different categories or further columns.
    """
    columns = [found for name in rule.columns if (found := rows.column(name)) is not None]
    if not columns or not rows.left:
        return rows
    frame = rows.frame.withColumn("period", _period(rule.days, first))
    keys = ["form", "period", *columns]
    people = frame.groupBy(*keys).agg(F.countDistinct("user").alias("people"))
    few = people.where(F.col("people") < rule.people).select(*(F.col(key).alias(f"few {key}") for key in keys))
    few = few.withColumn("is few", F.lit(True))
    same = reduce(and_, [F.col(key).eqNullSafe(F.col(f"few {key}")) for key in keys])
    joined = frame.join(few, same, "left").drop(*(f"few {key}" for key in keys))
    rare = F.col("is few").isNotNull() | F.col("period").isNull()
    clicked = "url" in columns
    dropped = rare & F.col("url").isNotNull() if clicked else rare
    joined = joined.withColumns({"rare": rare, "dropped": dropped}).drop("is few", "period")
    emptied = [*columns, *(["rank"] if clicked and "rank" in rows.columns else [])]
    joined = joined.withColumns({name: F.when(~F.col("rare"), F.col(name)) for name in dict.fromkeys(emptied)})
    joined = joined.withColumn("goes", _goes(rows) if clicked else F.lit(False))
    judged = kept(joined.drop("rare", "form"))
    row = judged.select(F.count_if("dropped"), F.count_if("goes")).first()
    emptied_rows, gone = (0, 0) if row is None else (int(row[0]), int(row[1]))
    name = f"combination_users: clicks shared by fewer than {rule.people} people"
    out = replace(rows, frame=judged.where(~F.col("goes")).drop("dropped", "goes"))
    out = replace(out, figures={**rows.figures, name: rows.figures.get(name, 0) + emptied_rows})
    return out.note("combination_users: further clicks of a query", gone) if clicked else out


def _period(days: int | None, first: int | None) -> Column:
    """Return which period of so many days a row is in, from midnight of the first day on; null = no time is known."""
    if days is None:
        return F.lit(0)
    begin = 0 if first is None else first // DAY * DAY
    return F.floor((F.col("asked at") - begin) / (days * DAY))


def _goes(rows: PolicyRows) -> Column:
    """Tell which rows held nothing but a click which is gone, as long as the event has another row."""
    event = Window.partitionBy("user", "asked query", "asked at", "of click")
    has_click = F.max(~F.col("dropped")).over(event)
    nth = F.row_number().over(event.orderBy(*rows.columns))
    return F.col("dropped") & F.col("of click") & (has_click | (nth > 1))
