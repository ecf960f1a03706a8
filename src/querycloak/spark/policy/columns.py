"""Rule `columns` on a cluster: which columns are published next to the query, and to which grain they are rounded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.spark.text_functions import on_texts

if TYPE_CHECKING:
    from pyspark.sql import Column

    from querycloak.methods.policy.rule_columns import Columns
    from querycloak.spark.policy.rows import PolicyRows

__all__ = ["choose_columns"]


def choose_columns(rows: PolicyRows, rule: Columns) -> PolicyRows:
    """Drop columns that are not to be published, and round numbers down."""
    kept = {rows.column(name) for name in rule.keep}
    rows = replace(rows, columns=tuple(name for name in rows.columns if name in kept))
    for name, grain in rule.round.items():
        column = rows.column(name)
        if column == "rank":
            rank = F.col("rank")
            rows = rows.with_columns({"rank": (rank - F.pmod(rank, F.lit(grain))).cast("int")})
        elif column is not None and column not in {"time", "url", "category"}:
            rows = rows.with_columns({column: _floored(F.col(column), grain)})
    return rows


def _floored(values: Column, grain: int) -> Column:
    """Round the numbers of a column down, as one machine reads them; what is no number stays out."""

    def floor(found: pa.Array) -> pa.Array:
        import polars as pl

        from querycloak.methods.policy.rule_columns import floored

        return floored(pl.Series(found), grain).to_arrow().cast(pa.int64())

    return on_texts(floor, T.LongType(), values)
