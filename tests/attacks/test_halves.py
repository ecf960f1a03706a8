from __future__ import annotations

from querycloak.attacks.halves import halves
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness

RANDOM = Randomness(1)


def test_halves_cut_by_time_and_keep_all():
    log = QueryLog.of(["u", "u", "u", "v"], ["late", "early", "middle", "x"], times=[9, 1, 5, 3])
    first, second = halves(log, RANDOM)
    assert [log.queries[q] for q in first.query.tolist()] == ["early"]
    assert [log.queries[q] for q in second.query.tolist()] == ["late", "middle", "x"]


def test_click_rows_stay_with_their_event():
    log = QueryLog.of(["u"] * 4, ["a", "a", "b", "b"], times=[1, 1, 2, 2], urls=["x", "y", "x", "y"])
    first, second = halves(log, RANDOM)
    assert (len(first), len(second)) == (2, 2)
    assert set(first.query.tolist()) == {0}


def test_click_rows_stay_with_their_event_when_others_come_in_between():
    log = QueryLog.of(
        ["u", "v", "u", "v", "u", "v", "u", "v"],
        ["a", "a", "a", "a", "b", "b", "b", "b"],
        times=[1, 1, 1, 1, 2, 2, 2, 2],
        urls=["x", "x", "y", "y"] * 2,
    )
    first, second = halves(log, RANDOM)
    assert (len(first), len(second)) == (4, 4)
    assert set(first.query.tolist()) == {0}


def test_empty():
    first, second = halves(QueryLog.of([], []), RANDOM)
    assert len(first) == len(second) == 0


def test_it_says_which_half_is_known():
    assert halves(QueryLog.of(["u"], ["a"], times=[1]), RANDOM).which == "the earlier half of a person's log"
    assert halves(QueryLog.of(["u"], ["a"]), RANDOM).which == "a random half of a person's log"
