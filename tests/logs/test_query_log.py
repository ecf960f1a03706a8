from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.events import event_rows

from querycloak.logs.query_log import MISSING_TIME, QueryLog


def test_codes_follow_first_appearance():
    log = QueryLog.of(["b", "a", "b"], ["x", "y", "y"])
    assert log.user.tolist() == [0, 1, 0]
    assert log.users.to_list() == ["b", "a"]
    assert log.query.tolist() == [0, 1, 1]


def test_click_rows_of_one_search_are_one_event():
    log = QueryLog.of(
        ["u"] * 6,
        ["tea", "tea", "tea", "tea", "tea", "cup"],
        times=[1, 1, 2, 2, MISSING_TIME, MISSING_TIME],
        urls=["a", "b", "a", None, "a", "a"],
    )
    assert log.event.tolist() == [True, False, True, True, True, True]


def test_another_users_row_in_between_does_not_split_an_event():
    log = QueryLog.of(
        ["ann", "bob", "ann", "bob", "ann"],
        ["flu", "flu", "flu", "flu", "flu"],
        times=[1, 1, 1, 1, 2],
        urls=["a", "a", "b", "b", "c"],
    )
    assert log.event.tolist() == [True, True, False, False, True]
    assert log.event_row.tolist() == [0, 1, 0, 1, 4]


def test_the_same_search_of_two_users_is_two_events():
    log = QueryLog.of(["ann", "bob"], ["flu", "flu"], times=[1, 1], urls=["a", "a"])
    assert log.event.tolist() == [True, True]


@st.composite
def logs_with_clicks(draw):
    """Rows drawn from so few values that equal neighbours, interleaved users and gaps are common."""
    row = st.tuples(
        st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from([None, 1, 2]), st.sampled_from([None, "u", "v"])
    )
    rows = draw(st.lists(row, max_size=14))
    log = QueryLog.of(
        [r[0] for r in rows],
        [r[1] for r in rows],
        times=[MISSING_TIME if r[2] is None else r[2] for r in rows],
        urls=[r[3] for r in rows],
    )
    return rows, log


@given(logs_with_clicks())
def test_events_equal_the_reference_implementation(drawn):
    rows, log = drawn
    expected = event_rows(rows)
    assert log.event_row.tolist() == expected
    assert log.event.tolist() == [i == first for i, first in enumerate(expected)]


@given(logs_with_clicks())
def test_no_user_changes_the_events_of_another(drawn):
    """What differential privacy counts on: without a user, the events of all others are the same."""
    _, log = drawn
    for code in range(len(log.users)):
        others = log.user != code
        assert log.take(others).event.tolist() == log.event[others].tolist()


@pytest.mark.parametrize("missing", ["times", "urls"])
def test_without_times_or_clicks_every_row_is_an_event(missing):
    columns = {"times": [1, 1], "urls": ["a", "b"]}
    del columns[missing]
    log = QueryLog.of(["u", "u"], ["x", "x"], **columns)
    assert log.event.tolist() == [True, True]
    assert log.event_row.tolist() == [0, 1]


def test_take_keeps_codes_and_order():
    log = QueryLog.of(["u", "v", "w"], ["a", "b", "c"], times=[1, 2, 3])
    part = log.take(np.array([2, 0]))
    assert part.query.tolist() == [2, 0]
    assert part.time.tolist() == [3, 1]
    assert log.take(np.array([False, True, False])).user.tolist() == [1]


def test_users_per_query():
    log = QueryLog.of(["u", "u", "v"], ["a", "a", "a"])
    assert log.users_per_query().tolist() == [2]
    assert QueryLog.of([], []).users_per_query().tolist() == []
