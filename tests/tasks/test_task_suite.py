"""The suite as a whole: its two ends, damage in between, and releases that cannot do a task."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from sample_releases import release_of
from sample_tasks import TASKS, concepts_of, count_release, damaged, prepared, scores, world

from querycloak.errors import ParameterError
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness
from querycloak.releases.release import ItemRelease, LogRelease, StreamRelease, Truth
from querycloak.tasks.original import as_release, blind_log
from querycloak.tasks.suite import REPORTED, score_tasks
from querycloak.tasks.task import TaskScore, scaled

LOG = world()
DATA = prepared(LOG)
ORIGINAL = scores(DATA, LOG)
BLIND = scores(DATA, blind_log(LOG, Randomness(4)))


def test_the_original_has_the_best_value_there_is():
    assert [ORIGINAL[task].value for task in TASKS[1:]] == pytest.approx([1] * 4)
    assert ORIGINAL["suggestions"].value > 0.5  # four of five next queries are the successor
    for task in TASKS:
        assert scaled(ORIGINAL[task], ORIGINAL[task], BLIND[task]).value == 1


@pytest.mark.parametrize("task", TASKS)
def test_another_blind_log_is_near_zero(task):
    other = scores(DATA, blind_log(LOG, Randomness(5)))[task]
    found = scaled(other, ORIGINAL[task], BLIND[task])
    # Two blind logs differ by chance alone. The interval that says so is 1.96 standard errors; 3 of them are allowed.
    half = max(other.high - other.low, BLIND[task].high - BLIND[task].low) / 2
    assert abs(found.value) <= 0.02 + 1.5 * half / (ORIGINAL[task].value - BLIND[task].value)
    assert abs(found.value) < 0.2


@pytest.mark.parametrize("task", TASKS)
def test_more_damage_is_less_value(task):
    values = [scores(DATA, damaged(LOG, share))[task].value for share in (0, 0.2, 0.4, 0.6, 0.8)]
    assert all(later < earlier for earlier, later in pairwise(values)), values
    assert values[0] == ORIGINAL[task].value


@pytest.mark.parametrize("task", TASKS)
def test_the_interval_holds_the_value_and_is_narrower_with_more_people(task):
    few = world(people=40)
    wide = scores(prepared(few), damaged(few, 0.4))[task]
    narrow = scores(DATA, damaged(LOG, 0.4))[task]
    for score in (wide, narrow):
        assert 0 <= score.low <= score.value <= score.high <= 1
        assert score.low < score.high
    assert narrow.high - narrow.low < wide.high - wide.low


def test_counts_have_no_order_and_no_people():
    texts, counts = np.unique([LOG.queries[q] for q in LOG.query.tolist()], return_counts=True)
    found = scores(DATA, count_release(texts.tolist(), counts.tolist()))
    for task in ("suggestions", "suggestions, shared texts", "profiles", "sessions"):
        assert not found[task].possible
        assert (found[task].value, found[task].low, found[task].high) == (0, 0, 0)
        assert found[task].note
    assert found["topics"].value == pytest.approx(1)
    assert found["volume"].value == pytest.approx(1)
    assert found["popularity"].value > 0.5  # events and people do not order texts quite alike


def test_a_count_counts_as_often_as_it_says():
    log = QueryLog.of(["u", "u", "u", "v"], ["4.a", "4.a", "4.a", "5.b"])
    right = scores(prepared(log), count_release(["4.a", "5.b"], [3, 1]))
    wrong = scores(prepared(log), count_release(["4.a", "5.b"], [1, 3]))
    assert right["topics"].value == pytest.approx(1)
    assert wrong["topics"].value < 0.9
    assert scores(prepared(log), count_release(["4.a", "5.b"], [1, -1]))["volume"].value == pytest.approx(0.25)


@pytest.mark.parametrize("kind", [LogRelease, StreamRelease])
def test_an_empty_release_can_do_nothing(kind):
    release = as_release(LOG)
    empty = kind(release.log.take(np.zeros(0, dtype=np.int64)), release.statement, release.truth)
    found = scores(DATA, empty)
    assert set(found) == {*TASKS, *REPORTED}
    assert not any(score.possible or score.value or score.high for score in found.values())


def test_an_empty_log_can_be_prepared():
    log = LOG.take(np.zeros(0, dtype=np.int64))
    assert not any(score.possible for score in scores(prepared(log), LOG, only=TASKS).values())


def test_streams_and_items_are_scored():
    release = as_release(LOG)
    stream = StreamRelease(LOG, release.statement, Truth(release.truth.user, LOG.user))
    assert scores(DATA, stream)["sessions"].value == 1
    items = ItemRelease(replace(LOG, time=None), release.statement, release.truth)
    found = scores(DATA, items)
    assert all(found[task].possible for task in TASKS)
    assert found["profiles"].value == 1


def test_without_the_truth_profiles_are_not_possible_and_suggestions_say_so():
    found = scores(DATA, replace(as_release(LOG), truth=None))
    assert not found["profiles"].possible
    assert "truth" in found["profiles"].note
    assert "could not be left out" in found["suggestions"].note
    assert found["topics"].value == 1
    assert found["topics"].low < 1  # people and ids are drawn apart


def test_tasks_are_chosen_by_name_and_come_in_their_order():
    assert list(scores(DATA, LOG, only=["topics", "suggestions"])) == ["suggestions", "topics"]
    assert scores(DATA, LOG, only=["volume"])["volume"] == ORIGINAL["volume"]
    with pytest.raises(ParameterError, match=r"profits.*profiles"):
        scores(DATA, LOG, only=["profits"])


def test_the_same_randomness_has_the_same_scores():
    again = score_tasks(prepared(LOG), as_release(LOG), concepts_of(LOG))
    assert again == list(ORIGINAL.values())


def test_scores_are_written_and_read():
    score = ORIGINAL["topics"]
    assert msgspec.json.decode(msgspec.json.encode(score), type=TaskScore) == score


def test_nothing_that_is_prepared_shows_a_text_or_a_user():
    shown = repr(DATA) + repr(DATA.log) + repr(DATA.cases) + repr(DATA.codes) + repr(DATA.pairs)
    assert ".t1" not in shown
    assert "u1" not in shown


def test_volume_is_the_smaller_over_the_larger():
    log = QueryLog.of(["u", "v"], ["4.a", "5.b"])
    assert scores(prepared(log), release_of(log, [["4.a"] * 8], [0]))["volume"].value == 0.25
    assert scores(prepared(log), release_of(log, [["4.a"]], [0]))["volume"].value == 0.5
