"""Exposure of the other columns: values, such as clicked addresses, that one person alone has in the original log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["own_value_shares"]


def own_value_shares(log: QueryLog, release: Release) -> dict[str, float]:
    """Return, for each published column of values, the share of rows with a value that one person alone has in the log.

    Texts of queries are counted by `exposure`. Times and ranks are left out: a moment is nearly always one person's,
    and a rank never. So are paths of items, which are from a public taxonomy, counts, and columns that the log does not
    have.
    """
    original = dict(_columns(log))
    out: dict[str, float] = {}
    for name, values in _columns(release.log):
        drawn = (name == "category" and release.holds_concepts) or (name == "count" and not release.has_users)
        if name in original and not drawn:
            own = _of_one_person(original[name], log)
            out[name] = float(values.is_in(own.implode()).fill_null(value=False).mean() or 0.0)  # type: ignore[arg-type]
    return out


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
