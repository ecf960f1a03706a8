"""The digest of a log covers all it says, and nothing of how it lay in a file or in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import sample_log

from querycloak.logs.content_digest import content_digest
from querycloak.logs.form import LogForm
from querycloak.logs.query_log import QueryLog
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log

TEXT = st.text(st.sampled_from("ab\0 "), max_size=3)
ROWS = st.lists(st.tuples(st.sampled_from(["u", "v"]), TEXT, st.sampled_from([None, "x", ""])), max_size=5)


def log_of(rows):
    users, queries, urls = ([row[i] for row in rows] for i in range(3))
    return QueryLog.of(users, queries, urls=urls)


@given(ROWS, ROWS)
def test_equal_rows_equal_digests_and_no_others(first, second):
    assert (content_digest(log_of(first)) == content_digest(log_of(second))) == (first == second)


def test_words_that_no_row_uses_and_their_order_play_no_part():
    log = sample_log()
    order = np.random.default_rng(1).permutation(len(log.queries))
    shuffled = replace(log, query=np.argsort(order).astype(np.int32)[log.query], queries=log.queries.gather(order))
    assert content_digest(shuffled) == content_digest(log)
    rows = np.arange(len(log)) % 3 == 0
    few = log.take(rows)
    urls = [None if code < 0 else log.urls[code] for code in few.url.tolist()]
    users, queries = (
        words.gather(codes).to_list() for words, codes in ((log.users, few.user), (log.queries, few.query))
    )
    assert content_digest(few) == content_digest(QueryLog.of(users, queries, times=few.time.tolist(), urls=urls))


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_the_format_of_the_file_plays_no_part(tmp_path, name):
    for i, kind in enumerate(("tsv", name)):
        write_log(sample_log(), tmp_path / str(i), LogForm(kind, ()))
    first, second = (read_log(tmp_path / str(i)) for i in range(2))
    assert content_digest(first) == content_digest(second)


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.take(np.arange(len(log))[::-1]),
        lambda log: log.take(np.arange(len(log) - 1)),
        lambda log: replace(log, time=log.time + 1),
        lambda log: replace(log, time=None),
        lambda log: replace(log, url=None, urls=None),
        lambda log: replace(log, rank=np.zeros(len(log), np.int32)),
        lambda log: replace(log, category=log.url, categories=log.urls, url=None, urls=None),
        lambda log: replace(log, extra=pl.DataFrame({"n": np.arange(len(log))})),
        lambda log: replace(log, users=log.users + "x"),
    ],
)
def test_every_column_counts(change):
    assert content_digest(change(sample_log())) != content_digest(sample_log())


@given(st.lists(st.sampled_from([None, "", "a", "aa"]), min_size=2, max_size=3), st.data())
def test_columns_without_a_role_count_value_by_value(values, data):
    other = data.draw(st.lists(st.sampled_from([None, "", "a", "aa"]), min_size=len(values), max_size=len(values)))
    log = QueryLog.of(["u"] * len(values), ["q"] * len(values))
    first, second = (replace(log, extra=pl.DataFrame({"c": pl.Series(v, dtype=pl.String)})) for v in (values, other))
    assert (content_digest(first) == content_digest(second)) == (values == other)
