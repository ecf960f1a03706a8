"""Popularity, topics and profiles: known values, and the measures that say the same in other words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_releases import queries_of, release_of, statement
from sample_tasks import TREE, concepts_of, count_release, prepared, scores, world

from querycloak.logs.query_log import QueryLog
from querycloak.measures.profile_divergence import profile_divergence
from querycloak.measures.topics import topics
from querycloak.randomness import Randomness
from querycloak.releases.release import ItemRelease, Truth

TEXTS = st.lists(st.sampled_from(["4.a", "4.b", "5.a", "6.a 7.a", "none"]), min_size=1, max_size=6)
LOGS = st.lists(TEXTS, min_size=3, max_size=3)


def log_of(people) -> QueryLog:
    rows = [(f"u{u}", query) for u, queries in enumerate(people) for query in queries]
    return QueryLog.of([row[0] for row in rows], [row[1] for row in rows])


@given(LOGS, LOGS)
def test_topics_and_profiles_are_one_minus_the_divergence_of_the_measures(before, after):
    log = log_of(before)
    release = release_of(log, after, [2, 0, 1])
    concepts, release_concepts = concepts_of(log), concepts_of(release.log)
    needs = {"concepts": concepts, "release_concepts": release_concepts, "taxonomy": TREE}
    found = scores(prepared(log), release)
    if found["topics"].possible:
        expected = topics(log, release, Randomness(0), **needs).value
        assert found["topics"].value == pytest.approx(1 - expected, abs=1e-9)
    if found["profiles"].possible:
        expected = profile_divergence(log, release, Randomness(0), **needs)[0]
        assert found["profiles"].value == pytest.approx(1 - expected.value, abs=1e-9)
        assert found["profiles"].cases == expected.details["users"]


def test_people_who_are_not_published_count_zero():
    log = log_of([["4.a"], ["5.a"], ["6.a"], ["none"]])
    found = scores(prepared(log), release_of(log, [["4.b"], ["5.a"]], [0, 1]))["profiles"]
    assert found.value == pytest.approx(2 / 3)
    assert found.cases == 3  # whoever asked of no topic is not judged
    assert 0 < found.low < 2 / 3 < found.high


def test_ids_that_stand_for_nobody_are_left_out_of_profiles():
    log = log_of([["4.a"], ["5.a"]])
    assert scores(prepared(log), release_of(log, [["4.a"], ["5.a"]], [-1, 1]))["profiles"].value == pytest.approx(0.5)


def test_popularity_by_hand():
    # a: 4 people, b: 3, c: 2, d: 1; weights 3, 2, 1, 0. Repeating does not count.
    log = log_of([["a", "b", "c", "d", "d", "d"], ["a", "b", "c"], ["a", "b"], ["a"]])
    # b: 3 ids, d: 2; weights 0, 2, 0, 1. p = 1/2, 1/3, 1/6, 0; q = 0, 2/3, 0, 1/3: in common 1/3.
    release = release_of(log, [["b", "d"], ["b", "d"], ["b"], ["a"]], [0, 1, 2, 3])
    found = scores(prepared(log), release)["popularity"]
    assert found.value == pytest.approx(1 / 3)
    assert found.cases == 3
    assert scores(prepared(log), log)["popularity"].value == pytest.approx(1)
    table = count_release(["a", "b", "c", "e"], [4, 3, 2, 1])
    assert scores(prepared(log), table)["popularity"].value == pytest.approx(1)


def test_texts_of_one_person_each_are_not_popular():
    log = log_of([["a", "b"], ["c"]])
    found = scores(prepared(log), log)["popularity"]
    assert not found.possible
    assert "two people" in found.note


def test_equal_texts_are_not_ordered_by_first_appearance():
    texts = [f"t{i}" for i in range(3000)]
    log = log_of([texts, texts[:1000], texts[:1000]])
    found = scores(prepared(log), release_of(log, [texts, texts], [0, 1]))["popularity"]
    # The head of the release is a third of the log's, 333 texts, and 667 others: p is 1/1000 for the head, q 1/1667 for
    # all. By first appearance, both heads would be the same, and the value 1.
    assert found.value == pytest.approx(0.6, abs=0.03)


def test_counts_of_a_users_concepts_are_weights():
    log = log_of([["4.a", "4.a", "4.a", "5.a"], ["6.a"]])
    table = release_of(log, [["4.x", "5.x"], ["6.x", "7.x"]], [0, 1]).log
    table = replace(table, extra=pl.DataFrame({"count": [3, 1, 2, 0]}))
    release = ItemRelease(table, statement(), Truth(np.array([0, 1], dtype=np.int32)))
    assert scores(prepared(log), release)["profiles"].value == pytest.approx(1)


def test_releases_without_any_known_topic():
    log = log_of([["4.a"], ["5.a"]])
    found = scores(prepared(log), release_of(log, [["none"]], [0]))
    assert not found["topics"].possible
    assert found["profiles"].value == 0


def test_clicks_of_one_search_are_one_event():
    texts, clicks = ["4.a"] * 3 + ["5.a", "4.a"], ["x", "y", "z", "x", "x"]
    log = QueryLog.of(["u"] * 4 + ["v"], texts, times=[1, 1, 1, 2, 3], urls=clicks)
    found = scores(prepared(log), log)
    assert found["volume"].note.startswith("3 query events published")
    # Units: 4 twice, 5 once.
    shown = scores(prepared(log), count_release(["4.a", "5.a"], [2, 1]))["topics"]
    assert shown.value == pytest.approx(1)


def test_the_spread_of_profiles_is_that_of_their_mean():
    log = world()
    kept = queries_of(log)
    half = [queries if u % 2 else ["none"] for u, queries in enumerate(kept)]
    found = scores(prepared(log), release_of(log, half, list(range(150))))["profiles"]
    assert found.value == pytest.approx(0.5)
    # The mean of 150 numbers, half 0 and half 1: 1.96 * 0.5 / sqrt(150) = 0.08; 200 resamples know it to 5 %, and
    # three times that is allowed.
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.5 / np.sqrt(150), rel=0.2)
