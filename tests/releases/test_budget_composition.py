"""What several guarantees are together: on the safe side of an independent computation, and as tight as it."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import concentrated

from querycloak.releases import composition
from querycloak.releases.account import ADD_REMOVE, AccountLine
from querycloak.releases.composition import compose, epsilon_of_rho, fits, largest_rho, rounded_down, rounded_up

DELTAS = st.sampled_from([1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.05])
RHOS = st.floats(1e-6, 20.0)


def line(**guarantee):
    return AccountLine(purpose="x", relation=ADD_REMOVE, **guarantee)


@given(RHOS, DELTAS)
@example(0.5, 1e-6)
@settings(max_examples=30, deadline=None)
def test_a_rho_is_turned_into_epsilon_on_the_safe_side(rho, delta):
    found = epsilon_of_rho(rho, delta)
    best = concentrated.epsilon_of_rho(rho, delta)
    assert best * (1 - 1e-9) - 1e-12 <= found <= best * (1 + 1e-5) + 1e-9
    if found:  # Gaussian noise of this rho is the worst that we know: its exact delta is within what is claimed
        assert concentrated.delta_of_gaussian(rho, found) <= delta


@given(st.floats(0.01, 30.0), DELTAS)
@settings(max_examples=20, deadline=None)
def test_the_largest_rho_is_within_epsilon_and_near_it(epsilon, delta):
    rho = largest_rho(epsilon, delta)
    assert epsilon_of_rho(rho, delta) <= epsilon
    assert epsilon_of_rho(rho * (1 + 1e-9), delta) > epsilon * (1 - 1e-9)
    assert concentrated.delta_of_gaussian(rho, epsilon) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.0, 1e-6), (math.nan, 1e-6), (1.0, math.nan)])
def test_without_epsilon_or_delta_there_is_no_rho(epsilon, delta):
    assert largest_rho(epsilon, delta) == 0


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 700.0, 1e5])
def test_extremes_end_on_the_safe_side(epsilon):
    rho = largest_rho(epsilon, 1e-6)
    assert rho > 0
    assert epsilon_of_rho(rho, 1e-6) <= epsilon


@given(st.floats(1e-9, 100.0))
def test_no_rho_is_turned_by_less_than_itself(rho):
    """The square of a rounded root may be less than what it is the root of."""
    gaussian, _ = composition._mechanism()
    with pytest.MonkeyPatch.context() as patch:
        seen = []
        patch.setattr(composition, "_mechanism", lambda: (gaussian, SimpleNamespace(map=seen.append)))
        composition._profile(rho)
    assert gaussian.map(seen[0]) >= rho
    assert seen[0] == pytest.approx(math.sqrt(2 * rho), rel=1e-15)


def test_a_rho_beyond_the_library_guarantees_nothing():
    assert epsilon_of_rho(1e12, 1e-6) == math.inf
    assert compose([line(rho=1e12)], 1e-6)[0] == math.inf


LINES = st.lists(
    st.one_of(
        st.builds(lambda e: line(epsilon=e), st.floats(0.001, 3.0)),
        st.builds(lambda r: line(rho=r), st.floats(1e-5, 0.5)),
        st.builds(lambda e, d: line(epsilon=e, delta=d), st.floats(0.001, 3.0), st.floats(1e-9, 1e-7)),
        st.builds(lambda d: line(delta=d), st.floats(1e-9, 1e-7)),
    ),
    max_size=5,
)


@given(LINES, st.sampled_from([0.0, 1e-8, 1e-6, 1e-3]))
@settings(max_examples=30, deadline=None)
def test_the_total_is_the_best_of_all_valid_sums(lines, delta):
    epsilon, used = compose(lines, delta)
    best = concentrated.total_epsilon(lines, delta)
    if best is None:
        assert epsilon == math.inf
        return
    assert best * (1 - 1e-9) - 1e-12 <= epsilon <= best * (1 + 1e-5) + 1e-9
    assert Fraction(used) >= sum(Fraction(each.delta) for each in lines)
    assert used <= delta
    assert fits(lines, epsilon, delta)
    assert epsilon == 0 or not fits(lines, epsilon * 0.999, delta)


def test_a_pure_epsilon_stays_what_it_is():
    """By way of rho it would read 5.2."""
    assert compose([line(epsilon=1.0)], 1e-6) == (1.0, 0.0)
    assert compose([line(epsilon=0.75), line(epsilon=0.25, delta=1e-7)], 1e-6) == (1.0, 1e-7)
    assert 5.2 < epsilon_of_rho(0.5, 1e-6) < 5.3


def test_many_small_ones_are_cheaper_by_way_of_rho():
    epsilon, delta = compose([line(epsilon=0.01)] * 1000, 1e-6)
    assert epsilon < 2, "instead of 10"
    assert delta == 1e-6
    assert compose([line(epsilon=0.01)] * 1000, 0.0)[0] == pytest.approx(10)
    assert compose([line(epsilon=0.01, delta=1e-12)] * 1000, 1e-6)[0] == pytest.approx(10), (
        "only what is pure is turned"
    )


def test_large_and_small_are_each_added_in_the_better_way():
    lines = [line(epsilon=2.0), *[line(epsilon=0.01)] * 1000]
    epsilon, _ = compose(lines, 1e-6)
    assert epsilon == pytest.approx(2 + compose(lines[1:], 1e-6)[0])


def test_rho_adds_up_and_the_deltas_of_thresholds_are_taken_off_first():
    lines = [line(rho=0.01), line(rho=0.02), line(delta=4e-7)]
    assert compose(lines, 1e-6)[0] == pytest.approx(epsilon_of_rho(0.03, 6e-7))
    assert compose(lines, 1e-6)[1] == 1e-6
    assert compose(lines, 4e-7) == (math.inf, 4e-7), "no delta is left for rho"
    assert compose(lines, 1e-7) == (math.inf, 4e-7)
    assert not fits(lines[2:], 100.0, 1e-7)


def test_pure_guarantees_are_turned_as_the_library_turns_them():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    turned = dp.c.make_pureDP_to_zCDP(dp.m.make_laplace(*space, scale=1.0))
    assert [turned.map(d) for d in (1, 2, 3)] == [0.5, 2.0, 4.5]


@given(st.fractions(0, 10, max_denominator=10**20))
def test_rounding_goes_the_way_it_says(exact):
    assert Fraction(rounded_down(exact)) <= exact <= Fraction(rounded_up(exact))
    assert rounded_up(exact) <= math.nextafter(rounded_down(exact), math.inf)
