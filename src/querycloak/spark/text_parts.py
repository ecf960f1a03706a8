"""Rows as parts of text, by the writer of one machine: the same lines, quotes, apostrophes and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from querycloak.logs.formats.json_text import json_blocks, record_end
from querycloak.logs.formats.table_text import table_blocks
from querycloak.logs.query_log import MISSING_TIME, NO_CODE, QueryLog
from querycloak.logs.sink import JSON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

    from querycloak.logs.form import LogForm

__all__ = ["as_query_log", "text_of"]

CODED = {"user": "users", "query": "queries", "url": "urls", "category": "categories"}


def text_of(frame: DataFrame, form: LogForm, shown: str) -> DataFrame:
    """Return `value`: the lines of each partition, its header first, without the last line end.

    A partition is one file, and one without rows has no header: it is no file at all.
    """
    return frame.mapInArrow(_writing(form, shown), "value string")


def _writing(form: LogForm, shown: str) -> Callable[[Any], Iterator[pa.RecordBatch]]:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = True
        for batch in batches:
            if not len(batch):
                continue
            log = as_query_log(batch)
            part = form if first else replace(form, header=False)
            blocks = (json_blocks if form.format in JSON else table_blocks)(log, part, shown)
            text = record_end(form).join(block.decode() for block in blocks if block)
            first = False
            yield pa.RecordBatch.from_arrays([pa.array([text], pa.string())], names=["value"])

    return write


def as_query_log(rows: pa.RecordBatch | pa.Table) -> QueryLog:
    """Return rows, with columns by their roles, as a log of one machine."""
    import polars as pl

    found: dict[str, Any] = {"user": np.zeros(len(rows), np.int32), "users": pl.Series(["*"], dtype=pl.String)}
    extra = {}
    for name in rows.schema.names:
        column = rows.column(name)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if name in CODED:
            coded = column.dictionary_encode()
            coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
            found[name] = np.asarray(coded.indices.fill_null(NO_CODE).to_numpy(zero_copy_only=False), dtype=np.int32)
            found[CODED[name]] = pl.Series(coded.dictionary.cast(pa.large_string()))
        elif name == "time":
            found[name] = np.asarray(column.fill_null(MISSING_TIME).to_numpy(zero_copy_only=False), dtype=np.int64)
        elif name == "rank":
            found[name] = np.asarray(column.fill_null(NO_CODE).to_numpy(zero_copy_only=False), dtype=np.int32)
        else:
            extra[name] = pl.from_arrow(column)
    return QueryLog(**found, extra=pl.DataFrame(extra) if extra else None)
