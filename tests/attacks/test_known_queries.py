from __future__ import annotations

import sys

import numpy as np
import pytest
from sample_releases import distinct_log, queries_of, release_of

from querycloak.attacks.known_queries import known_queries
from querycloak.randomness import Randomness

LOG = distinct_log()


def rates(release):
    return {r.attack: r.rate for r in known_queries(LOG, release, Randomness(1))}


def test_a_release_that_leaks_everything_is_broken_by_one_query():
    release = release_of(LOG, queries_of(LOG), list(range(40)))
    assert set(rates(release).values()) == {1.0}
    assert list(rates(release)) == [f"known-queries, {m}" for m in (1, 2, 5, 10, "half")]


def test_a_release_that_leaks_nothing_leaves_a_blind_guess():
    release = release_of(LOG, [["tea", "cup"]] * 40, list(range(40)))
    results = known_queries(LOG, release, Randomness(1))
    np.testing.assert_allclose([r.rate for r in results], 1 / 40)
    assert all(r.baseline.rate == 1 / 40 for r in results)


@pytest.mark.parametrize("k", [2, 5])
def test_groups_of_k_equal_logs_give_exactly_one_in_k(k):
    logs = queries_of(LOG)
    published = [[q for j in range(i - i % k, i - i % k + k) for q in logs[j]] for i in range(40)]
    results = known_queries(LOG, release_of(LOG, published, list(range(40)), k=k), Randomness(1))
    np.testing.assert_allclose([r.rate for r in results], 1 / k)
    assert all(r.bound == 1 / k for r in results)
    assert all(r.low <= r.rate <= r.high for r in results)


def test_more_known_queries_find_more():
    logs = queries_of(LOG)
    published = [q[:3] + ["tea"] * 9 for q in logs]
    found = rates(release_of(LOG, published, list(range(40))))
    # Words of the user stand in every query, so one query is enough; without shared words it takes a published one.
    assert found["known-queries, 1"] == 1.0


def test_only_published_users_are_targets():
    release = release_of(LOG, queries_of(LOG)[:10], list(range(10)))
    assert all(r.targets == 10 for r in known_queries(LOG, release, Randomness(1)))


def test_a_large_log_is_sampled(monkeypatch):
    monkeypatch.setattr(sys.modules["querycloak.attacks.known_queries"], "MOST_TARGETS", 7)
    results = known_queries(LOG, release_of(LOG, queries_of(LOG), list(range(40))), Randomness(1))
    assert all((r.targets, r.rate) == (7, 1.0) for r in results)
    assert all(r.baseline.rate == 1 / 40 for r in results)  # he still guesses among all
