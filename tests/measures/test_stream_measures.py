"""Measures of stream releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stream import best_matching

import querycloak as qc
from querycloak.logs.query_log import QueryLog
from querycloak.measures.against_bound import against_bound
from querycloak.measures.category_emd import user_distances

PATHS = st.lists(st.lists(st.sampled_from("ab"), max_size=4).map(tuple), max_size=5)


@given(st.lists(st.tuples(PATHS, PATHS), min_size=1, max_size=3))
def test_the_distance_is_that_of_the_best_matching(users):
    before = [(u, p) for u, (a, _) in enumerate(users) for p in a]
    after = [(u, p) for u, (_, b) in enumerate(users) for p in b]
    sides = [(np.array([u for u, _ in side], dtype=np.int32), [p for _, p in side]) for side in (before, after)]
    moved, largest = user_distances(*sides, len(users))
    assert moved.tolist() == [best_matching(a, b) for a, b in users]
    assert largest.tolist() == [sum(map(len, a)) + sum(map(len, b)) for a, b in users]
    assert (moved <= largest).all()


def log_of(records=4000, users=80, seed=1):
    rng = np.random.default_rng(seed)
    paths = ["Top/A/B/C", "Top/A/B/D", "Top/A/E", "Top/F"]
    return QueryLog.of(
        [f"u{u}" for u in rng.integers(0, users, records)],
        [f"q{i}" for i in range(records)],
        categories=[paths[i] for i in rng.integers(0, 4, records)],
    )


def scores_of(log, method, **settings):
    release = qc.anonymize(log, method, seed=1, **settings)
    return {s.measure: s for s in qc.measure(log, release, names=["category-emd", "stream-flow"])}


def test_in_its_own_category_nothing_moves_but_what_waits():
    log = log_of()
    fixed = scores_of(log, "fixed-depth", k=3, depth=3)
    flat = scores_of(log, "flat", k=3)
    assert fixed["category EMD, share of the largest"].value < 0.01
    assert flat["category EMD, share of the largest"].value > 0.03
    assert fixed["records that left"].value > 0.99


def test_flow_comes_from_the_statement():
    log = log_of()
    release = qc.anonymize(log, "self-adjusting", k=3, depth=3, as_in_paper=True, seed=1)
    scores = {s.measure: s for s in qc.measure(log, release, names=["stream-flow"])}
    waiting = len(log) - len(release.log)
    assert scores["users waiting at the end"].value == waiting > 0
    assert sum(scores["users waiting at the end"].details.values()) == waiting
    assert scores["mean delay in records"].value > 0
    assert release.statement.dropped["still waiting at the end"] == waiting
    assert release.statement.figures["fewest candidates"] >= 3


def test_the_distance_in_edges_per_query_has_its_denominators_beside_it():
    log = log_of()
    found = scores_of(log, "flat", k=3)
    edges, per_user = found["category EMD, edges per query"], found["category EMD per user"]
    people = len(np.unique(log.user))
    assert edges.value == pytest.approx(per_user.value * people / len(log))
    largest = edges.details["largest possible"]
    assert edges.value / largest == pytest.approx(found["category EMD, share of the largest"].value)
    assert edges.details["share of the paper's 18.2 edges"] == pytest.approx(edges.value / 18.2)
    assert 2 < largest < 6  # paths have one to three levels below the root, and each counts twice


def test_percentiles_of_the_delay_come_from_the_statement():
    log = log_of()
    release = qc.anonymize(log, "self-adjusting", k=3, depth=3, as_in_paper=True, seed=1)
    scores = {s.measure: s.value for s in qc.measure(log, release, names=["stream-flow"])}
    names = ["delay in records, p50", "delay in records, p90", "delay in records, p99", "longest delay in records"]
    found = [scores[name] for name in names]
    assert found == sorted(found)
    assert found[0] < scores["mean delay in records"] < found[3]  # few records wait long
    older = replace(release, statement=replace(release.statement, figures={"mean delay": 3.0}))
    assert not set(names) & {s.measure for s in qc.measure(log, older, names=["stream-flow"])}


def test_without_truth_there_is_no_distance():
    log = log_of(500)
    release = replace(qc.anonymize(log, "flat", k=3, seed=1), truth=None)
    assert qc.measure(log, release, names=["category-emd"]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_kolmogorov_smirnov(rates):
    ks = list(range(2, 2 + len(rates)))
    d, p = against_bound(rates, ks)
    ours = np.sort(rates)
    bounds = np.sort(1 / np.array(ks))
    grid = np.concatenate([ours, bounds])
    expected = max(abs(np.mean(ours <= x) - np.mean(bounds <= x)) for x in grid)
    assert d == pytest.approx(expected)
    assert 0 <= p <= 1


def test_the_p_value_is_exact():
    # two samples of 2 that do not overlap: 2 of the 6 ways to order them are as extreme
    assert against_bound([0.9, 0.8], [5, 6]) == pytest.approx((1.0, 2 / 6))


def test_the_p_value_is_that_of_all_orders():
    # every order of two samples of 4: how many are at least as far apart?
    from itertools import combinations

    def farthest(ours):
        return max(abs(sum(i <= at for i in ours) - (at + 1 - sum(i <= at for i in ours))) for at in range(8))

    apart = [farthest(ours) for ours in combinations(range(8), 4)]
    for rates in ([0.3, 0.24, 0.21, 0.1], [0.9, 0.4, 0.24, 0.1], [0.9, 0.8, 0.24, 0.1], [0.9, 0.8, 0.7, 0.6]):
        d, p = against_bound(rates, [3, 4, 5, 6])
        assert p == pytest.approx(sum(a >= round(4 * d) for a in apart) / len(apart))


def test_a_p_value_of_one_is_exact_too():
    # SciPy's exact calculation passes 1 here by rounding, and gives way to an approximation
    assert against_bound([0, 0.25, 0.25, 0.5, 1], [2, 3, 4, 5, 6]) == pytest.approx((0.2, 1.0))


def test_nothing_to_compare_is_refused():
    with pytest.raises(ValueError):
        against_bound([], [])
