"""What statements promise, put to the test by the attacks on a generated log."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.evaluation.workbench import Workbench

K = 4
METHODS = ["semantic-microaggregation", "plain-microaggregation", "word-microaggregation", "clump", "partition"]


@pytest.fixture(scope="module")
def bench():
    return Workbench(qc.generate(users=200, queries=6000, seed=11).log)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_attack_finds_users_of_a_group_more_often_than_one_in_k(bench, method):
    results = bench.attack(bench.anonymize(method, k=K, seed=1), seed=1)
    bounded = [r for r in results if r.bound is not None]
    assert {r.attack.split(",")[0] for r in bounded} >= {"known-queries", "relink", "relink-half", "shape"}
    for result in bounded:
        assert result.bound == 1 / K
        assert result.low <= 1 / K, f"{result.attack}: {result.rate:.3f}"


@pytest.mark.slow
def test_a_swept_log_is_still_relinked(bench):
    results = bench.attack(
        bench.anonymize("sweep", seed=1, as_in_paper=True), ["relink", "relink-half", "learned-linkage"], seed=1
    )
    rates = {r.attack: r.rate for r in results}
    assert rates["relink"] > 0.9
    assert rates["relink-half"] > 0.5
    assert rates["learned-linkage"] > 0.9
    half = next(r for r in results if r.attack == "relink-half")
    assert half.details["50+ known events"] > 0.9


@pytest.mark.slow
def test_draws_near_the_meaning_keep_the_shape_of_a_log(bench):
    release = bench.anonymize("semantic-dp", shape="paper", epsilon=0.01, seed=1)
    rates = {r.attack: r.rate for r in bench.attack(release, ["relink", "shape"], seed=1)}
    assert rates["relink"] < 0.05
    assert rates["shape, whole log"] > 0.5
    assert rates["shape, 50 in a row"] > 0.7
