"""A log as a table with texts again: what a Parquet file of it would hold, for Polars, pandas and Arrow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from querycloak.errors import UserError
from querycloak.logs.column_texts import typed_column
from querycloak.logs.output_form import form_for_name
from querycloak.logs.sink import TSV, fit_form, without_raw_json

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from querycloak.logs.query_log import QueryLog

__all__ = ["as_arrow", "as_pandas", "table_of"]


def table_of(log: QueryLog, without: frozenset[str] = frozenset()) -> pl.DataFrame:
    """Return the columns of a log as `write_log` would put them into a Parquet file, with ranks as numbers.

    `without` are roles left out.
    """
    form = fit_form(log, form_for_name("log.parquet", log.form or TSV), without)
    columns = tuple(replace(c, kind="number") if c.role == "rank" else c for c in form.columns)
    form = replace(form, columns=columns)
    log = without_raw_json(log, form)
    return pl.DataFrame([typed_column(log, column, form).alias(column.name) for column in form.columns])


def as_pandas(table: pl.DataFrame) -> pd.DataFrame:
    """Return a table of pandas."""
    try:
        return table.to_pandas()
    except ImportError:
        raise UserError("A table of pandas needs pandas and pyarrow: pip install pandas pyarrow.") from None


def as_arrow(table: pl.DataFrame) -> pa.Table:
    """Return a table of Arrow."""
    try:
        return table.to_arrow()
    except ImportError:
        raise UserError("A table of Arrow needs pyarrow, which is not installed: pip install pyarrow.") from None
