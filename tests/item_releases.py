"""Releases of items put together by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from sample_releases import statement

from querycloak.logs.query_log import QueryLog, encode
from querycloak.releases.release import ItemRelease, Truth


def item_release(log, taxonomy, published, truth, *, method="clump", settings=None, **parameters):
    """Publish the concepts published[i] for the user truth[i]."""
    user = np.array([i for i, items in enumerate(published) for _ in items], dtype=np.int32)
    items = [c for row in published for c in row]
    label, labels = encode([taxonomy.label(c) for c in items])
    path, paths = encode([taxonomy.path(c) for c in items])
    ids = pl.Series([f"p{i:05d}" for i in range(len(published))], dtype=pl.String)
    table = replace(QueryLog(user, ids, label, labels), category=path, categories=paths)
    said = replace(statement(**parameters), method=method, settings=settings or {})
    return ItemRelease(table, said, Truth(np.array(truth, dtype=np.int32)))
