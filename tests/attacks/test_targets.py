from __future__ import annotations

import numpy as np
from sample_releases import distinct_log, queries_of, release_of

from querycloak.attacks.targets import MOST_TARGETS, events_of, find_targets, sample
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness

RANDOM = Randomness(1)


def test_targets_are_the_published_people_with_known_queries():
    log = distinct_log(users=6, queries=2)
    release = release_of(log, queries_of(log)[1:4], [3, 1, 2])
    known = log.take(log.user != 2)
    found = find_targets(known, release, RANDOM)
    assert found.people.tolist() == [1, 3]
    assert found.owner.single.tolist() == [1, 0]
    assert found.not_published == 3
    assert found.details == {"people not published": 3.0}


def test_too_few_known_events_make_no_target():
    log = QueryLog.of(["a", "a", "b"], ["x", "y", "z"])
    release = release_of(log, [["x"], ["z"]], [0, 1])
    assert events_of(log).tolist() == [2, 1]
    assert find_targets(log, release, RANDOM, at_least=2).people.tolist() == [0]
    assert find_targets(log, release, RANDOM).details == {}


def test_clicks_on_one_query_are_one_event():
    log = QueryLog.of(["a", "a"], ["x", "x"], times=[1, 1], urls=["s", "t"])
    assert events_of(log).tolist() == [1]


def test_a_sample_is_drawn_from_all():
    people = np.arange(3 * MOST_TARGETS)
    drawn = sample(people, RANDOM)
    assert len(set(drawn.tolist())) == MOST_TARGETS
    assert (np.diff(drawn) > 0).all()
    assert 0.4 < (drawn >= 1.5 * MOST_TARGETS).mean() < 0.6
    assert sample(people[:5], RANDOM).tolist() == [0, 1, 2, 3, 4]


def test_a_sample_says_of_how_many():
    log = distinct_log(users=6, queries=2)
    found = find_targets(log, release_of(log, queries_of(log), list(range(6))), RANDOM, most=4)
    assert len(found) == 4
    assert found.details == {"people of whom these are a sample": 6.0}
