"""The table of a release: new user ids, rows in an order that tells nothing, and no word that is not published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.form import Column, LogForm
from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.releases.columns import KeptRows
from querycloak.releases.release import Truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from querycloak.randomness import Randomness
    from querycloak.releases.columns import KeptColumns

__all__ = ["NewTable", "count_in", "count_out", "under_new_ids"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class NewTable(NamedTuple):
    """A table under new ids."""

    log: QueryLog
    truth: Truth
    queries_used: npt.NDArray[np.int64]
    """int64[published vocabulary], codes of the published queries in the vocabulary that was given"""
    entry: npt.NDArray[np.int64]
    """int64[published rows], which of the rows that were given each is made of"""


def under_new_ids(
    log: QueryLog,
    user: Int32s,
    query: Int32s,
    random: Randomness,
    queries: pl.Series | None = None,
    category: Int32s | None = None,
    categories: pl.Series | None = None,
    *,
    rows: npt.NDArray[np.integer[Any]] | None = None,
    kept: KeptColumns | None = None,
    digits: bool | None = None,
    ids: Sequence[str] | None = None,
) -> NewTable:
    """Put rows (user: int32[m] original codes, query: int32[m]) under new random ids.

    `queries` is the vocabulary of the published queries (default: the log's own); only the words that are published go
    into the release. Rows are ordered by published id, so their order tells nothing; rows of one user keep the order
    given, but where times are kept: then they are ordered by rounded time and text. Extra columns are left out. Of
    time, rank and URL there is what `kept` says, from `rows`: int[m], the log's row behind each row given, -1 = none.
    Ids have decimal `digits`, or hexadecimal ones; None = as those of the log, which one user's id can decide.
    `ids` are the new ids, of the users in order of their codes; None = they are drawn.
    """
    import polars as pl

    words = log.queries if queries is None else queries
    if kept is None or rows is None:
        columns = KeptRows(np.arange(len(user)), None, None, None)
    else:
        columns = kept.at(np.asarray(rows, dtype=np.int64), query)
    user, query = user[columns.entry], query[columns.entry]
    category = None if category is None else category[columns.entry]
    present, code = np.unique(user, return_inverse=True)
    originals = log.users.to_list()
    digits = all(u.isascii() and u.isdigit() for u in originals) if digits is None else digits
    if ids is None:
        keyed = KeyedRandomness(random.child("ids"))
        names = [originals[code] for code in present.tolist()]
        ids = keyed.identifiers(names, avoid=frozenset(originals), digits=digits)
    new_ids = np.array(ids, dtype=object)
    by_id = np.argsort(new_ids.astype(str), kind="stable") if len(new_ids) else np.zeros(0, np.int64)
    rank = np.empty(len(present), dtype=np.int32)
    rank[by_id] = np.arange(len(present), dtype=np.int32)
    new_user = rank[code].astype(np.int32)
    order = np.argsort(new_user, kind="stable")
    if kept is not None and kept.sorts:
        order = _order(new_user, columns, query, words, log.urls)
    new_query, new_queries, queries_used = _only_used(query[order], words)
    new_category, new_categories = None, None
    if category is not None and categories is not None:
        new_category, new_categories, _ = _only_used(category[order], categories)
    url, urls = None, None
    if columns.url is not None and log.urls is not None:
        url, urls, _ = _only_used(columns.url[order], log.urls)
    published = QueryLog(
        user=new_user[order],
        users=pl.Series(new_ids[by_id].tolist(), dtype=pl.String),
        query=new_query,
        queries=new_queries,
        time=None if columns.time is None else columns.time[order],
        rank=None if columns.rank is None else columns.rank[order],
        url=url,
        urls=urls,
        category=new_category,
        categories=new_categories,
        form=_form(log.form, columns, with_category=category is not None),
    )
    return NewTable(published, Truth(user=present[by_id].astype(np.int32)), queries_used, columns.entry[order])


def _order(user: Int32s, columns: KeptRows, query: Int32s, words: pl.Series, urls: pl.Series | None) -> Int64s:
    """Order rows by user, time, text, URL and rank, texts by their letters: int64[rows]."""
    keys: list[npt.NDArray[Any]] = [_by_letters(query, words)]
    if columns.url is not None and urls is not None:
        keys.insert(0, _by_letters(columns.url, urls))
    if columns.rank is not None:
        keys.insert(0, columns.rank)
    if columns.time is not None:
        keys.append(columns.time)
    return np.lexsort((*keys, user)).astype(np.int64)


def _by_letters(codes: npt.NDArray[np.integer[Any]], words: pl.Series) -> Int64s:
    """int64[codes]: the rank of each text among those that are used; that of a missing one is -1."""
    used, inverse = np.unique(codes[codes >= 0], return_inverse=True)
    rank = np.full(len(codes), -1, dtype=np.int64)
    if len(used):
        rank[codes >= 0] = words.gather(used).rank("ordinal").to_numpy().astype(np.int64)[inverse]
    return rank


def _only_used(codes: npt.NDArray[np.integer[Any]], words: pl.Series) -> tuple[Int32s, pl.Series, Int64s]:
    """Code again by first appearance, and keep only the words that occur: a release carries nothing else; -1 stays."""
    there = codes >= 0
    used, first, inverse = np.unique(codes[there], return_index=True, return_inverse=True)
    by_first = np.argsort(first, kind="stable")
    new_of_used = np.empty(len(used), dtype=np.int32)
    new_of_used[by_first] = np.arange(len(used), dtype=np.int32)
    kept = used[by_first].astype(np.int64)
    new = np.full(len(codes), NO_CODE, dtype=np.int32)
    new[there] = new_of_used[inverse]
    return new, words.gather(kept), kept


def _form(form: LogForm | None, columns: KeptRows, *, with_category: bool) -> LogForm | None:
    """Keep the form of the input for the columns that are published."""
    if form is None:
        return None
    roles = {"user", "query"} | {role for role in ("time", "rank", "url") if getattr(columns, role) is not None}
    named = [c for c in form.columns if c.role in roles or (with_category and c.role == "category")]
    if with_category and not any(c.role == "category" for c in named):
        named.append(Column("category", "category"))
    return replace(form, columns=tuple(named))


def count_in(log: QueryLog) -> dict[str, int]:
    """Count what came in, for the statement."""
    return {
        "rows": len(log),
        "query events": int(log.event.sum()),
        "users": len(np.unique(log.user)),
        "distinct queries": len(np.unique(log.query)),
    }


def count_out(log: QueryLog) -> dict[str, int]:
    """Count what goes out, for the statement."""
    return {
        "rows": len(log),
        "users": len(np.unique(log.user)),
        "distinct queries": len(np.unique(log.query)),
    }
