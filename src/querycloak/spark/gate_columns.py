"""The gate's checks of times and clicks on a cluster: the promises of `releases/column_checks.py`.

A person has a published text with a URL if one of the person's rows with that URL has a query that is the text or holds
it, by its letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.releases.checks import broken
from querycloak.releases.kinds import KIND_NAMES
from querycloak.spark.kept import kept
from querycloak.spark.text_functions import compared_text, on_texts, series_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.spark.gate_people import Asked
    from querycloak.spark.spark_release import Draft

__all__ = ["check_columns"]

SECONDS: Final = {"hour": 3_600, "day": 86_400, "week": 604_800, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
FROM_THURSDAY: Final = 3 * 86_400
"""1970 began on a Thursday, three days after a Monday"""


def check_columns(draft: Draft, readings: DataFrame, asked: Asked) -> None:
    """Check that times and clicks are published as the settings ask and the statement promises, and no others."""
    statement, columns = draft.statement, draft.frame.columns
    settings = statement.settings
    if "keep" in settings:
        kept = str(settings["keep"]).split(",")
        if "time" not in kept and "time" in columns:
            raise broken(statement, "time are published, and were not asked for")
        if "clicks" not in kept and {"url", "rank"} & {*columns}:
            raise broken(statement, "clicks are published, and were not asked for")
        _check_further(draft)
        if "time" in columns and statement.time_grain != settings["time_grain"]:
            raise broken(statement, "times are published, and not the grain promised that was asked for")
        if "url" in columns and statement.click_users < (settings.get("min_query_users") or 1):
            raise broken(statement, "clicks of fewer people are promised than were asked for")
    if statement.time_grain and not _is_of_grain(draft):
        raise broken(statement, f"times are promised by the {statement.time_grain}, and others are published")
    if statement.click_users:
        _check_clicks(draft, readings, asked)


def _check_further(draft: Draft) -> None:
    """Check that there is no further column but the kind of each row, where that was asked for."""
    statement, columns = draft.statement, {*draft.frame.columns}
    if "kind" in columns and statement.settings.get("kinds") == "column":
        columns.remove("kind")
        if draft.frame.where(~F.coalesce(F.col("kind").isin(*KIND_NAMES), F.lit(False))).head(1):
            raise broken(statement, "the column kind holds something else")
    if columns - {"user", "query", "time", "rank", "url"}:
        raise broken(statement, "further columns are published, and were not asked for")


def _is_of_grain(draft: Draft) -> bool:
    """Tell whether every time that there is begins a grain (UTC; weeks begin on Monday)."""
    if "time" not in draft.frame.columns:
        return False
    grain = draft.statement.time_grain
    unit = SECONDS.get(grain) or (int(grain[:-1]) * SECONDS.get(grain[-1], 0) if grain[:-1].isdigit() else 0)
    if not unit:
        return False
    since = F.col("time") + (FROM_THURSDAY if unit % SECONDS["week"] == 0 else 0)
    return not draft.frame.where(since % unit != 0).head(1)


def _check_clicks(draft: Draft, readings: DataFrame, asked: Asked) -> None:
    """Check that enough people share each click, ranks too, and that no URL identifies anybody."""
    statement, frame = draft.statement, draft.frame
    if "url" not in frame.columns:
        raise broken(statement, "clicks are promised, and there are none")
    clicked = F.col("url").isNotNull()
    if statement.click_users > 1:
        if "rank" in frame.columns and frame.where(~clicked & F.col("rank").isNotNull()).head(1):
            raise broken(statement, "ranks are published without their clicks")
        texts = frame.where(clicked).select(F.col("query").alias("text")).distinct().join(readings, "text")
        forms = kept(texts.select("text", compared_text(F.col("reading")).alias("form")))
        held = kept(asked.holding(forms.select(F.col("form").alias("text")).distinct(), parts=True))
        for value in (["url"], ["url", "rank"]) if "rank" in frame.columns else (["url"],):
            rare = _rare(draft, asked, forms, held, value)
            if rare:
                what = "clicks with their ranks" if "rank" in value else "clicks"
                raise broken(statement, f"{rare:,} {what} are of fewer than {statement.click_users} people")
    if statement.identifiers_dropped:
        urls = kept(frame.where(clicked).select("url").distinct())  # each looked at once
        found = urls.where(on_texts(_tell, T.BooleanType(), F.col("url"))).count()
        if found:
            raise broken(statement, f"{found:,} published URLs hold an identifier, a session id or a name")


def _rare(draft: Draft, asked: Asked, forms: DataFrame, held: DataFrame, value: list[str]) -> int:
    """Count the published clicks that too few people share.

    forms: of each published `text` the `form` in which it is compared; held: the queries that hold each form (`text`),
    by their `number`.
    """
    there = F.col(value[-1]).isNotNull()
    rows = draft.frame.where(there).select(F.col("query").alias("text"), *value)
    pairs = rows.groupBy("text", *value).agg(F.count("*").alias("rows")).join(forms, "text")
    pairs = pairs.select(F.col("form").alias("text"), *value, "rows")
    if not {*value} <= {*asked.rows.columns}:
        return pairs.count()
    ours = asked.rows.where(there & F.col("url").isNotNull())
    with_text = ours.select("person", "number", *value).distinct().join(held, "number")
    people = with_text.groupBy("text", *value).agg(F.countDistinct("person").alias("people"))
    enough = people.where(F.col("people") >= draft.statement.click_users).select("text", *value)
    return (pairs.join(enough, ["text", *value], "left_anti").agg(F.sum("rows")).first() or (0,))[0] or 0


def _tell(urls: pa.Array) -> pa.Array:
    """Tell which URLs hold what may stand for one person."""
    from querycloak.texts.urls import urls_that_identify, urls_with_names

    series = series_of(urls)
    return pa.array(urls_that_identify(series) | urls_with_names(series))
