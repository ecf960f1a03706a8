"""The items that a set union chooses from: whole queries, phrases, clicks. Each user's own, and nothing else.

No item is left out because few people have it, and none is there that nobody has: who counted first, or looked a phrase
up in a list made from the log, would have used the log without noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.logs.query_log import NO_CODE
from querycloak.methods.dp._contribution import Contributions
from querycloak.texts.compared import code_texts, compared
from querycloak.texts.word_runs import WordRuns

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from querycloak.logs.query_log import QueryLog

__all__ = ["Items", "click_items", "phrase_items", "query_items"]

Int64s = npt.NDArray[np.int64]


class Items(NamedTuple):
    """The items of one kind."""

    kind: str
    """`query`, `phrase` or `click`, as the column `kind` says"""
    users: Contributions
    """which user has which"""
    cost: Int64s
    """int64[items], from 1: a user's weight goes to cheap items first; public"""
    text: Callable[[Int64s], pl.Series]
    """codes → texts"""
    url: Callable[[Int64s], Int64s] | None = None
    """codes → codes of URLs, of clicks"""


def query_items(log: QueryLog, *, short: bool) -> Items:
    """Return the whole queries as they were typed; `short` = short ones are cheap, else all cost the same."""
    users = Contributions.of(log.user, log.query, len(log.queries))
    cost = np.ones(len(log.queries), dtype=np.int64)
    if short:
        cost += log.queries.str.strip_chars().str.count_matches(r"\s+").fill_null(0).to_numpy().astype(np.int64)
    return Items("query", users, cost, log.queries.gather)


def phrase_items(log: QueryLog, *, short: bool) -> Items:
    """Return the runs of words of each user's queries, in the form in which texts are compared."""
    form, first = code_texts(compared(log.queries))
    runs = WordRuns.of(compared(log.queries.gather(first)))
    asked = log.query != NO_CODE
    forms = Contributions.of(log.user[asked], form[log.query[asked]], len(first))
    held = runs.of_text.take(forms.item)
    users = Contributions.of(np.repeat(forms.user, held.lengths), held.values, len(runs.words))
    cost = runs.words.astype(np.int64) if short else np.ones(len(runs.words), dtype=np.int64)
    return Items("phrase", users, cost, runs.texts)


def click_items(log: QueryLog, queries: Int64s) -> Items:
    """Return the pairs of a query and a URL clicked for it, among queries that were chosen; all cost the same."""
    if log.url is None or log.urls is None:
        user, key = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        width = 1
    else:
        chosen = np.zeros(len(log.queries) + 1, dtype=np.bool_)  # the last is for rows without a query
        chosen[queries] = True
        rows = np.flatnonzero(chosen[log.query] & (log.url != NO_CODE))
        width = max(len(log.urls), 1)
        user, key = log.user[rows].astype(np.int64), log.query[rows].astype(np.int64) * width + log.url[rows]
    pairs, item = np.unique(key, return_inverse=True)
    users = Contributions.of(user, item, len(pairs))
    cost = np.ones(len(pairs), dtype=np.int64)
    return Items(
        "click", users, cost, lambda codes: log.queries.gather(pairs[codes] // width), lambda c: pairs[c] % width
    )
