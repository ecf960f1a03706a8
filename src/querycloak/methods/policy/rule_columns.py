"""Rule `columns`: which columns are published next to the query, and to which grain their numbers are rounded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from querycloak.logs.query_log import NO_CODE
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.methods.policy.draft import Draft, Help

__all__ = ["ROLES", "Columns", "choose_columns", "columns_of", "floored", "without_columns"]

ROLES: Final = ("time", "rank", "url", "category")
"""Columns that every log may have; others go by their name in the file."""


@dataclass(frozen=True)
class Columns(Rule):
    """Settings of `columns`."""

    name: ClassVar[str] = "columns"

    keep: tuple[str, ...] = setting((), "columns to publish: time, rank, url, category, or others of the log by name")
    round: dict[str, int] = field(
        default_factory=dict, metadata={"help": "numbers of a column are rounded down to multiples of this"}
    )


def choose_columns(draft: Draft, rule: Columns, given: Help) -> Draft:  # noqa: ARG001 - rules are called alike
    """Drop columns that are not to be published, and round numbers down."""
    table = without_columns(draft.table, rule.keep)
    for name, grain in rule.round.items():
        table = _rounded(table, name, grain)
    return replace(draft, table=table)


def columns_of(table: QueryLog) -> list[str]:
    """Return the columns of a table next to user and query."""
    named = [name for name in ROLES if getattr(table, name) is not None]
    return named + ([] if table.extra is None else table.extra.columns)


def without_columns(table: QueryLog, keep: tuple[str, ...]) -> QueryLog:
    """Return a table without the columns that are not named."""
    words = {"url": "urls", "category": "categories"}
    gone: dict[str, Any] = {name: None for name in ROLES if name not in keep}
    gone |= {words[name]: None for name in gone if name in words}
    extra = [] if table.extra is None else [name for name in table.extra.columns if name in keep]
    return replace(table, **gone, extra=table.extra.select(extra) if table.extra is not None and extra else None)


def _rounded(table: QueryLog, name: str, grain: int) -> QueryLog:
    """Round the numbers of a column; what is no number stays out."""
    if name == "rank" and table.rank is not None:
        rank = np.where(table.rank == NO_CODE, NO_CODE, table.rank // grain * grain)
        return replace(table, rank=rank.astype(np.int32))
    if table.extra is None or name not in table.extra.columns:
        return table
    return replace(table, extra=table.extra.with_columns(floored(table.extra[name], grain)))


def floored(values: pl.Series, grain: int) -> pl.Series:
    """Round numbers down to multiples of a grain; what is no number is missing."""
    import polars as pl

    return ((values.cast(pl.Float64, strict=False) // grain) * grain).cast(pl.Int64, strict=False)
