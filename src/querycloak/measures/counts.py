"""How often each distinct query was asked, in a log and in a release, coded alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["query_counts"]


def query_counts(log: QueryLog, release: Release) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return (before, after): float64[distinct queries of both], counts of query events and of published rows.

    The codes are those of the log's vocabulary, then the queries that occur in the release only.
    """
    import polars as pl

    published = release.log
    after = np.bincount(published.query, weights=release.row_weights(), minlength=len(published.queries))
    before = np.bincount(log.query[log.event], minlength=len(log.queries)).astype(np.float64)
    known = pl.DataFrame({"text": log.queries, "code": np.arange(len(log.queries), dtype=np.int64)})
    code = pl.DataFrame({"text": published.queries}).join(known, on="text", how="left", maintain_order="left")["code"]
    new = code.is_null().to_numpy()
    index = code.fill_null(-1).to_numpy().copy()
    index[new] = len(log.queries) + np.arange(int(new.sum()))
    out = np.zeros(len(log.queries) + int(new.sum()))
    out[index] = after
    return np.concatenate([before, np.zeros(int(new.sum()))]), out
