"""The gate on a cluster: what a statement promises is counted again on the finished table, by jobs of its own.

The same promises as on one machine (`releases/publish.py`), checked by Spark: nothing of a method is trusted, and
nothing that grows with the log comes to the driver.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from querycloak.releases import checks
from querycloak.spark.gate_classes import check_classes
from querycloak.spark.gate_columns import check_columns
from querycloak.spark.gate_ids import check_ids, check_kind
from querycloak.spark.gate_people import Asked
from querycloak.spark.gate_private import check_public
from querycloak.spark.gate_stream import check_stream
from querycloak.spark.gate_texts import check_identifiers, check_texts, published_readings
from querycloak.spark.knowledge import Knowledge
from querycloak.spark.spark_release import Seal, SparkRelease

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import Draft

__all__ = ["publish"]


def publish(draft: Draft, log: SparkLog, knowledge: Knowledge) -> SparkRelease:
    """Check everything that the statement promises, then make the release."""
    checks.check_promises(draft.statement)
    check_kind(draft)
    private = "epsilon" in draft.statement.parameters
    also = {} if private else draft.statement.counts_out  # such as its clusters; what is counted here stands as counted
    draft = draft.stating(replace(draft.statement, counts_out=_counted(draft, also)))
    if "user" in draft.frame.columns:
        check_ids(draft, log)
    check_classes(draft)
    check_stream(draft)
    account = draft.budget.lines if private and draft.budget is not None else ()
    draft = draft.stating(replace(draft.statement, account=account))  # what was spent, whatever is said
    if private:
        checks.check_budget(draft.statement, draft.budget)
        check_public(draft, log)
    if draft.kind == "stream":  # who is famous is asked of WordNet, whatever the categories are of, as on one machine
        knowledge = Knowledge.of(draft.frame.sparkSession)
    readings = published_readings(draft)
    asked = Asked.of(log, draft.statement)
    check_texts(draft, knowledge, readings, asked)
    check_identifiers(draft, knowledge, readings, asked)
    check_columns(draft, readings, asked)
    return SparkRelease(draft.kind, draft.frame, draft.statement, draft.truth, Seal.of(draft.frame, draft.statement))


def _counted(draft: Draft, also: Mapping[str, int]) -> dict[str, int]:
    """Count the table, for the statement. `also` are counts that only the method knows."""
    from pyspark.sql import functions as F  # noqa: N812

    no_text = F.count_if(F.col("query").isNull())
    rows, without = draft.frame.select(F.count("*"), no_text).first() or (0, 0)
    if without:
        raise checks.broken(draft.statement, "a row without a text is published")
    if draft.kind == "counts" and "epsilon" in draft.statement.parameters:
        return {"rows": rows}
    found = {"rows": rows}
    if "user" in draft.frame.columns:
        found["users"] = draft.ids.where(F.col("user").isNotNull()).count()
    concepts = {"category", "count"} <= set(draft.frame.columns)
    texts = draft.frame.select("query", "category").dropna().distinct() if concepts else draft.texts
    found["distinct queries"] = texts.count()
    return {**found, **{name: n for name, n in also.items() if name not in found}}
