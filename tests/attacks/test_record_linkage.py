from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.record_linkage import record_linkage as reference
from sample_releases import release_of
from samples import sample_log

import querycloak as qc
from querycloak.attacks.record_linkage import record_linkage
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness

WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6)


@st.composite
def releases(draw):
    original = draw(st.lists(WORDS, min_size=1, max_size=6))
    published = draw(st.lists(WORDS.map(lambda ws: [w if w != "f" else "new" for w in ws]), max_size=len(original)))
    truth = draw(st.permutations(range(len(original))))[: len(published)]
    return original, published, list(truth)


@given(releases())
def test_linkage_equals_the_reference(drawn) -> None:
    original, published, truth = drawn
    log = QueryLog.of([f"u{u}" for u, qs in enumerate(original) for _ in qs], [q for qs in original for q in qs])
    release = release_of(log, published, truth)
    left, everybody = record_linkage(log, release, Randomness(0))
    expected = reference(original, published, truth)
    assert left.rate == pytest.approx(expected[0])
    assert left.targets == len(published)
    assert everybody.rate == pytest.approx(expected[1])
    assert everybody.targets == len(original)


def test_a_copy_is_linked_and_nothing_in_common_is_a_blind_guess() -> None:
    original = [["a", "a", "b"], ["a", "b", "b"], ["c"]]
    log = QueryLog.of(["x"] * 3 + ["y"] * 3 + ["z"], [q for qs in original for q in qs])
    for found in record_linkage(log, release_of(log, original, [0, 1, 2]), Randomness(0)):
        assert found.rate == 1
    for found in record_linkage(log, release_of(log, [["q"], ["q"], ["q"]], [0, 1, 2]), Randomness(0)):
        assert found.rate == pytest.approx(1 / 3) == found.baseline.rate


def test_who_is_left_without_queries_counts_among_all_users() -> None:
    """Eq. 10 divides by all m users: a method that empties three of four users links a quarter, not everybody."""
    log = QueryLog.of(["x", "y", "z", "w"], ["a", "b", "c", "d"])
    left, everybody = record_linkage(log, release_of(log, [["a"]], [0]), Randomness(0))
    assert (left.attack, left.rate, left.targets, left.unit) == ("record-linkage", 1, 1, "published id")
    assert (everybody.attack, everybody.rate) == ("record-linkage, all users", 0.25)
    assert (everybody.targets, everybody.unit) == (4, "person")
    assert everybody.baseline.rate == 0.25 * 0.25  # who is not published cannot be guessed either


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("click-graph-removal", {"k": 1, "sites": 1, "as_in_paper": True}),
        ("frequent-queries", {"output_form": "log", "choose": "korolova", "epsilon": 9.0, "delta": 0.01}),
    ],
)
def test_methods_that_empty_users_have_both_rates(method, settings) -> None:
    log = qc.generate(users=60, queries=1800, seed=3).log
    release = qc.anonymize(log, method, seed=1, **settings)
    left, everybody = qc.attack(log, release, names=["record-linkage"])
    assert 0 < left.targets < everybody.targets == 60
    assert everybody.rate * 60 == pytest.approx(left.rate * left.targets)


def test_a_person_with_several_ids_counts_once() -> None:
    log = QueryLog.of(["x", "x", "y"], ["a", "b", "c"])
    left, everybody = record_linkage(log, release_of(log, [["a"], ["q"], ["c"]], [0, 0, 1]), Randomness(0))
    assert left.rate == pytest.approx((1 + 0.5 + 1) / 3)
    assert everybody.rate == pytest.approx((0.75 + 1) / 2)


def test_further_clicks_do_not_count_as_queries() -> None:
    log = QueryLog.of(["x", "x", "y", "y"], ["a", "a", "a", "a"], times=[1, 1, 1, 9], urls=["p", "q", "p", "p"])
    assert np.flatnonzero(log.event).tolist() == [0, 2, 3]
    found = record_linkage(log, release_of(log, [["a", "a"]], [1]), Randomness(0))
    assert found[0].rate == 1  # y asked twice, x once with two clicks


@pytest.mark.parametrize("name", ["semantic-microaggregation", "plain-microaggregation", "syntactic-microaggregation"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_equal_logs_hold_the_bound(name, k) -> None:
    log = sample_log()
    for found in qc.attack(log, qc.anonymize(log, name, k=k, seed=1), names=["record-linkage"]):
        assert found.bound == 1 / k
        assert found.rate <= found.bound + 1e-12
