"""The table of a release: new user ids, rows in an order that tells nothing, and no word that is not published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.form import Column, LogForm
from querycloak.logs.query_log import QueryLog
from querycloak.releases.release import Truth

if TYPE_CHECKING:
    import polars as pl

    from querycloak.randomness import Randomness

__all__ = ["NewTable", "count_in", "count_out", "under_new_ids"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class NewTable(NamedTuple):
    """A table under new ids."""

    log: QueryLog
    truth: Truth
    queries_used: npt.NDArray[np.int64]
    """int64[published vocabulary], codes of the published queries in the vocabulary that was given"""


def under_new_ids(
    log: QueryLog,
    user: Int32s,
    query: Int32s,
    random: Randomness,
    queries: pl.Series | None = None,
    category: Int32s | None = None,
    categories: pl.Series | None = None,
) -> NewTable:
    """Put rows (user: int32[m] original codes, query: int32[m]) under new random ids.

    `queries` is the vocabulary of the published queries (default: the log's own); only the words that are published go
    into the release. Rows are ordered by published id, so their order tells nothing; rows of one user keep the order
    given. Time, rank, URL and extra columns are left out.
    """
    import polars as pl

    present, code = np.unique(user, return_inverse=True)
    originals = log.users.to_list()
    digits = all(u.isascii() and u.isdigit() for u in originals)
    ids = np.array(
        random.child("ids").identifiers(len(present), avoid=frozenset(originals), digits=digits), dtype=object
    )
    by_id = np.argsort(ids.astype(str), kind="stable") if len(ids) else np.zeros(0, np.int64)
    rank = np.empty(len(present), dtype=np.int32)
    rank[by_id] = np.arange(len(present), dtype=np.int32)
    new_user = rank[code].astype(np.int32)
    order = np.argsort(new_user, kind="stable")
    new_query, new_queries, queries_used = _only_used(query[order], log.queries if queries is None else queries)
    new_category, new_categories = None, None
    if category is not None and categories is not None:
        new_category, new_categories, _ = _only_used(category[order], categories)
    published = QueryLog(
        user=new_user[order],
        users=pl.Series(ids[by_id].tolist(), dtype=pl.String),
        query=new_query,
        queries=new_queries,
        category=new_category,
        categories=new_categories,
        form=_form(log.form, with_category=category is not None),
    )
    return NewTable(published, Truth(user=present[by_id].astype(np.int32)), queries_used)


def _only_used(codes: npt.NDArray[np.integer[Any]], words: pl.Series) -> tuple[Int32s, pl.Series, Int64s]:
    """Code again by first appearance, and keep only the words that occur: a release carries nothing else."""
    used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    by_first = np.argsort(first, kind="stable")
    new_of_used = np.empty(len(used), dtype=np.int32)
    new_of_used[by_first] = np.arange(len(used), dtype=np.int32)
    kept = used[by_first].astype(np.int64)
    return new_of_used[inverse].astype(np.int32), words.gather(kept), kept


def _form(form: LogForm | None, *, with_category: bool) -> LogForm | None:
    """Keep the form of the input for the columns that are published."""
    if form is None:
        return None
    kept = [c for c in form.columns if c.role in {"user", "query"}]
    if with_category:
        named = [c for c in form.columns if c.role == "category"]
        kept += named or [Column("category", "category")]
    return replace(form, columns=tuple(kept))


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
