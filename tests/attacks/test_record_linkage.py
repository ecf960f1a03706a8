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
    found = record_linkage(log, release, Randomness(0))
    assert found.rate == pytest.approx(reference(original, published, truth))
    assert found.targets == len(published)


def test_a_copy_is_linked_and_nothing_in_common_is_a_blind_guess() -> None:
    original = [["a", "a", "b"], ["a", "b", "b"], ["c"]]
    log = QueryLog.of(["x"] * 3 + ["y"] * 3 + ["z"], [q for qs in original for q in qs])
    assert record_linkage(log, release_of(log, original, [0, 1, 2]), Randomness(0)).rate == 1
    found = record_linkage(log, release_of(log, [["q"], ["q"], ["q"]], [0, 1, 2]), Randomness(0))
    assert found.rate == pytest.approx(1 / 3) == found.baseline.rate


def test_further_clicks_do_not_count_as_queries() -> None:
    log = QueryLog.of(["x", "x", "y", "y"], ["a", "a", "a", "a"], times=[1, 1, 1, 9], urls=["p", "q", "p", "p"])
    assert np.flatnonzero(log.event).tolist() == [0, 2, 3]
    found = record_linkage(log, release_of(log, [["a", "a"]], [1]), Randomness(0))
    assert found.rate == 1  # y asked twice, x once with two clicks


@pytest.mark.parametrize("name", ["semantic-microaggregation", "plain-microaggregation", "syntactic-microaggregation"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_equal_logs_hold_the_bound(name, k) -> None:
    log = sample_log()
    found = qc.attack(log, qc.anonymize(log, name, k=k, seed=1), names=["record-linkage"])[0]
    assert found.bound == 1 / k
    assert found.rate <= found.bound + 1e-12
