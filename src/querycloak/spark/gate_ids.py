"""The gate's check of ids: none of the log is published, and each stands for one person of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.releases.checks import broken
from querycloak.spark.kept import kept

if TYPE_CHECKING:
    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import Draft

__all__ = ["check_ids", "check_kind"]


def check_kind(draft: Draft) -> None:
    """Check that a table has users just where its kind says so, and counts where it has none."""
    statement, columns = draft.statement, draft.frame.columns
    if draft.kind == "counts":
        if "user" in columns or draft.truth is not None:
            raise broken(statement, "counts are said to be published, and users are")
        if "count" not in columns:
            raise broken(statement, "counts are said to be published, and there are none")
    elif "user" not in columns:
        raise broken(statement, "rows of users are said to be published, and there are no users")
    elif statement.ids == "none":
        raise broken(statement, "ids are published, and it is said that there are none")


def check_ids(draft: Draft, log: SparkLog) -> None:
    """Check that no id of the log is published, and that each published id stands for one person of the log."""
    statement = draft.statement
    ids = draft.ids
    if statement.new_ids:
        ours = log.users.select(F.lower("user").alias("lower"))
        known = ids.join(ours, F.lower(ids["user"]) == ours["lower"], "left_semi").count()
        if known:
            raise broken(statement, f"{known:,} published ids are ids of the log")
    if statement.ids == "invented":
        if draft.truth is not None:
            raise broken(statement, "ids are said to be invented, and it is known whom they stand for")
        if not statement.new_ids:
            raise broken(statement, "ids are said to be invented, and are not new")
        if statement.unit != "user" or not statement.parameters.get("epsilon"):
            raise broken(statement, "ids are said to be invented, and differential privacy of users is not promised")
        return
    if draft.truth is None:
        raise broken(statement, "users are published, and it is not said whom their ids stand for")
    if statement.ids != "person" and statement.unit != "query" and (statement.model != "none" or statement.parameters):
        raise broken(statement, "a person may have several ids, and a bound for people is promised")
    truth = kept(draft.truth.select("id", "user").distinct())
    pairs, distinct_ids, users = truth.select(F.count("*"), F.countDistinct("id"), F.countDistinct("user")).first() or (
        0,
        0,
        0,
    )
    if pairs != distinct_ids:
        raise broken(statement, "two published users have the same id")
    if statement.ids == "person" and pairs != users:
        raise broken(statement, "two published ids stand for one person")
    unknown = ids.join(truth, ids["user"] == truth["id"], "left_anti").count()
    if unknown:
        raise broken(statement, f"of {unknown:,} published ids it is not said whom they stand for")
    nobody = truth.join(log.users, "user", "left_anti").count()
    if nobody:
        raise broken(statement, f"{nobody:,} published ids stand for nobody of the log")
