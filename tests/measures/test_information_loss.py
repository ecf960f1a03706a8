from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import information_loss as reference
from samples import sample_log
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import querycloak as qc
from querycloak.logs.query_log import QueryLog
from querycloak.measures.clusters import Tree, _merges, partition_distance
from querycloak.measures.information_loss import cuts_for, headline_cut


@st.composite
def distances(draw):
    """Distances with many ties."""
    n = draw(st.integers(2, 12))
    drawn = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n * n, max_size=n * n))
    d = np.triu(np.array(drawn, dtype=np.float64).reshape(n, n), 1)
    return d + d.T


def untied(n, seed):
    d = np.triu(np.random.default_rng(seed).uniform(0.01, 1, (n, n)), 1)
    return d + d.T


def parts_of(label):
    return {frozenset(np.flatnonzero(label == c).tolist()) for c in set(label.tolist())}


@given(st.integers(1, 14), st.integers(0, 10**6))
def test_every_cut_equals_the_reference_where_no_two_distances_are_equal(n, seed) -> None:
    d = untied(n, seed)
    merges = reference.ward((d * d).tolist())
    tree = Tree(d)
    assert np.diff(tree.within()).tolist() == pytest.approx([h / 2 for _, _, h in merges])
    for clusters in range(1, n + 1):
        label = tree.cut(clusters)
        assert parts_of(label) == set(map(frozenset, reference.cut(merges, n, clusters)))
        assert all(min(np.flatnonzero(label == c)) == c for c in set(label.tolist()))


def scipys_merges(d):
    """Pairs of the lowest users of the clusters that SciPy merges, and the heights."""
    steps = linkage(squareform(d, checks=False), method="ward")
    lowest = list(range(len(d)))
    pairs = []
    for a, b in steps[:, :2].astype(int).tolist():
        pairs.append(sorted((lowest[a], lowest[b])))
        lowest.append(pairs[-1][0])
    return pairs, steps[:, 2] ** 2


@given(st.one_of(distances(), st.builds(untied, st.integers(2, 40), st.integers(0, 10**6))))
def test_merges_are_scipys_also_where_distances_are_equal(d) -> None:
    before = d.copy()
    merged, height = _merges(d)
    pairs, expected = scipys_merges(d)
    assert merged.tolist() == pairs
    assert height.tolist() == expected.tolist()
    assert d.tolist() == before.tolist()


@given(distances())
def test_heights_add_up_to_the_inner_sum_of_squares_with_ties(d) -> None:
    n = len(d)
    tree = Tree(d)
    for clusters in range(1, n + 1):
        parts = parts_of(tree.cut(clusters))
        assert len(parts) == clusters
        inner = reference.inner((d * d).tolist(), parts)
        assert tree.within()[n - clusters] == pytest.approx(inner, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_partition_distance_equals_the_reference(pairs) -> None:
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    found = partition_distance(np.array(a), np.array(b))
    assert found == pytest.approx(reference.partition_distance(a, b), abs=1e-12)
    assert 0 <= found <= 1
    assert found == pytest.approx(partition_distance(np.array(b), np.array(a)), abs=1e-12)


def test_one_cluster_each_is_no_distance() -> None:
    assert partition_distance(np.zeros(5, int), np.ones(5, int)) == 0
    assert partition_distance(np.zeros(0, int), np.zeros(0, int)) == 0


def test_the_number_of_clusters_is_found() -> None:
    """Three far clouds of 20 points in the plane."""
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(centre, 0.3, (20, 2)) for centre in ((0, 0), (9, 0), (0, 9))])
    d = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    assert Tree(d).best_cut() == 3
    assert len(set(Tree(d).cut(3)[:20].tolist())) == 1
    assert Tree(np.zeros((7, 7))).best_cut() == 1
    assert Tree(np.zeros((1, 1))).best_cut() == 1


def loss(log, release):
    return qc.measure(log, release, names=["information-loss"], seed=0)[0]


def test_a_release_that_changes_nothing_loses_nothing_and_a_random_one_much() -> None:
    log = sample_log()
    same = qc.anonymize(log, "sweep", min_query_users=1, seed=1)
    assert loss(log, same).value == pytest.approx(0, abs=1e-9)
    mixed = qc.anonymize(log, "plain-microaggregation", k=12, seed=1)
    assert loss(log, mixed).value > loss(log, same).value
    assert loss(log, mixed).better == "lower"


def test_users_who_are_not_in_the_release_are_one_cluster() -> None:
    users = [f"u{i}" for i in range(8) for _ in range(3)]
    queries = ["tea", "coffee", "tea"] * 4 + ["car", "truck", "car"] * 3 + ["asthma", "flu", "flu"]
    log = QueryLog.of(users, queries)
    release = qc.anonymize(log, "sweep", min_query_users=2, seed=1)  # the last user has no query left
    found = loss(log, release)
    assert found.details["users"] == 8
    assert found.details["users without a concept in the release"] == 1
    assert math.isfinite(found.value)


def test_without_truth_there_is_no_score() -> None:
    from dataclasses import replace

    log = sample_log()
    release = replace(qc.anonymize(log, "sweep", seed=1), truth=None)
    assert qc.measure(log, release, names=["information-loss", "srp"]) == []


def test_the_headline_is_at_the_papers_number_of_clusters_or_the_nearest_that_fits() -> None:
    """At least two users per cluster on average; more clusters than the paper's are drawn, but are no headline."""
    assert [headline_cut(n) for n in (2, 9, 10, 40, 79, 159, 160, 2000)] == [2, 2, 5, 20, 20, 40, 80, 80]
    assert cuts_for(200) == (2, 5, 10, 20, 40, 80)
    assert cuts_for(2000) == (2, 5, 10, 20, 40, 80, 160, 320)
    assert cuts_for(3) == (2,)


def test_the_headline_does_not_depend_on_calinski_and_harabasz() -> None:
    """Two clear halves: the index chooses 2 clusters, which a release may keep while it mixes all inside them."""
    users = [f"u{i}" for i in range(40) for _ in range(3)]
    texts = [["tea", "coffee", "beer", "wine"], ["asthma", "flu", "diabetes", "cancer"]]
    queries = [texts[i // 20][(i + q) % 4] for i in range(40) for q in range(3)]
    log = QueryLog.of(users, queries)
    found = loss(log, qc.anonymize(log, "plain-microaggregation", k=10, seed=1))
    assert found.details["clusters"] == 20
    assert found.value == found.curve[20]
    assert list(found.curve) == [2, 5, 10, 20]
    chosen = found.details["clusters by Calinski and Harabasz"]
    assert found.details["loss with these clusters"] == pytest.approx(
        found.curve.get(int(chosen), math.nan), nan_ok=True
    )
    nothing = loss(log, qc.anonymize(log, "sweep", min_query_users=1, seed=1))
    assert set(nothing.curve.values()) == {0.0}


def test_the_tree_of_the_log_is_made_once_for_all_releases(monkeypatch) -> None:
    from querycloak.measures import information_loss

    made = []
    monkeypatch.setattr(information_loss, "Tree", lambda d: made.append(len(d)) or Tree(d))
    log = sample_log()
    bench = qc.Workbench(log)
    releases = [bench.anonymize("plain-microaggregation", k=4, seed=s) for s in (1, 2, 3)]
    scores = [bench.measure(r, ["information-loss"], seed=0)[0] for r in releases]
    assert len(made) == 4
    fresh = [loss(log, r) for r in releases]
    assert scores == fresh
