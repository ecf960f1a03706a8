"""The table of a policy: rows under new ids, one per unit, or counts of equal rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.methods.policy.rule_as_counts import count_rows
from querycloak.releases.release import Truth

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.form import Column, LogForm
    from querycloak.methods.policy.draft import Draft
    from querycloak.randomness import Randomness

__all__ = ["TableOfIds", "table_of_counts", "table_of_ids"]

Int32s = npt.NDArray[np.int32]


class TableOfIds(NamedTuple):
    """A table under new ids, and who is behind them."""

    log: QueryLog
    truth: Truth


def table_of_ids(draft: Draft, random: Randomness) -> TableOfIds:
    """Put the rows of each unit under a new id; rows are ordered by id, and within an id as in the draft.

    An id is drawn by the name of its unit (`keyed_randomness.py`): the order of rows plays no part.
    """
    import polars as pl

    assert draft.unit is not None
    units, first, unit = np.unique(draft.unit, return_index=True, return_inverse=True)
    originals = draft.log.users.to_list()
    digits = all(name.isascii() and name.isdigit() for name in originals)
    names = (draft.log.users if draft.names is None else draft.names).gather(units).to_list()
    keyed = KeyedRandomness(random.child("ids"))
    ids = np.array(keyed.identifiers(names, avoid=frozenset(originals), digits=digits), dtype=object)
    by_id = np.argsort(ids.astype(str), kind="stable") if len(ids) else np.zeros(0, np.int64)
    rank = np.empty(len(first), dtype=np.int32)
    rank[by_id] = np.arange(len(first), dtype=np.int32)
    user = rank[unit]
    order = np.argsort(user, kind="stable")
    table = only_used(draft.table.take(order))
    users = pl.Series(ids[by_id].tolist(), dtype=pl.String)
    published = replace(table, user=user[order].astype(np.int32), users=users, form=_form(table), problems={})
    return TableOfIds(published, Truth(user=draft.table.user[first[by_id]].astype(np.int32)))


def table_of_counts(draft: Draft) -> QueryLog:
    """Count equal rows: one row each, the largest count first, equal ones by text, then by their columns."""
    import polars as pl

    of, count = count_rows(draft)
    _, first = np.unique(of, return_index=True)
    table = draft.table.take(first)
    keys: dict[str, Any] = {"text": table.queries.gather(table.query)}
    keys |= {name: getattr(table, name) for name in ("time", "rank") if getattr(table, name) is not None}
    for name, words in (("url", table.urls), ("category", table.categories)):
        codes = getattr(table, name)
        if codes is not None and words is not None:
            keys[name] = pl.Series(_texts(words, codes), dtype=pl.String)
    frame = pl.DataFrame({"count": count, **keys})
    if table.extra is not None:
        frame = pl.concat([frame, table.extra.rename(lambda name: f"column {name}")], how="horizontal")
    others = frame.columns[1:]
    index = frame.with_row_index("row").sort(["count", *others], descending=[True] + [False] * len(others))["row"]
    order = index.to_numpy()
    table = only_used(table.take(order))
    extra = pl.DataFrame({"count": count[order]})
    if table.extra is not None:
        extra = pl.concat([table.extra.drop("count", strict=False), extra], how="horizontal")
    nobody = pl.Series(["all"] if len(table) else [], dtype=pl.String)
    user = np.zeros(len(table), dtype=np.int32)
    return replace(table, user=user, users=nobody, extra=extra, form=_form(table), problems={})


def only_used(table: QueryLog) -> QueryLog:
    """Code texts, URLs and categories again by first appearance: a release carries nothing that it does not publish."""
    changed: dict[str, Any] = {}
    for name, words in (("query", "queries"), ("url", "urls"), ("category", "categories")):
        codes = getattr(table, name)
        if codes is not None:
            changed[name], changed[words] = _recoded(codes, getattr(table, words))
    return replace(table, **changed)


def _recoded(codes: Int32s, words: pl.Series) -> tuple[Int32s, pl.Series]:
    known = codes != NO_CODE
    used, first, inverse = np.unique(codes[known], return_index=True, return_inverse=True)
    by_first = np.argsort(first, kind="stable")
    new = np.empty(len(used), dtype=np.int32)
    new[by_first] = np.arange(len(used), dtype=np.int32)
    out = np.full(len(codes), NO_CODE, dtype=np.int32)
    out[known] = new[inverse]
    return out, words.gather(used[by_first])


def _texts(words: pl.Series, codes: Int32s) -> list[str | None]:
    known = words.to_list()
    return [None if code == NO_CODE else known[code] for code in codes.tolist()]


def _form(table: QueryLog) -> LogForm | None:
    """Keep the form of the input for the columns that are published."""
    if table.form is None:
        return None
    extra = [] if table.extra is None else table.extra.columns
    has = {role for role in ("time", "rank", "url", "category") if getattr(table, role) is not None}

    def is_kept(column: Column) -> bool:
        return column.role in {"user", "query", *has} if column.role else column.name in extra

    return replace(table.form, columns=tuple(c for c in table.form.columns if is_kept(c)))
