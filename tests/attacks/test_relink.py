from __future__ import annotations

import numpy as np
import pytest
from sample_releases import distinct_log, queries_of, release_of
from trials_by_hand import NoTrialsByHand, TrialsByHand

from querycloak.attacks.halves import halves
from querycloak.attacks.relink import relink
from querycloak.attacks.relink_half import relink_half
from querycloak.attacks.result import CannotAttackError
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness

LOG = distinct_log()
RANDOM = Randomness(1)
HALVES = halves(LOG, RANDOM)


def attacked(release, log=LOG):
    return relink(log, release, RANDOM, halves=halves(log, RANDOM))


def grouped(k: int, log=LOG) -> list[list[str]]:
    lists = queries_of(log)
    return [[q for one in lists[i - i % k : i - i % k + k] for q in one] for i in range(len(lists))]


def test_new_ids_alone_leak_everything():
    result = attacked(release_of(LOG, queries_of(LOG)[::-1], list(range(39, -1, -1))))
    assert result.rate == 1.0
    assert result.targets == 40
    assert result.baseline.rate == 1 / 40
    assert result.details == {"group found": 1.0}


def test_what_everybody_asks_leaks_nothing():
    result = attacked(release_of(LOG, [["tea"]] * 40, list(range(40))))
    np.testing.assert_allclose(result.rate, 1 / 40)
    assert result.lift_low <= 0 <= result.lift_high
    assert result.details["group found"] == 1.0  # there is one group


@pytest.mark.parametrize("k", [2, 4])
def test_groups_of_k_give_exactly_one_in_k_and_the_group_is_found(k):
    result = attacked(release_of(LOG, grouped(k), list(range(40)), k=k))
    np.testing.assert_allclose(result.rate, 1 / k)
    assert result.bound == 1 / k
    assert result.details["group found"] == 1.0


def test_a_known_rate():
    lists = queries_of(LOG)
    published = [lists[i] if i % 4 == 0 else ["tea"] for i in range(40)]  # a quarter is published as it is
    result = attacked(release_of(LOG, published, list(range(40))))
    # The others are nearest to one of that quarter, with whom they share numbers, and never to their own.
    assert result.low <= 0.25 <= result.high
    assert result.rate == 0.25
    assert result.details["group found"] == 0.25


def test_people_who_are_not_published_are_counted_not_attacked():
    result = attacked(release_of(LOG, queries_of(LOG)[:10], list(range(10))))
    assert result.targets == 10
    assert result.details["people not published"] == 30


def test_heavy_users_are_counted_separately():
    rows = [("a", f"tea {i}") for i in range(100)] + [("b", f"car {i}") for i in range(99)]
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows], times=list(range(199)))
    result = attacked(release_of(log, [["tea 1"], ["milk"]], [0, 1]), log)
    assert result.targets == 2
    assert result.details["50+ known events"] == 1.0  # a has 50 known events, b has 49 and is not found


@pytest.mark.parametrize("times", [True, False])
def test_one_person_and_people_with_one_event(times):
    log = QueryLog.of(["a", "a", "b"], ["x", "y", "z"], times=[1, 2, 3] if times else None)
    result = attacked(release_of(log, [["x", "y"]], [0]), log)
    assert (result.rate, result.targets) == (1.0, 1)


def test_an_empty_release_has_no_targets():
    result = attacked(release_of(LOG, [], []))
    assert (result.rate, result.targets) == (0.0, 0)
    assert result.details == {"people not published": 40.0}


def test_typing_errors_do_not_hide_a_person():
    log = QueryLog.of(["a", "a", "b", "b"], ["mountaineering", "x", "gardening", "y"], times=[1, 2, 1, 2])
    result = attacked(release_of(log, [["gardenning"], ["montaineering"]], [1, 0]), log)
    assert result.rate == 1.0


def test_half_attacks_a_release_of_the_other_half():
    trials = TrialsByHand(lambda queries: queries, HALVES)
    nothing = release_of(LOG, [["tea"]] * 40, list(range(40)))
    result = relink_half(LOG, nothing, RANDOM, halves=HALVES, trials=trials)
    assert trials.asked_for == ["later half"]
    assert result.attack == "relink-half"
    assert (result.rate, result.targets) == (1.0, 40)


def test_half_leaks_nothing_where_the_later_half_does_not():
    trials = TrialsByHand(lambda queries: ["tea"], HALVES)
    result = relink_half(LOG, release_of(LOG, queries_of(LOG), list(range(40))), RANDOM, halves=HALVES, trials=trials)
    np.testing.assert_allclose(result.rate, 1 / 40)


def test_half_says_what_is_missing():
    with pytest.raises(CannotAttackError, match="not here"):
        relink_half(LOG, release_of(LOG, [], []), RANDOM, halves=HALVES, trials=NoTrialsByHand())
