"""Rule `combination_users`: a click is left out where too few people share query and URL, with further columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.methods.policy.draft import Draft, Help, counted_people, form_codes, joint_codes, period_of
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = ["CombinationUsers", "drop_rare_clicks"]

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CombinationUsers(Rule):
    """Settings of `combination_users`."""

    name: ClassVar[str] = "combination_users"
    required: ClassVar[tuple[str, ...]] = ("people",)

    people: int = setting(1, "so many people must share query and columns", minimum=1)
    columns: tuple[str, ...] = setting(("url",), "columns next to the query; those that the log lacks are passed over")
    days: int | None = setting(
        None, "within one period of so many days, counted from the first day", minimum=1, shown="the whole log"
    )


def drop_rare_clicks(draft: Draft, rule: CombinationUsers, given: Help) -> Draft:  # noqa: ARG001 - called alike
    """Empty the columns of rows whose combination too few people share within the row's period.

    Of an event whose clicks are all left out, one row stays. Rows whose time is missing are in no period.
    """
    table = draft.table
    found = {name: codes for name in rule.columns if (codes := codes_of(table, name)) is not None}
    if not found or not len(draft):
        return draft
    columns = list(found)
    form, _ = form_codes(table.queries)
    period = period_of(draft, rule.days)
    combination = joint_codes(form[table.query], period, *found.values())
    people = counted_people(combination, table.user, int(combination.max()) + 1)
    rare = (people[combination] < rule.people) | (period == NO_CODE)
    clicked = table.url is not None and "url" in columns
    dropped = rare & (table.url != NO_CODE) if clicked else rare
    emptied = replace(draft, table=_emptied(table, columns, rare))
    emptied = emptied.count(f"combination_users: clicks shared by fewer than {rule.people} people", int(dropped.sum()))
    return _one_row_per_event(emptied, dropped) if clicked else emptied


def codes_of(table: QueryLog, name: str) -> Int64s | None:
    """int64[n]: a column as numbers, equal where its values are; None where the table has no such column."""
    values: Any = getattr(table, name) if name in {"time", "rank", "url", "category"} else None
    if values is not None:
        return np.asarray(values, dtype=np.int64)
    if table.extra is None or name not in table.extra.columns:
        return None
    return np.asarray(table.extra[name].rank("dense").fill_null(0).to_numpy(), dtype=np.int64)


def _emptied(table: QueryLog, columns: list[str], rare: npt.NDArray[np.bool_]) -> QueryLog:
    """Empty the columns of some rows; the rank goes with the URL."""
    import polars as pl

    changed: dict[str, Any] = {}
    for name in {*columns, *(("rank",) if "url" in columns else ())}:
        values = getattr(table, name, None) if name in {"rank", "url", "category"} else None
        if values is not None:
            changed[name] = np.where(rare, np.int32(NO_CODE), values)
    if "time" in columns and table.time is not None:
        changed["time"] = np.where(rare, MISSING_TIME, table.time)
    extra = [name for name in columns if table.extra is not None and name in table.extra.columns]
    if extra and table.extra is not None:
        empty = pl.when(pl.Series(rare)).then(None)
        changed["extra"] = table.extra.with_columns(empty.otherwise(pl.col(name)).alias(name) for name in extra)
    return replace(table, **changed)


def _one_row_per_event(draft: Draft, dropped: npt.NDArray[np.bool_]) -> Draft:
    """Leave out rows that held nothing but a click which is gone, as long as the event has another row."""
    event = draft.log.event_row[draft.row]
    _, of = np.unique(event, return_inverse=True)
    has_click = np.zeros(int(of.max(initial=-1)) + 1, dtype=np.bool_)
    has_click[of[~dropped]] = True
    _, first = np.unique(of, return_index=True)
    is_first = np.zeros(len(of), dtype=np.bool_)
    is_first[first] = True
    return draft.keep(~dropped | (is_first & ~has_click[of]), "combination_users: further clicks of a query")
