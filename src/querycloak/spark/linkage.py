"""Record linkage on a cluster, block by block: a block is a query, with the people who asked it.

The attacker of `attacks/record_linkage.py` (Batet et al. 2013, eq. 10): each published id is linked to the original
users with most queries in common. A pair of id and user is met in the blocks of their common queries alone, so no pair
without one is looked at. A query that very many people asked would make a block of all pairs of its ids and its
people, and says least of all: blocks of more than `most_people` are left out. With none left out the result is that of
one machine. With some left out the attacker knows less, so that what is found is a **lower bound** of the risk; how
many published rows are in blocks left out is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.attacks.interval import About, guessing, rated_result
from querycloak.errors import UserError
from querycloak.spark.kept import kept
from querycloak.spark.spark_log import SparkLog
from querycloak.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from querycloak.attacks.result import AttackResult
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["MOST_PEOPLE", "record_linkage"]

MOST_PEOPLE = 1000


@dataclass(frozen=True)
class _Stated:
    """What the result of an attack reads of a release."""

    statement: PrivacyStatement


def record_linkage(
    original: DataFrame | SparkLog,
    released: DataFrame,
    statement: PrivacyStatement,
    truth: DataFrame,
    columns: Mapping[str, str] | None = None,
    *,
    most_people: int = MOST_PEOPLE,
) -> list[AttackResult]:
    """Link every published id to users of the log; truth: `id` and `user`."""
    if "user" not in released.columns:
        raise UserError(f"{statement.method} publishes no users: there is nobody to link.")
    log = original if isinstance(original, SparkLog) else SparkLog.of(original, columns, on_error="skip")
    asked = kept(log.events.groupBy("query", "user").agg(F.count("*").alias("asked")))
    blocks = asked.groupBy("query").agg(F.count("*").alias("size"))
    shown = released.groupBy(F.col("user").alias("id"), "query").agg(F.count("*").alias("shown"))
    sized = kept(shown.join(blocks, "query"))
    small = F.col("size") <= most_people
    pairs = sized.where(small).join(asked, "query")
    common = pairs.groupBy("id", "user").agg(F.sum(F.least("shown", "asked")).alias("common"))
    owner = truth.select("id", F.col("user").alias("owner")).distinct()
    best = common.groupBy("id").agg(F.max("common").alias("most"))
    at_best = common.join(best, "id").where(F.col("common") == F.col("most")).join(owner, "id", "left")
    linked = at_best.groupBy("id").agg(
        F.count("*").alias("linked"),
        F.max("most").alias("most"),
        F.bool_or(F.col("user") == F.col("owner")).alias("right"),
    )
    people = log.users.count()
    ids = released.select(F.col("user").alias("id")).distinct().join(owner, "id", "left")
    chances = ids.join(linked, "id", "left").select(
        "owner",
        F.coalesce("most", F.lit(0)).alias("most"),
        F.coalesce("linked", F.lit(people)).alias("linked"),
        F.when(F.coalesce("right", F.col("owner").isNotNull()), 1.0 / F.coalesce("linked", F.lit(people)))
        .otherwise(0.0)
        .alias("chance"),
    )
    chances = kept(chances)
    row: Any = chances.agg(F.count("*"), F.avg("chance"), F.avg("most"), F.avg("linked")).first()
    targets, rate = int(row[0]), float(row[1] or 0.0)
    out: Any = sized.agg(F.sum("shown"), F.sum(F.when(~small, F.col("shown")).otherwise(0))).first()
    left_out = float((out[1] or 0) / out[0]) if out[0] else 0.0
    details = {
        "mean queries in common with the linked": float(row[2] or 0.0),
        "mean users linked": float(row[3] or 0.0),
    }
    if left_out:
        details["share of rows in blocks left out"] = left_out
    about: About = {
        "question": "linkability",
        "risk": "link",
        "knows": "the whole log in clear" if not left_out else f"the log but for queries of > {most_people:,} people",
        "unit": "published id",
        "baseline": guessing(people),
        "bounded": True,
        "details": details,
    }
    return [rated_result("record-linkage", (rate, *wilson(rate, targets)), targets, _Stated(statement), **about)]  # type: ignore[arg-type]
