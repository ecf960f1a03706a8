"""Parquet: a table with typed columns (`logs/formats/typed.py`) in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from querycloak.logs.formats.typed import read_typed

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.logs.form import LogForm
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["read_parquet"]


def read_parquet(path: Path, options: ReadOptions, form: LogForm | None) -> QueryLog:
    """Read a Parquet file; times may be its own, numbers or text."""
    return read_typed(pl.scan_parquet(path), path, options, form)
