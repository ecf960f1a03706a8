"""What statements promise, put to the test by the attacks on a generated log."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.attacks.halves import halves
from querycloak.attacks.relink import relink
from querycloak.evaluation.workbench import Workbench
from querycloak.randomness import Randomness

K = 4
METHODS = ["semantic-microaggregation", "plain-microaggregation", "word-microaggregation", "clump", "partition"]


@pytest.fixture(scope="module")
def benches():
    made = qc.generate(users=200, queries=6000, seed=11)
    first, second = halves(made.log, Randomness(1))
    return Workbench(made.log), Workbench(first), Workbench(second)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_attack_finds_users_of_a_group_more_often_than_one_in_k(benches, method):
    whole, first, second = benches
    results = whole.attack(whole.anonymize(method, k=K, seed=1), seed=1)
    half = second.anonymize(method, k=K, seed=1)
    if half.holds_concepts:
        results.append(relink(first.log, half, concepts=first.concepts, taxonomy=first.taxonomy))
    else:
        results.append(relink(first.log, half))
    named = [r for r in results if r.names_people]
    assert len(named) >= 6
    for result in named:
        assert result.bound == 1 / K
        assert result.low <= 1 / K, f"{result.attack}: {result.rate:.3f}"


@pytest.mark.slow
def test_a_swept_log_is_still_relinked(benches):
    _, first, second = benches
    result = relink(first.log, second.anonymize("sweep", seed=1))
    assert result.rate > 0.5
    heavy = relink(first.log, second.anonymize("sweep", seed=1), min_events=50)
    assert heavy.rate > 0.9
