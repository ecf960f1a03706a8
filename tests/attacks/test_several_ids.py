"""A person may have several published ids: a link is right where the id named is one of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_policies import DAY, SPRING, log_of, published

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.attacks.attribute import attribute
from querycloak.attacks.claim import claim
from querycloak.attacks.known import longest_logs
from querycloak.attacks.known_queries import known_queries
from querycloak.attacks.matching import chance_of_match
from querycloak.attacks.published_ids import PublishedIds, published_ids
from querycloak.attacks.record_linkage import record_linkage
from querycloak.attacks.relink import relink
from querycloak.attacks.shape import shape
from querycloak.attacks.similarity import chance_of_best
from querycloak.evaluation.trials import NoTrials
from querycloak.evaluation.workbench import Workbench
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.published_logs import PublishedLogs

DAYS = '[ids]\nper = "day"\n'
PEOPLE, EACH = 8, 3


def some_days(texts=lambda user, day: f"word{user} thing{user} {day}"):
    """Everybody asks two queries on each of three days."""
    rows = [
        (f"u{u}", f"{texts(u, day)} {n}", SPRING + day * DAY + n)
        for u in range(PEOPLE)
        for day in range(EACH)
        for n in range(2)
    ]
    return log_of(rows)


LOG = some_days()
RELEASE = published(LOG, DAYS)


def ids_of(*lists):
    return PublishedIds(Ragged.of_lists(lists, np.int32))


def test_every_id_of_a_person_is_found():
    own = published_ids(LOG, RELEASE)
    assert own.counts.tolist() == [EACH] * PEOPLE
    for person, ids in enumerate(own.ids.to_lists()):
        assert (RELEASE.truth.user[ids] == person).all()
    with pytest.raises(AssertionError):
        _ = own.single


def test_the_chance_counts_every_right_id_among_the_best():
    scores = np.array([[3.0, 3.0, 3.0, 1.0], [3.0, 3.0, 3.0, 1.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    own = ids_of([0, 1], [2, 3], [0, 1], [])
    assert chance_of_best(scores, own).tolist() == [2 / 3, 1 / 3, 0.0, 0.0]
    assert chance_of_best(scores, own)[1:2].tolist() == chance_of_best(scores[1:2], own[1:2]).tolist()


bags = st.dictionaries(st.integers(0, 5), st.integers(1, 3), max_size=4)


@given(st.lists(bags, min_size=1, max_size=4), st.lists(bags, min_size=2, max_size=5), st.data())
def test_the_chance_of_several_ids_is_the_sum_of_those_of_each(known, shown, data):
    rows = st.lists(st.integers(0, len(shown) - 1), unique=True, max_size=3)
    lists = [sorted(data.draw(rows)) for _ in known]
    counted = [
        CountedRows.of(
            np.array([u for u, bag in enumerate(side) for n in bag.values() for _ in range(n)], dtype=np.int64),
            np.array([f for bag in side for f, n in bag.items() for _ in range(n)], dtype=np.int64),
            len(side),
        )
        for side in (known, shown)
    ]
    found = chance_of_match(*counted, ids_of(*lists), 6, cosine=False)
    each = np.array(  # float64[published, known], against the reference in test_matching.py
        [
            chance_of_match(*counted, PublishedIds.one_each(np.full(len(known), i)), 6, cosine=False)
            for i in range(len(shown))
        ]
    )
    np.testing.assert_allclose(found, [each[own, i].sum() for i, own in enumerate(lists)])


def test_linking_attacks_name_any_id_and_guess_among_all():
    bench = Workbench(LOG)
    halves = bench.halves(1)
    results = known_queries(LOG, RELEASE, Randomness(1))
    results.append(relink(LOG, RELEASE, Randomness(1), halves=halves))
    for result in results:
        assert result.rate == 1.0
        assert result.baseline.rate == pytest.approx(EACH / (EACH * PEOPLE))
        assert result.bound is None
    assert results[-1].details["group found"] == 1.0


def test_record_linkage_names_the_person_behind_each_id():
    result, of_all = record_linkage(LOG, RELEASE, Randomness(1))
    assert (result.rate, result.targets) == (1.0, EACH * PEOPLE)
    assert result.baseline.rate == 1 / PEOPLE
    assert (of_all.rate, of_all.targets) == (1.0, PEOPLE)


def test_shape_looks_for_the_longest_log():
    rows = [("a", "tea", SPRING), *[("a", "tea", SPRING + DAY + n) for n in range(5)], ("b", "tea", SPRING)]
    log = log_of(rows)
    release = published(log, DAYS)
    rows_of = np.bincount(release.log.user)
    found = longest_logs(log, release)
    assert rows_of[found].tolist() == [5, 1]
    assert release.truth.user[found].tolist() == [0, 1]

    bench = Workbench(LOG)
    results = shape(LOG, RELEASE, Randomness(1), halves=bench.halves(1), trials=bench.trials(RELEASE, 1))
    assert [r.attack for r in results] == ["shape, whole log", "shape, half known"]
    # all days look alike: he guesses, and is right with each of the person's ids
    assert all(r.rate == pytest.approx(EACH / (EACH * PEOPLE)) for r in results)


def test_own_texts_are_attributed_under_whichever_id_they_are():
    bench = Workbench(LOG)
    results = attribute(LOG, RELEASE, Randomness(1), QUIET, halves=bench.halves(1), askers=bench.askers_of(RELEASE))
    known = int(bench.halves(1).known.event.sum())
    assert results[0].targets == PEOPLE * EACH * 2 - known
    assert results[0].rate == 1.0


def test_claims_are_made_from_a_log_that_tells_something_new():
    bench = Workbench(LOG)
    results = claim(
        LOG,
        RELEASE,
        Randomness(1),
        QUIET,
        halves=bench.halves(1),
        askers=bench.askers_of(RELEASE),
        trials=NoTrials("not again"),
        concepts=bench.concepts,
        release_concepts=bench.concepts_of(RELEASE),
        taxonomy=bench.taxonomy,
    )
    assert results[0].details["people without a claim"] == 0
    assert results[0].rate == 1.0


def test_who_has_two_ids_in_a_class_hides_once():
    rows = [("a", "tea", SPRING), ("a", "tea", SPRING + DAY), ("b", "pot", SPRING), ("c", "pot", SPRING + DAY)]
    log = log_of(rows)
    logs = PublishedLogs.of(published(log, DAYS))
    members = sorted(zip(logs.size.tolist(), logs.members.to_lists(), strict=True))
    assert members == [(1, [0]), (2, [1, 2])]


def test_tasks_and_measures_read_a_person_with_several_ids():
    from querycloak.evaluation.assess import Assessor

    log = some_days(lambda user, day: ["tea", "car", "dog"][(user + day) % 3])
    run = Assessor(Workbench(log), 1).run(published(log, DAYS), name="days", rerun=False)
    useful = {u.task: u for u in run.utility}
    assert useful["volume"].value == 1.0
    assert useful["popularity"].value == pytest.approx(1.0)
    assert useful["profiles"].value == pytest.approx(1.0)  # over all ids of a person
    scores = {score.measure: score.value for score in run.scores}
    assert scores["queries unchanged"] == 1.0
    assert scores["volume kept"] == 1.0
    assert scores["rows per user"] == 2.0
    assert run.exposure.smallest_class == PEOPLE
