"""The checks of the gate on times and clicks, and who of the log has a text together with a URL or a time.

Nothing of `releases/columns.py` is trusted: a person has a published text with a URL if one of the person's rows with
that URL has a query that is the text or holds it as a run of words, by its letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.logs.durations import DAY, round_down, seconds_of
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.releases._holders import holding_queries
from querycloak.releases.checks import broken
from querycloak.releases.kinds import KIND_NAMES
from querycloak.texts.compared import compared
from querycloak.texts.urls import urls_that_identify, urls_with_names

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["check_columns", "is_of_grain", "is_written_of_grain", "people_per_click", "people_per_pair"]

MINUTE: Final = 60

Ints = npt.NDArray[np.integer[Any]]
Int64s = npt.NDArray[np.int64]


def check_columns(
    table: QueryLog, statement: PrivacyStatement, original: QueryLog, readings: pl.Series | None = None
) -> None:
    """Check that times and clicks are published as the settings ask and the statement promises, and no others."""
    settings = statement.settings
    if "keep" in settings:
        kept = str(settings["keep"]).split(",")
        _check_asked(statement, table, "time", ("time",), asked="time" in kept)
        _check_asked(statement, table, "clicks", ("url", "rank"), asked="clicks" in kept)
        _check_further(statement, table)
        if table.time is not None and statement.time_grain != settings["time_grain"]:
            raise broken(statement, "times are published, and not the grain promised that was asked for")
        if table.url is not None and statement.click_users < (settings.get("min_query_users") or 1):
            raise broken(statement, "clicks of fewer people are promised than were asked for")
    if statement.time_grain and (table.time is None or not is_of_grain(table.time, statement.time_grain)):
        raise broken(statement, f"times are promised by the {statement.time_grain}, and others are published")
    if statement.click_users:
        _check_clicks(table, statement, original, readings)


def _check_asked(
    statement: PrivacyStatement, table: QueryLog, what: str, columns: tuple[str, ...], *, asked: bool
) -> None:
    if not asked and any(getattr(table, name) is not None for name in columns):
        raise broken(statement, f"{what} are published, and were not asked for")


def _check_further(statement: PrivacyStatement, table: QueryLog) -> None:
    """Check that there is no further column but the kind of each row, where that was asked for."""
    further = [] if table.extra is None else table.extra.columns
    if table.extra is not None and "kind" in further and statement.settings.get("kinds") == "column":
        further = [name for name in further if name != "kind"]
        if not table.extra["kind"].is_in(KIND_NAMES).all():
            raise broken(statement, "the column kind holds something else")
    if further or table.category is not None:
        raise broken(statement, "further columns are published, and were not asked for")


def _check_clicks(table: QueryLog, statement: PrivacyStatement, original: QueryLog, readings: pl.Series | None) -> None:
    """Check that enough people share each click, ranks too, and that no URL identifies anybody."""
    if table.url is None or table.urls is None:
        raise broken(statement, "clicks are promised, and there are none")
    machine_rows = statement.settings.get("max_rows_per_user")
    if statement.click_users > 1:
        clicked = table.url != NO_CODE
        if table.rank is not None and (table.rank[~clicked] != NO_CODE).any():
            raise broken(statement, "ranks are published without their clicks")
        for ranked in (False, True) if table.rank is not None else (False,):
            _, people = people_per_click(original, table, readings, ranked=ranked, most_rows=machine_rows)
            rare = int((people < statement.click_users).sum())
            if rare:
                what = "clicks with their ranks" if ranked else "clicks"
                raise broken(statement, f"{rare:,} {what} are of fewer than {statement.click_users} people")
    if statement.identifiers_dropped:
        found = int((urls_that_identify(table.urls) | urls_with_names(table.urls)).sum())
        if found:
            raise broken(statement, f"{found:,} published URLs hold an identifier, a session id or a name")


def is_of_grain(time: Int64s, grain: str) -> bool:
    """Tell whether every time that there is begins a grain, as an hour, a week or 10m (UTC; weeks begin on Monday)."""
    known = time[time != MISSING_TIME].astype("datetime64[s]")
    begin = {"hour": known.astype("datetime64[h]"), "day": known.astype("datetime64[D]")}
    # the unit W of NumPy counts from a Thursday; three days later it counts from a Monday
    begin["week"] = (known + np.timedelta64(3, "D")).astype("datetime64[W]").astype("datetime64[s]") - np.timedelta64(
        3, "D"
    )
    if grain in begin:
        return bool((begin[grain].astype("datetime64[s]") == known).all())
    size = seconds_of(grain)
    since = known.astype(np.int64) + (3 * DAY if size is not None and size % (7 * DAY) == 0 else 0)
    return size is not None and bool((since % size == 0).all())


def is_written_of_grain(time: Int64s, grain: str) -> bool:
    """Tell the same of times that were read from a file, which may be written in minutes or days.

    A time that was rounded down to 7s and written in minutes is the minute in which it is: some multiple of 7s is in
    that minute.
    """
    known = time[time != MISSING_TIME]
    if is_of_grain(known, grain):
        return True
    size = next((size for size in (DAY, MINUTE) if (known % size == 0).all()), 1)
    return seconds_of(grain) is not None and bool((round_down(known + size - 1, grain) >= known).all())


def people_per_click(
    original: QueryLog,
    table: QueryLog,
    readings: pl.Series | None = None,
    *,
    ranked: bool = False,
    most_rows: int | None = None,
) -> tuple[Int64s, Int64s]:
    """Return the rows of a table with a click, and how many people share text and URL of each: int64[rows].

    With `ranked`, the rows with a rank, and how many people share that too.
    """
    import polars as pl

    if table.url is None or table.urls is None or original.url is None or original.urls is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero((table.rank if ranked and table.rank is not None else table.url) != NO_CODE)
    # one code for each URL of both vocabularies
    both = (pl.concat([original.urls, table.urls]).rank("dense").cast(pl.Int64) - 1).to_numpy()
    ours, theirs = np.append(both[: len(original.urls)], -1)[original.url], np.append(both[len(original.urls) :], -1)
    with_url = theirs[table.url[rows]]
    if ranked and table.rank is not None and original.rank is not None:
        width = np.int64(max(int(original.rank.max(initial=0)), int(table.rank.max(initial=0))) + 2)
        ours = np.where((ours >= 0) & (original.rank >= 0), ours * width + original.rank, NO_CODE)
        with_url = with_url * width + table.rank[rows]
    texts = table.queries if readings is None else readings
    return rows, people_per_pair(original, ours, texts, table.query[rows], with_url, most_rows)


def people_per_pair(
    original: QueryLog, value: Ints, texts: pl.Series, text: Ints, with_value: Ints, most_rows: int | None = None
) -> Int64s:
    """int64[n]: how many people of the log have the text text[i] (into `texts`) together with the value with_value[i].

    `value` int[rows of the log] is the value of each row of the log, -1 = none. Ids with more than `most_rows` rows
    count as nobody.
    """
    import polars as pl

    counted = value != NO_CODE
    if most_rows is not None:
        counted &= (np.bincount(original.user, minlength=len(original.users)) <= most_rows)[original.user]
    wanted = pl.DataFrame({"text": text, "value": with_value}, schema={"text": pl.Int64, "value": pl.Int64})
    asked = pl.DataFrame(
        {"query": original.query, "value": value, "user": original.user},
        schema={"query": pl.Int64, "value": pl.Int64, "user": pl.Int64},
    ).filter(pl.Series(counted))
    asked = asked.join(wanted.select("value").unique(), on="value", how="semi").unique()
    held = _held_texts(original.queries, asked["query"], texts, wanted["text"])
    # Each row of the log has all texts that its query holds: few more than rows, however many queries hold a text.
    people = (
        asked.join(held, on="query")
        .join(wanted.unique(), on=["text", "value"], how="semi")
        .group_by("text", "value")
        .agg(people=pl.col("user").n_unique())
    )
    found = wanted.join(people, on=["text", "value"], how="left", maintain_order="left")["people"]
    return np.asarray(found.fill_null(0).to_numpy(), dtype=np.int64)


def _held_texts(queries: pl.Series, asked: pl.Series, texts: pl.Series, wanted: pl.Series) -> pl.DataFrame:
    """Return the texts, of those `wanted`, that each query of those `asked` is or holds: columns query and text."""
    import polars as pl

    query, text = (np.unique(codes.to_numpy()) for codes in (asked, wanted))
    query, text = query[query != NO_CODE], text[text != NO_CODE]
    ours, theirs = compared(queries.gather(query)), compared(texts.gather(text))
    held = holding_queries(ours, theirs)
    pairs = [(query[held.values], text[held.owner])]
    nothing = np.flatnonzero((ours == "").to_numpy())  # no words, so no run of words
    pairs += [(query[nothing], np.full(len(nothing), t)) for t in text[(theirs == "").to_numpy()]]
    return pl.concat(
        pl.DataFrame({"query": q, "text": t}, schema={"query": pl.Int64, "text": pl.Int64}) for q, t in pairs
    )
