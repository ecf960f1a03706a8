"""Exposure of the other columns: values, such as clicked addresses, that one person alone has in the original log.

A text that many people asked and a URL that many clicked may together be one person's, and so may a text and a day.
Clicks of one person alone are counted like own texts. Texts that one person alone asked in their hour, day or week are
counted, too, but are no own texts: nearly every row is one in a small log, and what that is worth to an attacker is
what `timing` finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.releases.column_checks import people_per_click, people_per_pair
from querycloak.releases.columns import rounded
from querycloak.releases.release import CONCEPT_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["CLICK", "own_moment_share", "own_value_shares"]

CLICK: Final = "url with its text"
"""Name under which clicks, as pairs of a text and a URL, are counted."""


def own_value_shares(log: QueryLog, release: Release) -> dict[str, float]:
    """Return, for each published column of values, the share of rows with a value that one person alone has in the log.

    Texts of queries are counted by `exposure`, times by `own_moment_share`. Ranks are left out: none is one person's.
    So are paths and keys of items, which are from a public taxonomy, counts, and columns that the log does not have.
    """
    original = dict(_columns(log))
    out: dict[str, float] = {}
    for name, values in _columns(release.log):
        drawn = (name in {"category", CONCEPT_ID} and release.holds_concepts) or (
            name == "count" and not release.has_users
        )
        if name in original and not drawn:
            own = _of_one_person(original[name], log)
            out[name] = float(values.is_in(own.implode()).fill_null(value=False).mean() or 0.0)  # type: ignore[arg-type]
    if "url" in out and release.kind == "log":
        _, people = people_per_click(log, release.log)
        out[CLICK] = float((people == 1).sum() / len(release.log)) if len(release.log) else 0.0
    return out


def own_moment_share(log: QueryLog, release: Release) -> float | None:
    """Return the share of rows whose text one person alone asked at that published time; None without times."""
    table = release.log
    if table.time is None or log.time is None or release.kind != "log":
        return None
    grain = release.statement.time_grain
    asked = rounded(log.time, grain) if grain else log.time
    _, code = np.unique(np.concatenate([asked, table.time]), return_inverse=True)  # one code per moment of either
    moment = np.where(log.time == MISSING_TIME, NO_CODE, code[: len(log)])
    rows = np.flatnonzero(table.time != MISSING_TIME)
    people = people_per_pair(log, moment, table.queries, table.query[rows], code[len(log) :][rows])
    return float((people == 1).sum() / len(table)) if len(table) else 0.0


def _columns(table: QueryLog) -> Iterator[tuple[str, pl.Series]]:
    """Yield the columns of values as texts, one for each row; null where a row has none."""
    import polars as pl

    for name, codes, words in (("url", table.url, table.urls), ("category", table.category, table.categories)):
        if codes is not None and words is not None:
            yield name, words.gather(np.maximum(codes, 0)).set(pl.Series(codes < 0), None) if len(words) else words
    for column in () if table.extra is None else table.extra.get_columns():
        yield column.name, column.cast(pl.String)


def _of_one_person(values: pl.Series, log: QueryLog) -> pl.Series:
    """Return the values that one person alone has."""
    import polars as pl

    pairs = pl.DataFrame({"value": values, "user": log.user}).drop_nulls()
    people = pairs.group_by("value").agg(people=pl.col("user").n_unique())
    return people.filter(pl.col("people") == 1)["value"]
