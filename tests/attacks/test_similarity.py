from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from reference.cosines import cosine_sum, grams
from sample_releases import distinct_log, queries_of, release_of
from samples import sample_log

from querycloak.arrays.ragged import Ragged
from querycloak.attacks import similarity
from querycloak.attacks._similarity_kernels import Weighted, add_cosines
from querycloak.attacks.grams import code_grams
from querycloak.attacks.published_ids import PublishedIds
from querycloak.attacks.similarity import Similarity, chance_of_best
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.releases.classes import distinct_logs

ODD = ["", "a", "tea", "  Green   TEA ", "teapot", "tea-pot!", "ärger über öl", "茶の湯", "ab", "abc", "aaaaaa"]


def shifted(log: QueryLog) -> list[list[str]]:
    """Publish of each person a few own queries and a few of the next person."""
    logs = queries_of(log)
    return [log[::2] + logs[(i + 1) % len(logs)][:3] + log[:1] + [f"tea tea {i}"] for i, log in enumerate(logs)]


@pytest.mark.parametrize("at_once", [1, 5, 4096])
def test_scores_equal_the_reference(monkeypatch, at_once):
    monkeypatch.setattr(similarity, "LOGS_AT_ONCE", at_once)
    log = sample_log(users=9, queries=7)
    published = shifted(log)
    release = release_of(log, published, list(range(9)))
    people = np.array([0, 3, 8], dtype=np.int32)
    found = Similarity.of(log, release).scores(log, people)
    wanted = [cosine_sum(queries_of(log)[p], published) for p in people]
    np.testing.assert_allclose(found, wanted, atol=1e-5)  # rows are kept in single precision


def test_grams_are_those_of_the_reference():
    (first, second), size = code_grams(pl.Series(ODD), pl.Series(["tea", "x"]))
    texts = {}
    for text, row in zip([*ODD, "tea", "x"], first.to_lists() + second.to_lists(), strict=True):
        assert len(row) == len(grams(text))
        for gram, code in zip(grams(text), row, strict=True):
            assert texts.setdefault(gram, code) == code
    assert len(set(texts.values())) == len(texts) == size


def test_equal_published_logs_score_equal_to_the_last_bit():
    log = distinct_log(users=30, queries=9)
    logs = queries_of(log)
    groups = [[q for j in range(i - i % 3, i - i % 3 + 3) for q in logs[j]] for i in range(30)]
    groups = [group[i:] + group[:i] for i, group in enumerate(groups)]  # the order of rows tells nothing
    scores = Similarity.of(log, release_of(log, groups, list(range(30)))).scores(log, np.arange(30, dtype=np.int32))
    for first in range(0, 30, 3):
        assert (scores[:, first : first + 3] == scores[:, [first]]).all()


def test_logs_are_the_same_only_with_the_same_counts():
    log = QueryLog.of(["u"], ["a"])
    log_of, one = distinct_logs(release_of(log, [["a", "b"], ["b", "a"], ["a", "b", "b"], ["a"]], [0] * 4).log)
    assert log_of.tolist() == [0, 0, 1, 2]
    assert one.tolist() == [0, 2, 3]


def test_blocks_are_the_scores(monkeypatch):
    log = sample_log(users=9, queries=7)
    release = release_of(log, shifted(log), list(range(9)))
    people = np.arange(9, dtype=np.int32)
    found = Similarity.of(log, release)
    monkeypatch.setattr(similarity, "SCORES_AT_ONCE", 2 * 9)
    parts = list(found.blocks(log, people))
    assert len(parts) == 5
    np.testing.assert_array_equal(np.concatenate([scores for _, scores in parts]), found.scores(log, people))


def test_concepts_are_one_more_space():
    log = QueryLog.of(["ann", "bob"], ["tea", "motor"])
    bench = Workbench(log, "wordnet")
    release = release_of(log, [["beverage", "tea leaf"], ["engine"]], [0, 1])
    knowledge = {"concepts": bench.concepts, "release_concepts": bench.concepts_of(release), "taxonomy": bench.taxonomy}
    found = Similarity.of(log, release, **knowledge)
    assert [space.name for space in found.spaces] == ["words", "grams", "whole queries", "concepts"]
    assert found.cosines(log, np.arange(2, dtype=np.int32)).shape == (4, 2, 2)


def test_guesses_are_shared_among_the_best():
    scores = np.array([[1.0, 3.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 5.0]])
    assert chance_of_best(scores, PublishedIds.one_each(np.array([1, 0, 0], dtype=np.int32))).tolist() == [
        0.5,
        1 / 3,
        0.0,
    ]


def test_an_empty_release_has_no_scores():
    log = sample_log(users=2, queries=2)
    found = Similarity.of(log, release_of(log, [], []))
    assert found.scores(log, np.arange(2, dtype=np.int32)).shape == (2, 0)
    assert chance_of_best(np.zeros((2, 0)), PublishedIds.one_each(np.zeros(2, dtype=np.int32))).tolist() == [0, 0]


@pytest.mark.parametrize("logs", [1, 7])
def test_cosines_are_sums_in_the_order_of_the_features(logs):
    """Whole and in blocks the sums are the same to the last bit: single precision, one feature after the other."""
    rng = np.random.default_rng(logs)
    known, published = (rng.random((n, 20)).astype(np.float32) * (rng.random((n, 20)) < 0.4) for n in (4, logs))
    wanted = np.zeros((4, logs))
    for p, log in np.ndindex(4, logs):
        total = np.float32(0)
        for feature in np.flatnonzero(known[p]):
            total += np.float32(known[p, feature] * published[log, feature])
        wanted[p, log] = 0.5 + float(total)
    for step in (1, 3, logs):
        out = np.full((4, logs), 0.5)
        for first in range(0, logs, step):
            block = published[first : first + step]
            add_cosines(out, _rows(known), _rows(block.T), first, len(block))
        np.testing.assert_array_equal(out, wanted)


def _rows(dense: np.ndarray) -> Weighted:
    """Lay out what is not 0, row by row."""
    rows = Ragged.of_lists([np.flatnonzero(row).tolist() for row in dense], np.int32)
    return Weighted(rows.start.astype(np.int32), rows.values, dense[rows.owner, rows.values])
