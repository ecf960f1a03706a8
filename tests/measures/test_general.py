"""Kept volume, top queries, topics: on releases whose right answers are known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_releases import queries_of, release_of
from samples import sample_log

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.measures.kept import kept
from querycloak.measures.top_queries import spearman, top_queries
from querycloak.measures.topics import divergence, topic_shares
from querycloak.randomness import Randomness

LOG = sample_log()
RANDOM = Randomness(0)


def values(scores):
    return {s.measure: s.value for s in scores}


def test_a_release_of_everything_keeps_everything():
    release = release_of(LOG, queries_of(LOG), list(range(24)))
    assert values(kept(LOG, release, RANDOM)) == {
        "volume kept": 1.0,
        "distinct queries kept": 1.0,
        "rows per user": 10.0,
    }


def test_the_order_of_top_queries():
    log = QueryLog.of(["u"] * 6, ["a", "b", "b", "c", "c", "c"])
    same = release_of(log, [["c", "c", "b", "a"], ["c", "b"]], [0, 0])
    upside_down = release_of(log, [["a", "a", "a", "b", "b", "c"]], [0])
    assert values(top_queries(log, same, RANDOM))["rank correlation, top 100"] == pytest.approx(1)
    assert values(top_queries(log, upside_down, RANDOM))["rank correlation, top 1000"] == pytest.approx(-1)


def test_other_words_keep_nothing():
    release = release_of(LOG, [["zzz"]] * 24, list(range(24)))
    assert values(kept(LOG, release, RANDOM))["volume kept"] == 0
    assert values(top_queries(LOG, release, RANDOM))["rank correlation, top 1000"] == 0


@given(st.lists(st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("abcde"), min_size=1))
def test_volume_is_a_bag_intersection(before, after):
    log = QueryLog.of(["u"] * len(before), before)
    both = Counter(before) & Counter(after)
    scores = values(kept(log, release_of(log, [after], [0]), RANDOM))
    assert scores["volume kept"] == pytest.approx(both.total() / len(before))
    assert scores["distinct queries kept"] == pytest.approx(len(both) / len(set(before)))


def test_spearman_shares_ranks_among_equals():
    assert spearman(np.array([1.0, 2, 2, 3]), np.array([1.0, 2, 2, 3])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3]), np.array([3.0, 2, 1])) == pytest.approx(-1)
    assert spearman(np.array([1.0, 1, 1]), np.array([3.0, 2, 1])) == 0
    # By hand: centred ranks (-1.5, 0, 0, 1.5) and (-0.5, -1.5, 0.5, 1.5): 3 / sqrt(4.5 * 5).
    assert spearman(np.array([1.0, 2, 2, 3]), np.array([2.0, 1, 3, 4])) == pytest.approx(3 / np.sqrt(22.5))


def test_topics_of_a_narrow_tree_are_ancestors_at_depth_four():
    chain = Taxonomy.from_parents([-1, 0, 1, 2, 3, 4, 3], [[str(i)] for i in range(7)])
    concept = np.array([5, 4, 6, 0, -1], dtype=np.int32)
    log = ConceptLog(np.arange(5), np.zeros(5, np.int32), np.zeros(5, np.int32), concept)
    shares = topic_shares(log, chain)
    assert shares.tolist() == [0.25, 0, 0, 0, 0.5, 0.25]  # of the concepts 0, 1, 2, 3, 4 and 6


def test_divergence():
    assert divergence(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 0
    assert divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(0.311278, abs=1e-6)
    assert divergence(np.zeros(2), np.array([0.5, 0.5])) == 1


def test_top_queries_of_shared_texts_leave_out_what_few_people_asked() -> None:
    """Three texts of 5 people, asked 15, 10 and 5 times; a rare one, asked most, would turn the order round."""
    rows = [
        (f"u{u}", text)
        for text, times in (("Tea", 3), ("coffee", 2), ("mate", 1))
        for u in range(5)
        for _ in range(times)
    ]
    rows += [("u0", "rare")] * 40
    log = QueryLog.of([u for u, _ in rows], [t for _, t in rows])
    release = release_of(log, [["tea"] * 3 + ["coffee"] * 2 + ["mate"]], [0])
    scores = {s.measure: s for s in top_queries(log, release, RANDOM)}
    score = scores["rank correlation, top 100 of texts of 5 people"]
    assert score.value == pytest.approx(1)
    assert score.details == {"texts": 3, "not published": 0}
    assert scores["rank correlation, top 100"].value < 0.9
    fewer = {s.measure: s for s in top_queries(log, release, RANDOM, people=6)}
    assert fewer["rank correlation, top 100 of texts of 6 people"].details["texts"] == 0
