"""The column `kind` of a release: whether each row is a query, a phrase or a label. For research inside the house."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.releases.table import NewTable

__all__ = ["KIND_NAMES", "with_kinds"]

KIND_NAMES: Final = ("query", "phrase", "label")
"""Names by the codes of `texts/phrases.py`: QUERY, PHRASE, LABEL."""


def with_kinds(table: NewTable, kind: npt.NDArray[np.integer[Any]]) -> NewTable:
    """Return a table with the column `kind`; kind: int[m], of the rows in the order in which they were handed over."""
    import polars as pl

    names = pl.Series("kind", KIND_NAMES, dtype=pl.String).gather(kind[table.entry].astype(np.int64))
    extra = names.to_frame() if table.log.extra is None else table.log.extra.with_columns(names)
    return table._replace(log=replace(table.log, extra=extra))
