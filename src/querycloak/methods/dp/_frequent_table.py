"""The table of `frequent-queries`: its rows in an order that tells nothing, and what its statement says."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.texts.compared import code_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["PlainRows", "count_table", "covers", "does_not_cover"]

Int64s = npt.NDArray[np.int64]


class PlainRows(NamedTuple):
    """Rows of one kind of items."""

    kind: str
    """`query`, `phrase` or `click`"""
    code: Int64s
    text: pl.Series
    url: Int64s | None
    """int64[rows], codes of URLs of the log; None = rows of this kind have none"""
    counts: Int64s | None
    """int64[rows], with noise; None = only the choice was asked for"""


def count_table(log: QueryLog, parts: Sequence[PlainRows]) -> QueryLog:
    """Make the published table: the largest count first, equal counts by text, so that its order tells nothing.

    A column `kind` tells queries, phrases and clicks apart where there is more than one kind: the same text may be a
    query and a phrase, with different counts.
    """
    import polars as pl

    frames = [
        pl.DataFrame(
            {
                "query": part.text,
                "url": np.full(len(part.code), NO_CODE, np.int64) if part.url is None else part.url,
                "count": part.counts,
                "kind": pl.Series([part.kind] * len(part.code), dtype=pl.String),
            },
            schema_overrides={"count": pl.Int64},
        )
        for part in parts
    ]
    frame = pl.concat(frames)
    used = np.unique(frame["url"].to_numpy())
    used = used[used >= 0]
    urls = pl.Series([], dtype=pl.String) if log.urls is None else log.urls.gather(used)
    known = pl.DataFrame({"url": used, "address": urls})
    frame = frame.join(known, on="url", how="left", maintain_order="left")
    frame = frame.sort(["count", "query", "kind", "address"], descending=[True, False, False, False])
    query, first = code_texts(frame["query"])
    clicks = any(part.url is not None for part in parts)
    address, first_url = code_texts(frame["address"].drop_nulls())
    url = np.full(len(frame), NO_CODE, dtype=np.int32)
    url[frame["address"].is_not_null().to_numpy()] = address
    return QueryLog(
        user=np.zeros(len(frame), dtype=np.int32),
        users=pl.Series(["all"] if len(frame) else [], dtype=pl.String),
        query=query.astype(np.int32),
        queries=frame["query"].gather(first),
        url=url if clicks else None,
        urls=frame["address"].drop_nulls().gather(first_url) if clicks else None,
        extra=frame.select("count", "kind") if len(parts) > 1 or parts[0].kind != "query" else frame.select("count"),
        form=log.form,
    )


def covers(epsilon: float, delta: float) -> tuple[str, ...]:
    """Return what the guarantee says."""
    promise = (
        f"without any one user, any table would have been as likely, up to a factor of exp({epsilon:g}) and "
        f"an exception of probability {delta:g}"
    )
    return (promise,)


def does_not_cover(*, table: bool, people: bool, adds_up: str) -> tuple[str, ...]:
    """Return what stays open; `people` = counts are of people; `adds_up` = what further releases cost."""
    if not table:
        noisy = "only the choice of queries is noisy, rows and their number per user are published as they were"
        return (
            f"the log is not differentially private: {noisy}",
            "all chosen queries of a user stay under one id",
            "queries are published verbatim",
        )
    return (
        "published texts are verbatim: a secret that many users share is published",
        *(("counts are of people, and are too low where people have many of the published items",) if people else ()),
        adds_up,
    )
