from __future__ import annotations

import numpy as np

from querycloak.attacks.clustered import clustered
from querycloak.attacks.interval import wilson


def test_queries_that_are_right_together_count_as_one():
    success, person = np.repeat([1.0, 0.0, 0.0, 1.0], 100), np.repeat(np.arange(4), 100)
    rate, low, high = clustered(success, person)
    assert rate == 0.5
    assert high - low > 0.6  # four people, not 400 draws


def test_independent_queries_count_one_by_one():
    success = (np.arange(400) % 4 == 0).astype(np.float64)
    rate, low, high = clustered(success, np.arange(400))
    np.testing.assert_allclose((low, high), wilson(rate, 400), atol=0.002)


def test_never_narrower_than_independent_draws():
    success = np.tile([1.0, 0.0], 200)  # every person has one of each: nothing varies between people
    rate, low, high = clustered(success, np.repeat(np.arange(200), 2))
    assert high - low >= wilson(rate, 400)[1] - wilson(rate, 400)[0]


def test_all_right_counts_people():
    np.testing.assert_allclose(clustered(np.ones(100), np.arange(100) // 10)[1:], wilson(1.0, 10))


def test_none():
    assert clustered(np.zeros(0), np.zeros(0, dtype=np.int64)) == (0.0, 0.0, 1.0)
