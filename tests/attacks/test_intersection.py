from __future__ import annotations

import numpy as np
import pytest
from sample_releases import distinct_log, queries_of, release_of

from querycloak.attacks.intersection import intersection
from querycloak.attacks.result import CannotAttackError
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.progress import QUIET
from querycloak.randomness import Randomness

LOG = distinct_log(users=40, queries=3)
TEA = QueryLog.of(["a", "b", "c"], ["tea", "tea", "tea"])


def grouped(log, group_of, keep=lambda text: True):
    """Publish for each user all queries of its group."""
    logs = queries_of(log)
    users = [u for u in range(len(logs)) if group_of(u) is not None]
    published = [[q for v in users if group_of(v) == group_of(u) for q in logs[v] if keep(q)] for u in users]
    return release_of(log, published, users)


def attack(log, release, *also):
    askers = Workbench(log).askers_of(release)
    return intersection(log, release, Randomness(1), QUIET, askers=askers, also=also)


def test_groups_that_cross_name_everybody():
    queries, people = attack(LOG, grouped(LOG, lambda u: u // 5), grouped(LOG, lambda u: u % 8))
    assert (queries.rate, queries.targets, queries.unit) == (1.0, 120, "query")
    assert (people.rate, people.targets, people.unit) == (1.0, 40, "person")
    np.testing.assert_allclose([queries.baseline.rate, people.baseline.rate], 0.2)
    assert queries.details["people named"] == 40
    assert queries.low < 0.95  # 40 people, not 120 independent texts


def test_the_same_groups_again_add_nothing():
    release = grouped(LOG, lambda u: u // 5)
    queries, people = attack(LOG, release, release)
    assert queries.rate == people.rate == 0.0
    assert queries.details["cut to one candidate"] == 0
    np.testing.assert_allclose(queries.baseline.rate, 0.2)


def test_one_person_in_four_is_named():
    # groups of 4, and again with the first member of each in a group of its own kind
    queries, people = attack(LOG, grouped(LOG, lambda u: u // 4), grouped(LOG, lambda u: 100 if u % 4 == 0 else u // 4))
    assert queries.rate == people.rate == 0.25
    np.testing.assert_allclose(queries.baseline.rate, 0.25)
    assert queries.low < 0.25 < queries.high


def test_a_third_release_cuts_further():
    first, second = grouped(LOG, lambda u: u // 8), grouped(LOG, lambda u: u // 4)
    assert attack(LOG, first, second)[0].rate == 0.0
    assert attack(LOG, first, second, grouped(LOG, lambda u: u % 4))[0].rate == 1.0


def test_one_candidate_who_is_not_the_asker_is_no_success():
    logs = queries_of(LOG)
    wrong = release_of(LOG, [logs[(u + 1) % 40] for u in range(40)], list(range(40)))
    queries, people = attack(LOG, grouped(LOG, lambda u: u // 5), wrong)
    assert queries.details["cut to one candidate"] == 96  # 32 people with a neighbour in the group
    assert queries.rate == people.rate == 0.0


def test_texts_of_several_people_are_no_targets():
    log = QueryLog.of(["a", "a", "b", "b", "c"], ["tea", "my name", "tea", "other name", "tea"])
    release = grouped(log, lambda u: 0)
    queries, people = attack(log, release, grouped(log, lambda u: u))
    assert queries.targets == 2
    assert people.targets == 2
    with pytest.raises(CannotAttackError, match="only one person"):
        attack(TEA, grouped(TEA, lambda u: 0), grouped(TEA, lambda u: u))


def test_texts_in_one_release_alone_are_no_targets():
    other = grouped(LOG, lambda u: u % 8, keep=lambda text: text.endswith("1"))
    assert attack(LOG, grouped(LOG, lambda u: u // 5), other)[0].targets == 40


def test_people_dropped_by_one_release():
    release = grouped(LOG, lambda u: u // 5 if u >= 5 else None)
    queries, _ = attack(LOG, release, grouped(LOG, lambda u: u % 8))
    assert (queries.rate, queries.targets) == (1.0, 105)


def test_a_release_with_one_person_alone_has_no_lift():
    queries, _ = attack(LOG, grouped(LOG, lambda u: u), grouped(LOG, lambda u: u % 8))
    assert queries.rate == 1.0
    assert queries.lift == 0.0
    assert queries.details["one candidate in the first release alone"] == 120


def test_without_other_releases_it_says_what_is_missing():
    with pytest.raises(CannotAttackError, match="--also"):
        attack(LOG, grouped(LOG, lambda u: u // 5))


def test_empty_release():
    with pytest.raises(CannotAttackError, match="only one person"):
        attack(LOG, release_of(LOG, [], []), grouped(LOG, lambda u: u))
