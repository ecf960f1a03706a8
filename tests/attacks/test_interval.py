"""The interval of a rate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from querycloak.statistics import wilson


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_whole_successes_have_scipys_interval(targets, share):
    successes = round(share * targets)
    expected = binomtest(successes, targets).proportion_ci(method="wilson")
    assert wilson(successes / targets, targets) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_expected_successes_that_are_not_whole_have_an_interval_between_their_neighbours(targets, rate):
    low, high = wilson(rate, targets)
    below, above = math.floor(rate * targets) / targets, math.ceil(rate * targets) / targets
    assert wilson(below, targets)[0] - 1e-12 <= low <= wilson(above, targets)[0] + 1e-12
    assert wilson(below, targets)[1] - 1e-12 <= high <= wilson(above, targets)[1] + 1e-12


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_the_interval_is_that_of_the_rounded_quantile_to_six_digits(targets, rate):
    z2 = 1.959964**2
    middle = (rate + z2 / (2 * targets)) / (1 + z2 / targets)
    half = math.sqrt(z2 * (rate * (1 - rate) / targets + z2 / (4 * targets**2))) / (1 + z2 / targets)
    assert wilson(rate, targets) == pytest.approx((max(0, middle - half), min(1, middle + half)), abs=1e-6)


def test_no_target_no_knowledge():
    assert wilson(0.0, 0) == (0.0, 1.0)
