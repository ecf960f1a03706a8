"""Intervals by resampling people."""

from __future__ import annotations

import numpy as np
import pytest

from querycloak.randomness import Randomness
from querycloak.statistics import wilson
from querycloak.tasks import resampling
from querycloak.tasks.resampling import RESAMPLES, Resampling, around, block_totals, rate_around


def test_people_are_drawn_with_replacement():
    block, draws = Resampling.of(50, Randomness(1))
    assert sorted(block.tolist()) == list(range(50))
    assert draws.shape == (1 + RESAMPLES, 50)
    assert (draws[0] == 1).all()
    assert (draws[1:].sum(axis=1) == 50).all()
    assert draws[1:].std() == pytest.approx(1, abs=0.05)  # nearly Poisson with mean 1
    assert RESAMPLES >= 100


def test_many_people_are_drawn_in_blocks_of_equal_size(monkeypatch):
    monkeypatch.setattr(resampling, "MOST_BLOCKS", 100)
    block, draws = Resampling.of(1000, Randomness(1))
    assert draws.shape[1] == 100
    assert (np.bincount(block) == 10).all()
    value = np.random.default_rng(1).random(1000)
    mean, low, high = rate_around(value, block, draws, cases=False)
    assert mean == pytest.approx(value.mean())
    # The standard error of a mean of 1,000 people, known to 5 % from 200 resamples and to 7 % from 100 blocks.
    assert (high - low) / 2 == pytest.approx(1.96 * value.std() / np.sqrt(1000), rel=0.3)


def test_totals_are_weighted_sums():
    draws = np.array([[1.0, 1], [0, 2], [2, 0]])
    found = block_totals(draws, np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([5.0, 1, 10]), 3)
    assert found.tolist() == [[5, 11, 0], [0, 20, 0], [10, 2, 0]]


def test_the_interval_is_around_the_value():
    assert around(np.array([0.5, 0.3, 0.3, 0.3])) == (0.5, 0.5, 0.5)
    value, low, high = around(np.array([0.9, 0.2, 0.4]))
    assert (value, high) == (0.9, 1.0)
    assert low == pytest.approx(0.9 - 1.96 * np.sqrt(0.02), abs=1e-3)


def test_no_hit_is_not_a_rate_of_zero():
    _, draws = Resampling.of(20, Randomness(1))
    value, low, high = rate_around(np.zeros(50), np.arange(50) % 20, draws, cases=True)
    assert (value, low) == (0, 0)
    assert high == wilson(0, 50)[1]


def test_cases_of_one_person_do_not_count_as_many_people():
    _, draws = Resampling.of(10, Randomness(1))
    hit = np.repeat(np.arange(10) < 5, 100).astype(np.float64)  # half of the people, all of their cases
    _, low, high = rate_around(hit, np.repeat(np.arange(10), 100), draws, cases=True)
    assert high - low > 4 * (wilson(0.5, 1000)[1] - wilson(0.5, 1000)[0])
