"""The queries that many users asked, their phrases and clicks, with noisy counts, on a cluster.

The method of one machine (`methods/dp/frequent_queries.py`): the same settings, bounds, thresholds and account. Noise
is drawn on the executors, by the names of items (`noise.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.methods.dp.frequent_queries import (
    FrequentQueries,
    korolova_shares,
    log_statement,
    table_statement,
    union_rule,
    union_shares,
)
from querycloak.releases.release import CountRelease, LogRelease
from querycloak.spark.dp.items import click_items, click_of, phrase_items, query_items
from querycloak.spark.dp.korolova import choose_queries, count_queries, first_queries
from querycloak.spark.dp.noise import describe_noise
from querycloak.spark.dp.set_union import choose_items, count_chosen
from querycloak.spark.new_ids import NewIds, all_digits
from querycloak.spark.spark_release import Draft

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Budget
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["frequent_queries"]


def frequent_queries(log: SparkLog, settings: FrequentQueries, random: Randomness, knowledge: Knowledge) -> Draft:
    """Publish what many users asked."""
    del knowledge
    choose = _korolova if settings.choose == "korolova" else _set_union
    rows, rule, budget = choose(log, settings, random)
    if settings.output_form == "log":
        return _filtered_log(log, rows, settings, random, rule)
    statement = table_statement(settings, rule, describe_noise(random), {})
    return Draft(CountRelease.kind, rows, statement, budget=budget)


def _set_union(
    log: SparkLog, settings: FrequentQueries, random: Randomness
) -> tuple[DataFrame, dict[str, float], Budget]:
    """Choose items by set union and count people: the rows of the table, and what was done."""
    budget, shares = union_shares(settings)
    rule: dict[str, float] = {}
    parts: list[DataFrame] = []
    queries: DataFrame | None = None
    for kind, mine in shares.items():
        plan = settings.plan(kind)
        items = _items(log, kind, settings, queries)
        chosen = choose_items(kind, items, plan, mine, random)
        rule |= union_rule(kind, chosen.rules)
        table = chosen.items
        if plan.count_share:
            table = count_chosen(kind, items, chosen.items, plan, mine, random)
        parts.append(_rows(kind, table, clicks=settings.clicks))
        queries = chosen.items if kind == "query" else queries
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.unionByName(part)
    return (rows if len(parts) > 1 or settings.items == "phrases" else rows.drop("kind")), rule, budget


def _items(log: SparkLog, kind: str, settings: FrequentQueries, queries: DataFrame | None) -> DataFrame:
    """Return the items of a kind; clicks are of `queries`, those that were chosen."""
    short = settings.weights == "short"
    if kind == "click" and queries is not None:
        return click_items(log, queries)
    return query_items(log, short=short) if kind == "query" else phrase_items(log, short=short)


def _rows(kind: str, table: DataFrame, *, clicks: bool) -> DataFrame:
    """Return rows of the published table: `query`, `url` where clicks were asked for, `count`, `kind`."""
    query, url = click_of() if kind == "click" else (F.col("item"), F.lit(None).cast("string"))
    count = ["count"] if "count" in table.columns else []
    return table.select(
        query.alias("query"), *([url.alias("url")] if clicks else []), *count, F.lit(kind).alias("kind")
    )


def _korolova(
    log: SparkLog, settings: FrequentQueries, random: Randomness
) -> tuple[DataFrame, dict[str, float], Budget]:
    """Choose and count queries with Laplace noise."""
    budget, to_choose, to_count = korolova_shares(settings)
    d = settings.per_user or 1
    chosen, rule = choose_queries(first_queries(log, d, random), d, to_choose, random)
    table = chosen if to_count is None else count_queries(chosen, d, to_count, random)
    return _rows("query", table, clicks=False).drop("kind"), rule, budget


def _filtered_log(
    log: SparkLog, chosen: DataFrame, settings: FrequentQueries, random: Randomness, rule: dict[str, float]
) -> Draft:
    """Publish the rows of the log whose query was chosen: no guarantee."""
    kept = log.events.select("user", "query").join(chosen.select("query"), "query", "left_semi")
    users = kept.select("user").distinct()
    ids = NewIds.of(users, random, avoid=log.users, digits=all_digits(log.users))
    rows = ids.put_on(kept).select(F.col("id").alias("user"), "query")
    counts = log.counts_in
    dropped = {
        "further clicks of a query": counts["rows"] - counts["query events"],
        "query not frequent enough": counts["query events"] - kept.count(),
    }
    fields = {"counts_in": counts, "counts_out": {}, "dropped": dropped}
    statement = log_statement(settings, rule, describe_noise(random), fields)
    return Draft(LogRelease.kind, rows, statement, truth=ids.put_on(users).select("id", "user"))
