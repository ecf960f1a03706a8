"""Our distributions against SciPy's, over the ranges in which they are used and beyond."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from querycloak import distributions as ours

ERRORS = (1e-9, 1e-6, 0.0005, 0.001, 0.01, 0.0125, 0.05, 0.5)


@pytest.mark.parametrize("trials", [1, 2, 3, 10, 37, 100, 436, 1000, 5000, 100_000])
def test_the_quantiles_of_whole_successes_are_scipys(trials):
    for k in sorted(
        {1, 2, 3, trials // 100, trials // 10, trials // 2, trials - 1, trials} & set(range(1, trials + 1))
    ):
        for error in ERRORS:
            expected = special.betaincinv(k, trials - k + 1, error)
            # SciPy itself is off by 1.4e-13 at 10,000 of 100,000 (compared with 40 digits), ours by 1e-16
            assert ours.beta_quantile(error, k, trials - k + 1) == pytest.approx(expected, rel=3e-13, abs=0)


@pytest.mark.parametrize(
    ("a", "b", "error", "exact"),
    [  # 40 digits, by integrating the density
        (1_000_000, 9_000_001, 1e-9, 0.09943192092201964),
        (1_000_000, 9_000_001, 1e-6, 0.09954961658941176),
        (100_000, 9_900_001, 0.0125, 0.009929606408094958),
    ],
)
def test_millions_of_trials_keep_their_digits(a, b, error, exact):
    assert ours.beta_quantile(error, a, b) == pytest.approx(exact, rel=1e-15, abs=0)
    assert special.betaincinv(a, b, error) == pytest.approx(exact, rel=1e-11, abs=0)


def test_the_quantiles_of_fractions_are_scipys():
    random = np.random.default_rng(1)
    for a, b, error in 10.0 ** random.uniform((-1, -2, -6), (5, 5, -0.5), (500, 3)):
        expected = special.betaincinv(a, 1 + b, error)
        assert ours.beta_quantile(error, a, 1 + b) == pytest.approx(expected, rel=1e-12, abs=0)


def test_a_quantile_turns_back_into_its_probability():
    for a, b in [(0.5, 0.5), (1, 1), (3, 1), (1, 900), (40, 2.5), (2000, 2000)]:
        assert (ours.beta_cdf(0.0, a, b), ours.beta_cdf(1.0, a, b)) == (0.0, 1.0)
        for p in (0.001, 0.2, 0.5, 0.9, 0.999):
            x = ours.beta_quantile(p, a, b)
            assert ours.beta_cdf(x, a, b) == pytest.approx(p, rel=1e-11)
            assert ours.beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-11)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 19, 99, 999])
def test_students_t_is_scipys(freedom):
    for p in (0.6, 0.9, 0.975, 0.995, 0.9995):
        assert ours.student_quantile(p, freedom) == pytest.approx(special.stdtrit(freedom, p), rel=2e-12, abs=0)
    assert ours.student_quantile(0.5, freedom) == 0.0


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.05])
def test_the_binomial_quantile_is_scipys(rate):
    for trials in [*range(1, 3000, 13), 10**4, 10**5, 10**6]:
        for p in (0.0125, 0.025):
            assert ours.binomial_quantile(p, trials, rate) == int(stats.binom.ppf(p, trials, rate)), (trials, p)


def test_the_normal_distribution_is_scipys():
    x = np.linspace(-37.0, 10.0, 4001).reshape(-1, 1)
    assert ours.normal_cdf(x) == pytest.approx(special.ndtr(x), rel=1e-12, abs=0)
    for p in [1e-12, *np.linspace(1e-6, 1 - 1e-6, 999).tolist(), 1 - 1e-12]:
        assert ours.normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-14, abs=1e-15)


def test_log_factorials_are_scipys():
    n = np.array([[0, 1, 2, 5], [170, 171, 10_000, 10_000_000]])
    assert ours.log_factorials(n) == pytest.approx(special.gammaln(n + 1.0), rel=2e-15, abs=1e-15)


@pytest.mark.parametrize(("low", "high"), [(0.0, 3.0), (2.5, -1.0)])
def test_a_root_is_found_to_the_last_bit(low, high):
    def function(x):
        return math.exp(x) - 5.0

    assert ours.root(function, low, high) == pytest.approx(math.log(5.0), rel=4e-16)
    assert ours.root(function, low, high) == pytest.approx(optimize.brentq(function, low, high), abs=4e-12)


def test_a_root_at_an_end_is_that_end():
    assert ours.root(lambda x: x, 0.0, 1.0) == 0.0
    assert ours.root(lambda x: x - 1.0, 0.0, 1.0) == 1.0
