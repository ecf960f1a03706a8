"""Parquet: a table with typed columns (`logs/formats/typed.py`) in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from querycloak.logs.formats.typed import read_typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.logs.form import LogForm
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["read_parquet"]


def read_parquet(
    path: Path | Sequence[Path], options: ReadOptions, form: LogForm | None, *, source: Path | None = None
) -> QueryLog:
    """Read a Parquet file, or several of one schema as one table; times may be its own, numbers or text."""
    paths = [path] if isinstance(path, Path) else list(path)
    return read_typed(pl.scan_parquet(paths), source or paths[0], options, form)
