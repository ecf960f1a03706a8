from __future__ import annotations

import numpy as np

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
