from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from reference.cosines import cosine_sum, grams
from sample_releases import distinct_log, queries_of, release_of
from samples import sample_log

from querycloak.attacks import similarity
from querycloak.attacks.grams import code_grams
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
    assert chance_of_best(scores, np.array([1, 0, 0], dtype=np.int32)).tolist() == [0.5, 1 / 3, 0.0]


def test_an_empty_release_has_no_scores():
    log = sample_log(users=2, queries=2)
    found = Similarity.of(log, release_of(log, [], []))
    assert found.scores(log, np.arange(2, dtype=np.int32)).shape == (2, 0)
    assert chance_of_best(np.zeros((2, 0)), np.zeros(2, dtype=np.int32)).tolist() == [0, 0]
