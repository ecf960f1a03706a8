"""Do the columns look like what they were taken for? Asked once, before anything is computed or published.

A column that is taken for the query is published. If it holds names, mail addresses or ids of people, a release with a
guarantee publishes exactly these, and no later check notices: all of them count queries. So the reading stops with
one sentence of numbers where a column does not look like its role, and the user goes on with `--yes` or says which
column is which. The thresholds are far away from what real logs look like (right: 3,968 queries of 863 people that
Excite received in 1997):

===========================================================  =========  ==============
what is seen                                                 stops at   Excite
===========================================================  =========  ==============
different users per row                                      > 0.9      0.22
rows whose query is a user id of the log                     > 5 %      0
rows whose query is one word with a digit, @, dot or _       > 80 %     3 %
different queries that hold a mail address                   > 10 %     0.2 %
rows whose query is JSON, markup, a URL or a command         > 50 %     0.8 %
rows whose user has a space, and half as many queries have   > 20 %     0 (71 %)
users with three rows or more, all with one query            > 90 %     17 %
queries in one row only, and fewer than of users, where the
users are twice as many as the different queries             < 50 %     65 % (0.4)
times that do not parse                                      > 50 %     0
===========================================================  =========  ==============

Ratios of a few rows say nothing: less than 50 rows are not judged. What depends on the whole log (users per row) is not
judged on the first lines of a stream: a thousand searches in a row may well be a thousand people's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from querycloak.errors import InputError
from querycloak.logs.builder import BAD_TIME
from querycloak.logs.description import role_names
from querycloak.logs.sanity_signs import (
    CODE,
    FEWEST_ROWS,
    FEWEST_ROWS_FOR_USERS,
    FEWEST_SINGLE,
    FULL_NAMES,
    MAIL,
    MOST_BAD_TIMES,
    MOST_CODES,
    MOST_IDS_OF_USERS,
    MOST_MAILS,
    MOST_ONE_QUERY,
    MOST_REQUESTS,
    MOST_SPACED_USERS,
    MOST_USERS_PER_ROW,
    REQUEST,
    SAMPLE,
    SAMPLE_USERS,
    SEVERAL_WORDS,
    SHORT_NUMBER,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["check_columns"]


def check_columns(log: QueryLog, path: object, options: ReadOptions, *, whole: bool = True) -> None:
    """Refuse a log whose columns look wrong, unless the user said to go on.

    `whole` = False where only the first rows of a stream are there.
    """
    if options.assume_yes or len(log) < FEWEST_ROWS:
        return
    names = role_names(log.form, options.columns)
    for role, problem in _problems(log, whole=whole):
        column = f"the column taken for the {role} ({names.get(role, 'unnamed')})"
        raise InputError.at(
            path,
            f"{column} {problem}; say which column is which with --columns, or, if it is right, go on with --yes",
        )


def _problems(log: QueryLog, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield the role of each column that looks wrong, and what was seen, in numbers only."""
    n, users = len(log), len(log.users)
    if whole and n >= FEWEST_ROWS_FOR_USERS and users > MOST_USERS_PER_ROW * n:
        yield "user", f"has {users:,} different values in {n:,} rows, nearly one per row, as row numbers or queries do"
    rows = np.arange(0, n, max(1, n // SAMPLE))
    queries, asked_by = log.queries.gather(log.query[rows]), log.users.gather(log.user[rows])

    def share(found: pl.Series) -> float:
        return float(found.sum()) / len(rows)

    plain, ids = _plain(queries), _plain(log.users)
    is_id = plain.is_in(ids.implode()) & ~plain.str.contains(SHORT_NUMBER)
    if share(is_id) > MOST_IDS_OF_USERS:
        yield "query", f"holds a value of the user column in {share(is_id):.0%} of the rows"
    if (requests := share(queries.str.contains(REQUEST))) > MOST_REQUESTS:
        yield "query", f"holds JSON, markup, a URL or a command in {requests:.0%} of the rows, not what people type"
    different = queries.unique()  # one query with an address, asked often, is no column of addresses
    if (mails := float(different.str.contains(MAIL).sum()) / len(different)) > MOST_MAILS:
        yield "query", f"holds mail addresses in {mails:.0%} of its different values"
    if (codes := share(queries.str.contains(CODE))) > MOST_CODES:
        yield "query", f"holds one word with digits, dots or @ in {codes:.0%} of the rows, as ids and login names do"
    spaced, spaced_queries = share(asked_by.str.contains(SEVERAL_WORDS)), share(queries.str.contains(SEVERAL_WORDS))
    if MOST_SPACED_USERS < spaced < FULL_NAMES and spaced_queries < spaced / 2:
        seen = f"has several words in {spaced:.0%} of the rows"
        yield "user", f"{seen}, and the query in {spaced_queries:.0%}: they look swapped"
    if whole and 2 * len(log.queries) < users:
        single, single_users = _single(log.query, len(log.queries)), _single(log.user, users)
        if single < min(FEWEST_SINGLE, single_users):
            seen = f"has {len(log.queries):,} different values, {single:.0%} of them in one row only"
            yield "query", f"{seen}, and the user {users:,} and {single_users:.0%}: they look swapped"
    several = users >= 10 and n >= 3 * users and 2 * len(log.queries) >= users  # names differ, topics do not
    if several and (constant := _one_query(log)) > MOST_ONE_QUERY:
        yield "query", f"is the same in all rows of a user for {constant:.0%} of the users, as their name would be"
    bad = log.problems.get(BAD_TIME, 0)
    if bad > MOST_BAD_TIMES * n:
        yield "time", f"does not parse as a time in {bad:,} of {n:,} rows"


def _plain(texts: pl.Series) -> pl.Series:
    return texts.str.strip_chars().str.to_lowercase()


def _single(codes: Codes, values: int) -> float:
    """Return the share of the different values that are in one row only."""
    return float((np.bincount(codes, minlength=values) == 1).mean())


def _one_query(log: QueryLog) -> float:
    """Return the share of users whose rows all have the same query, among some users with three rows or more."""
    chosen = np.zeros(len(log.users), dtype=np.bool_)
    chosen[:: max(1, len(log.users) // SAMPLE_USERS)] = True
    rows = np.flatnonzero(chosen[log.user])
    frame = pl.DataFrame({"user": log.user[rows], "query": log.query[rows]})
    per_user = frame.group_by("user").agg(pl.len().alias("rows"), pl.col("query").n_unique().alias("queries"))
    busy = per_user.filter(pl.col("rows") >= 3)
    return float((busy["queries"] == 1).mean() or 0.0) if len(busy) else 0.0  # type: ignore[arg-type]
