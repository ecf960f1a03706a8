from __future__ import annotations

import numpy as np
import pytest

from querycloak.attacks.roc import Roc, area, area_interval, mean_area_interval, true_positives, worth


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    random = np.random.default_rng(3)
    inside, outside = random.integers(0, 6, 40).astype(float), random.integers(0, 5, 30).astype(float)
    pairs = [(a > b) + (a == b) / 2 for a in inside for b in outside]
    np.testing.assert_allclose(area(inside, outside), np.mean(pairs))


def test_the_curve_has_that_area_under_it():
    random = np.random.default_rng(4)
    inside, outside = random.integers(0, 6, 40).astype(float), random.integers(0, 5, 30).astype(float)
    roc = Roc.of(inside, outside)
    np.testing.assert_allclose(np.trapezoid(roc.true, roc.false), area(inside, outside))
    assert roc.at(1.0) == 1.0


def test_a_curve_that_goes_up_first():
    roc = Roc.of(np.array([5.0, 4.0, 1.0, 0.0]), np.array([3.0, 2.0]))
    assert roc.at(0.0) == 0.5
    assert roc.at(0.4) == 0.5
    assert roc.at(1.0) == 1.0


def test_equal_scores_tell_nothing():
    same = np.zeros(300)
    assert area(same, same) == 0.5
    rate, low, high = true_positives(same, same)
    np.testing.assert_allclose(rate, 0.01)
    assert low < 0.01 < high < 0.05  # some hundred people are enough to see that nothing is told


def test_the_interval_has_a_width_where_all_are_told_apart():
    seen, low, high = area_interval(np.ones(50), np.zeros(50))
    assert seen == high == 1.0
    assert 0.9 < low < 0.99


def test_nobody():
    assert area_interval(np.zeros(0), np.ones(3)) == (0.5, 0.0, 1.0)
    assert true_positives(np.ones(3), np.zeros(0)) == (0.01, 0.0, 1.0)


def test_few_people_resolve_no_percent():
    _, low, high = true_positives(np.ones(40), np.zeros(40))
    assert (low, high) == (0.0, 1.0)
    _, _, high = true_positives(np.zeros(40), np.arange(40.0))
    assert high > 0.05


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_the_intervals_hold_the_truth_nineteen_times_in_twenty(shift):
    from scipy.special import ndtr, ndtri

    random = np.random.default_rng(5)
    whole, percent = ndtr(shift / np.sqrt(2)), 1 - ndtr(ndtri(0.99) - shift)
    areas = shares = 0
    for _ in range(200):
        inside, outside = random.normal(shift, 1, 150), random.normal(0, 1, 150)
        _, low, high = area_interval(inside, outside)
        areas += low <= whole <= high
        _, low, high = true_positives(inside, outside)
        shares += low <= percent <= high
    assert areas >= 182  # 95 % of 200 less 2.6 standard deviations
    assert shares >= 190  # too wide rather than too narrow


def test_one_draw_has_the_interval_of_two_samples():
    random = np.random.default_rng(5)
    scores, inside = random.normal(size=(1, 80)), np.arange(80)[None] % 2 == 0
    assert mean_area_interval(scores, inside) == area_interval(scores[inside], scores[~inside])


@pytest.mark.parametrize("share_of_own", [0.0, 0.8], ids=["nothing in common", "mostly the same in all draws"])
def test_intervals_over_draws_hold_the_truth_nineteen_times_in_twenty(share_of_own):
    held, widths = 0, []
    for seed in range(200):
        random = np.random.default_rng(seed)
        own = random.normal(size=100)
        scores = share_of_own * own + (1 - share_of_own) * random.normal(size=(10, 100))
        inside = np.argsort(random.random((10, 100)), axis=1) < 50
        _, low, high = mean_area_interval(scores, inside)
        held += low <= 0.5 <= high
        widths.append(high - low)
    assert held >= 185
    one = area_interval(np.arange(50.0), np.arange(50.0))
    assert np.mean(widths) < 0.4 * (one[2] - one[1])  # ten draws: about a third


def test_intervals_over_draws_are_as_wide_as_people_differ():
    # Half of all people leak wherever they are inside, the others never: ten draws tell no more of who leaks.
    held, plain = 0, 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        leaks = random.random(60) < 0.5
        inside = np.argsort(random.random((10, 60)), axis=1) < 30
        scores = random.normal(size=(10, 60)) + 100 * (inside & leaks)
        _, low, high = mean_area_interval(scores, inside)
        held += low <= 0.75 <= high
        m = area_interval(scores[inside], scores[~inside])
        plain += m[1] <= 0.75 <= m[2]
    assert held >= 180
    assert plain < 150  # as if all draws were other people


def test_what_the_draws_of_a_person_are_worth():
    random = np.random.default_rng(1)
    assert worth(random.normal(size=(8, 5000))) == pytest.approx(1.0, abs=0.06)
    assert worth(np.repeat(random.normal(size=(1, 50)), 8, axis=0)) == pytest.approx(1 / 8)
    assert worth(np.zeros((4, 10))) == 0.25  # nothing varies, so nothing says that draws differ
    assert worth(np.array([[1.0, -1.0], [-1.0, 1.0]])) == 1.0  # never more than what was seen
    assert worth(random.normal(size=(1, 9))) == 1.0


def test_true_positives_of_people_who_are_there_several_times():
    scores = np.arange(2000.0)
    rate, low, high = true_positives(scores + 3, scores)
    again, lower, higher = true_positives(scores + 3, scores, worth=0.1)
    assert rate == again
    assert lower <= low
    assert higher > high
