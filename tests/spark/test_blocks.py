"""The arithmetic of blocks: where topics begin, and that no block is too small. No session is needed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.randomness import Randomness
from querycloak.spark.block_figures import added_up
from querycloak.spark.blocks import Histogram, blocks_of, join_small, starts_of_topics

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=30)


@given(COUNTS, st.integers(1, 20))
def test_every_block_has_enough_users_or_is_the_only_one(sizes, least) -> None:
    size = np.array(sizes, dtype=np.int64)
    new = join_small(size, least)
    joined = np.bincount(new, weights=size)
    assert joined.sum() == size.sum()
    assert len(joined) == 1 or joined.min() >= least
    assert (np.diff(new) >= 0).all()
    assert (np.diff(new) <= 1).all()


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 100))
def test_topics_are_as_long_as_their_users_and_end_at_a_whole_block(users, per_block) -> None:
    n = np.array(users, dtype=np.int64)
    starts = starts_of_topics(Histogram(np.arange(len(n)), n, n * 50, 50), per_block)
    assert starts[0] == 0
    whole = n.sum() / per_block
    assert starts[-1] == max(1, round(starts[-1]))
    assert abs(starts[-1] - whole) <= 0.5 + 1e-9 or starts[-1] == 1 > whole
    share = np.diff(starts) / starts[-1]
    assert share == pytest.approx(n / n.sum())


@given(st.lists(st.integers(0, 5), min_size=1, max_size=200), st.integers(1, 30), st.integers(0, 9))
def test_a_user_is_in_a_block_of_its_topic_whoever_is_asked_for_with_it(of, per_block, seed) -> None:
    topics = np.array(of, dtype=np.int64)
    topic, n = np.unique(topics, return_counts=True)
    starts = starts_of_topics(Histogram(topic, n, n, 1), per_block)
    keyed = KeyedRandomness(Randomness(seed))
    names = pa.array([f"u{i}" for i in range(len(topics))])
    block = blocks_of(names, topics, topic, starts, keyed)
    at = np.searchsorted(topic, topics)
    assert (block >= np.floor(starts[at])).all()
    assert (block <= starts[at + 1]).all()
    some = np.arange(0, len(topics), 2)
    assert (blocks_of(names.take(pa.array(some)), topics[some], topic, starts, keyed) == block[some]).all()


def test_users_with_very_many_rows_need_more_blocks() -> None:
    users, rows = np.array([10, 10]), np.array([500, 8_000_000])
    starts = starts_of_topics(Histogram(np.arange(2), users, rows, 1_000_000), 5_000)
    assert starts[-1] == 8
    assert starts[1] < 0.1


def test_no_setting_of_blocks_is_one_block() -> None:
    n = np.array([7, 9])
    assert starts_of_topics(Histogram(np.arange(2), n, n, 1), None)[-1] == 1


def test_figures_of_blocks_are_those_of_the_whole() -> None:
    mean, saved = "mean distance to the group's medoid", "distance saved by refinement"
    one = {"users": 4, "groups": 2, "smallest group": 2, "largest group": 2, mean: 0.5, saved: 0.5, "queries": 7}
    two = {"users": 6, "groups": 1, "smallest group": 6, "largest group": 6, mean: 0.25, "queries": 1}
    found = added_up([one, two], counted=True)
    expected = {"groups": 3, "smallest group": 2, "largest group": 6, mean: 0.35, "queries": 8, "blocks": 2}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found[saved] == pytest.approx(1 - 3.5 / 5.5)
