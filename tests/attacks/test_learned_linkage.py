from __future__ import annotations

import sys

import numpy as np
import pytest
from sample_releases import distinct_log, queries_of, release_of
from trials_by_hand import NoTrialsByHand, TrialsByHand, published_as_asked, shaped_log

from querycloak.attacks.halves import halves
from querycloak.attacks.learned_linkage import learned_linkage
from querycloak.attacks.pair_features import PairFeatures
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.similarity import Similarity
from querycloak.attacks.targets import find_targets
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness

RANDOM = Randomness(1)
LOG = distinct_log(users=60, queries=8)
AS_IT_IS = TrialsByHand(lambda queries: queries)


def attacked(release, log=LOG, trials=AS_IT_IS):
    return learned_linkage(log, release, RANDOM, halves=halves(log, RANDOM), trials=trials)


def test_new_ids_alone_leak_everything():
    result = attacked(published_as_asked(LOG))
    assert result.rate == 1.0
    assert result.targets == 30  # the other half is learned from
    assert result.details["people learned from"] == 30
    assert result.baseline.rate == 1 / 60


def test_equal_logs_leak_nothing():
    result = attacked(release_of(LOG, [["tea"]] * 60, list(range(60))))
    np.testing.assert_allclose(result.rate, 1 / 60)
    assert result.lift_low <= 0 <= result.lift_high


def test_logs_of_others_leak_nothing():
    lists = queries_of(LOG)
    order = np.random.default_rng(2).permutation(60)
    result = attacked(release_of(LOG, [lists[i] for i in order], list(range(60))))
    assert result.low <= 1 / 60 <= result.high


@pytest.mark.parametrize("k", [2, 5])
def test_groups_of_k_give_exactly_one_in_k(k):
    lists = queries_of(LOG)
    published = [[q for one in lists[i - i % k : i - i % k + k] for q in one] for i in range(60)]
    result = attacked(release_of(LOG, published, list(range(60)), k=k))
    np.testing.assert_allclose(result.rate, 1 / k)
    assert result.bound == 1 / k


def test_it_learns_that_shape_tells_where_texts_do_not():
    log = shaped_log(users=60, queries=24)

    def publish(queries):
        return [q.replace("tea", "cup") for q in queries]

    lists = [publish(queries) for queries in queries_of(log)]
    result = attacked(release_of(log, lists[::-1], list(range(59, -1, -1))), log, TrialsByHand(publish))
    assert result.rate > 0.7


def test_the_attacked_are_not_learned_from():
    """Learning sees the truth of the first half only: with another truth for the attacked, the same id is named."""
    right = attacked(published_as_asked(LOG))
    lists = queries_of(LOG)
    learned = RANDOM.child("learn").permutation(60)[:30]
    others = np.setdiff1d(np.arange(60), learned)
    truth = np.arange(60)
    truth[others] = np.roll(others, 1)
    wrong = attacked(release_of(LOG, lists, truth.tolist()))
    assert (right.rate, wrong.rate) == (1.0, 0.0)


def test_hours_are_a_feature_where_times_are_published():
    release = published_as_asked(LOG)
    known = halves(LOG, RANDOM).known
    plain = features(release, known)
    timed = QueryLog(LOG.user, LOG.users, LOG.query, LOG.queries, time=LOG.time)
    with_times = type(release)(timed, release.statement, release.truth)
    assert features(with_times, known).shape[2] == plain.shape[2] + 1


def features(release, known):
    similarity = Similarity.of(LOG, release)
    made = PairFeatures.of(known, release, similarity, known, np.arange(60, dtype=np.int32))
    return np.concatenate([x for _, x in made.blocks(find_targets(known, release, RANDOM))])


def test_few_people_are_refused():
    log = distinct_log(users=19, queries=4)
    with pytest.raises(CannotAttackError, match="20 published people"):
        attacked(published_as_asked(log), log)
    log = distinct_log(users=20, queries=4)
    assert attacked(published_as_asked(log), log, NoTrialsByHand()).targets == 10


def test_an_empty_release_cannot_be_attacked():
    with pytest.raises(CannotAttackError):
        attacked(release_of(LOG, [], []))


def test_logs_without_times_and_people_with_one_event():
    rows = [(f"u{u}", f"word{u} {q}") for u in range(40) for q in range(1 if u < 5 else 4)]
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows])
    result = attacked(published_as_asked(log), log)
    assert result.targets == 18  # of five nothing is known
    assert result.rate > 0.9


def test_of_too_many_pairs_a_sample_of_the_people_is_attacked(monkeypatch):
    module = sys.modules["querycloak.attacks.learned_linkage"]
    monkeypatch.setattr(module, "LEAST_ATTACKED", 3)
    monkeypatch.setattr(module, "PAIRS", 10 * 60)
    result = attacked(published_as_asked(LOG))
    assert result.rate == 1.0
    assert result.targets == 10
    assert result.details["people of whom these are a sample"] == 60
    monkeypatch.setattr(module, "PAIRS", 1)
    monkeypatch.setattr(module, "LEAST_TO_LEARN_FROM", 4)
    result = attacked(published_as_asked(LOG))
    assert result.targets == 3
    assert result.details["people learned from"] == 4
