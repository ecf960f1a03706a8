"""The log as a release of itself, and the blind log."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import sample_log

from querycloak.errors import GateError
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness
from querycloak.releases.files import write_release
from querycloak.tasks.original import as_release, blind_log

ROWS = st.lists(
    st.tuples(st.sampled_from("uvw"), st.sampled_from("abc"), st.integers(0, 2), st.sampled_from([None, "x", "y"])),
    max_size=30,
)


def test_the_original_cannot_be_written(tmp_path):
    release = as_release(sample_log())
    assert release.truth.user.tolist() == list(range(24))
    with pytest.raises(GateError):
        write_release(release, tmp_path / "log.tsv")


@given(ROWS, st.integers(0, 5))
def test_users_events_and_times_stay(rows, seed):
    who, what, when, where = ([row[i] for row in rows] for i in range(4))
    log = QueryLog.of(who, what, times=when, urls=where, categories=[f"of {q}" for q in what])
    blind = blind_log(log, Randomness(seed))
    rows = np.flatnonzero(log.event)
    assert blind.event.all()
    assert blind.user.tolist() == log.user[rows].tolist()
    assert blind.time.tolist() == log.time[rows].tolist()
    assert blind.users.to_list() == log.users.to_list()
    own = defaultdict(set)
    for query, url in zip(log.query.tolist(), log.url.tolist(), strict=True):
        own[query].add(url)
    for query, url, category in zip(blind.query.tolist(), blind.url.tolist(), blind.category.tolist(), strict=True):
        assert url == -1 or url in own[query]
        assert log.categories[category] == f"of {log.queries[query]}"


def test_every_query_is_drawn_alike_however_frequent():
    log = QueryLog.of(["u"] * 4000, ["a"] * 3997 + ["b", "c", "d"])
    count = Counter(blind_log(log, Randomness(1)).query.tolist())
    # 4,000 draws of one in four: 1,000 on average, standard deviation 27; four of them are allowed.
    assert all(abs(count[query] - 1000) < 110 for query in range(4))


def test_queries_that_are_not_in_the_log_any_more_are_not_drawn():
    log = QueryLog.of(["u"] * 50, ["a"] * 25 + ["b"] * 25).take(np.arange(25))
    assert set(blind_log(log, Randomness(1)).query.tolist()) == {0}


def test_public_texts_take_the_place_of_the_logs():
    log = sample_log()
    blind = blind_log(log, Randomness(1), pl.Series(["x", "y"]))
    assert blind.queries.to_list() == ["x", "y"]
    assert set(blind.query.tolist()) == {0, 1}
    assert blind.user.tolist() == log.user[log.event].tolist()
    assert blind.url is None
