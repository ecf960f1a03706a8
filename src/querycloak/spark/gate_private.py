"""The gate's check of what a differentially private table and its statement show of the log besides the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.releases.checks import OF_MECHANISMS, broken

if TYPE_CHECKING:
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import Draft

__all__ = ["check_public"]

KINDS: Final = ("query", "phrase", "click")
DAY: Final = 86_400


def check_public(draft: Draft, log: SparkLog) -> None:
    """Check that a differentially private release shows nothing of the log but through its noise."""
    statement, frame = draft.statement, draft.frame
    if any(not name.startswith(OF_MECHANISMS) for name in statement.parameters):
        raise broken(statement, "the statement holds numbers that are no bound and no setting of its noise")
    if statement.counts_in or statement.dropped or statement.figures:
        raise broken(statement, "the statement holds exact counts of the log, which are not private")
    if "user" in frame.columns and not statement.new_ids:
        raise broken(statement, "ids of the log are published, which are not private")
    paid = {"user", "query", "count", *(("category",) if draft.kind == "items" else ())}
    paid |= _chosen_columns(draft)
    kept = [name for name in frame.columns if name not in paid]
    if kept:
        raise broken(statement, f"columns of the log are published as they were: {', '.join(kept)}")
    if "count" in frame.columns and not isinstance(frame.schema["count"].dataType, (T.IntegerType, T.LongType)):
        raise broken(statement, "counts are no whole numbers; what is left after the point tells of the noise")
    if statement.mapping_learned:
        raise broken(statement, "the mapping was learned from the log; only public knowledge may be used")
    if log.columns_found:
        raise broken(statement, "which column is which was found among the records, and one user's may decide it")


def _chosen_columns(draft: Draft) -> set[str]:
    """Return the columns that a table may have because its budget paid for what is in them."""
    statement, frame = draft.statement, draft.frame
    with_users = "user" in frame.columns
    if with_users and statement.ids != "invented":
        return set()
    noisy: set[str] = set()
    if any(line.delta > 0 and line.purpose.startswith("threshold of clicks") for line in statement.account):
        noisy.add("url")
    if with_users:
        return (noisy | {"time"}) if "time" in frame.columns and _of_calendar(draft, statement) else noisy
    if "kind" in frame.columns and not frame.where(~F.col("kind").isin(*KINDS) | F.col("kind").isNull()).head(1):
        noisy.add("kind")
    return noisy


def _of_calendar(draft: Draft, statement: PrivacyStatement) -> bool:
    """Tell whether times may be drawn: their hours have a rho, and all are of the days that the settings name."""
    paid = any(line.rho > 0 and line.purpose == "hours of the week" for line in statement.account)
    first, days = statement.settings.get("start"), statement.settings.get("days")
    if not paid or not isinstance(first, str) or not isinstance(days, int):
        return False
    begin = int(np.datetime64(first, "s").astype(np.int64))
    time = F.col("time")
    return not draft.frame.where((time < begin) | (time >= begin + days * DAY) | time.isNull()).head(1)
