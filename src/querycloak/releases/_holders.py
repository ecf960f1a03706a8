"""Queries of a log by their letters: those that are a text, and those that hold its words one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import CountedRows, Ragged, row_starts
from querycloak.logs.query_log import NO_CODE
from querycloak.releases._askers_kernels import find_runs
from querycloak.texts.compared import code_texts
from querycloak.texts.words import JOINED, in_words

if TYPE_CHECKING:
    import polars as pl

    from querycloak.logs.query_log import QueryLog

__all__ = ["equal_queries", "holding_queries", "users_of_queries"]


def users_of_queries(log: QueryLog) -> Ragged:
    """Return the distinct users of each query of the log."""
    asked = log.query != NO_CODE
    return CountedRows.of(log.query[asked], log.user[asked], len(log.queries)).uncounted


def equal_queries(queries: pl.Series, texts: pl.Series) -> Ragged:
    """Return, for each text, the indexes of the queries that are equal to it."""
    import polars as pl

    code, _ = code_texts(pl.concat([queries, texts]))
    n = len(queries)
    return Ragged.positions(code[:n], int(code.max(initial=-1)) + 1).take(code[n:])


def holding_queries(queries: pl.Series, texts: pl.Series) -> Ragged:
    """Return, for each text, the indexes of the queries that hold its words one after the other.

    Queries and texts are in the form in which they are compared. A text that is a whole query is held by it, too.
    """
    import polars as pl

    both = in_words(pl.concat([queries, texts]))
    split = both.str.split(" ")
    lengths = np.where((both == "").to_numpy(), 0, split.list.len().to_numpy()).astype(np.int64)
    flat = split.explode()
    flat = flat.filter(flat != "")
    word, _ = code_texts(flat.str.strip_prefix(JOINED))
    code = (2 * word + flat.str.starts_with(JOINED).to_numpy()).astype(np.int32)
    start = row_starts(lengths)
    middle = start[len(queries)]
    words = Ragged(start[: len(queries) + 1], code[:middle])
    asked = Ragged(start[len(queries) :] - middle, code[middle:])
    occurrences = Ragged.positions(words.values >> 1, int(word.max(initial=-1)) + 1)
    owner = words.owner.astype(np.int32)
    count = find_runs(asked, words, owner, occurrences, np.zeros(0, dtype=np.int32))
    found = np.zeros(int(count.sum()), dtype=np.int32)
    find_runs(asked, words, owner, occurrences, found)
    return Ragged(row_starts(count), found)
