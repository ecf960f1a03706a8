from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sample_releases import distinct_log, release_of
from sample_trials import HandTrials, all_alike, as_it_is, nonsense_log
from samples import sample_log

from querycloak.attacks.membership import _cross_chosen, _no_worse_than_guessing, membership
from querycloak.attacks.result import CannotAttackError, NothingToAttackError
from querycloak.attacks.roc import area
from querycloak.evaluation.trials import NoTrials
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.account import ADD_REMOVE, AccountLine

LOG = distinct_log(users=120, queries=4)


def attack(log, publish):
    bench = Workbench(log)
    trials = HandTrials(bench, publish) if callable(publish) else publish
    return membership(
        log,
        as_it_is(log),
        Randomness(1),
        QUIET,
        halves=bench.halves(1),
        trials=trials,
        concepts=bench.concepts,
        taxonomy=bench.taxonomy,
    )


def test_a_release_that_leaks_all():
    whole, percent = attack(LOG, as_it_is)
    assert (whole.rate, whole.targets, whole.risk) == (1.0, 120, "membership")
    assert 0.85 < whole.low < 1.0
    assert (percent.rate, percent.risk) == (1.0, "membership at 1 %")
    assert percent.high == 1.0
    assert percent.baseline.rate == 0.01


def test_a_release_that_leaks_nothing():
    whole, percent = attack(LOG, lambda part: all_alike(part, ["tea", "word thing"]))
    assert whole.lift_low < 0.0 < whole.lift_high
    assert whole.baseline.rate == 0.0
    assert percent.lift_low < 0.0 < percent.lift_high


def test_a_release_of_nonsense_leaks_nothing():
    log = nonsense_log(200, queries=6)
    noise = nonsense_log(100, queries=6, seed=9)
    whole, percent = attack(log, lambda part: release_of(part, [noise.queries.to_list()], [0]))
    assert whole.lift_low < 0.0 < whole.lift_high
    assert percent.low < 0.01 < percent.high


class Counted(HandTrials):
    """Draws people at random, and counts the draws."""

    def __init__(self, bench, publish):
        super().__init__(bench, publish)
        self.drawn = []

    def half_of_people(self, draw=0):
        self.drawn.append(draw)
        return self._of(np.random.default_rng(draw).random(len(self.bench.log.users)) < 0.5)


def promised(release):
    """Return the release as if it had been made with differential privacy."""
    line = AccountLine(purpose="all", relation=ADD_REMOVE, epsilon=1.0)
    return replace(release, statement=replace(release.statement, account=(line,)))


@pytest.mark.slow
@pytest.mark.parametrize(("people", "draws"), [(120, 20), (2400, 20)])
def test_a_promise_of_differential_privacy_is_tried_in_many_draws(people, draws):
    log = nonsense_log(people, queries=4, shared=lambda u: f"{'tea ' * (u % 3)}word{u % 11}")
    bench = Workbench(log)
    trials = Counted(bench, lambda part: all_alike(part, ["tea word1", "word2 word3", "tea word4", "word9"]))
    parts = {"halves": bench.halves(1), "trials": trials, "concepts": bench.concepts, "taxonomy": bench.taxonomy}
    whole, percent = membership(log, promised(as_it_is(log)), Randomness(1), QUIET, **parts)
    assert trials.drawn == list(range(draws))
    assert whole.details["draws of who is inside"] == draws
    assert whole.rate == 0.0
    assert whole.lift_high < 2.6 / (draws * min(people, 2000)) ** 0.5  # in one draw four times as much
    assert percent.lift_high < 0.06


def test_draws_that_publish_nothing_tell_nothing():
    log = nonsense_log(120, queries=4)
    bench = Workbench(log)
    parts = {"halves": bench.halves(1), "concepts": bench.concepts, "taxonomy": bench.taxonomy}

    class Every(Counted):
        def half_of_people(self, draw=0):
            trial = super().half_of_people(draw)
            return trial if draw % 2 else replace(trial, release=release_of(trial.log, [], []))

    release = promised(as_it_is(log))
    whole, _ = membership(log, release, Randomness(1), QUIET, trials=Every(bench, as_it_is), **parts)
    assert whole.rate == pytest.approx(0.5, abs=0.05)  # all is told in every other draw


def test_half_of_those_inside_are_dropped():
    log = nonsense_log(120, queries=4)
    whole, percent = attack(log, lambda part: as_it_is(part, who=lambda u: u % 4 == 0))
    assert whole.low < 0.5 < whole.high
    assert abs(whole.rate - 0.5) < 0.2
    assert percent.low < 0.5 < percent.high


def test_few_people_say_so():
    log = distinct_log(users=40, queries=4)
    percent = attack(log, as_it_is)[1]
    assert percent.details["too few people to resolve 1 %"] == 1.0
    assert percent.low == 0.0
    assert attack(distinct_log(users=220, queries=2), as_it_is)[1].details["too few people to resolve 1 %"] == 0.0


def test_people_with_one_event_are_not_asked_for():
    log = QueryLog.of([f"u{u}" for u in range(30)] * 2, [f"word{u}" for u in range(60)])
    more = QueryLog.of(
        [*log.users[log.user].to_list(), "single"], [*log.queries[log.query].to_list(), "once"], times=list(range(61))
    )
    assert attack(more, as_it_is)[0].targets == 30


def test_too_few_people():
    with pytest.raises(CannotAttackError, match="people with two queries"):
        attack(distinct_log(users=5), as_it_is)


def test_a_method_that_cannot_be_run_again():
    with pytest.raises(CannotAttackError, match="no file"):
        attack(LOG, NoTrials("no file"))


def test_an_empty_trial_is_nothing_to_attack():
    with pytest.raises(NothingToAttackError):
        attack(LOG, lambda part: release_of(part, [], []))


def test_worse_than_guessing_counts_as_guessing():
    assert _no_worse_than_guessing(0.75, 0.5, 0.875) == (0.75, 0.5, 0.875)
    assert _no_worse_than_guessing(0.25, 0.125, 0.375) == (0.5, 0.375, 0.625)


def test_a_score_is_not_judged_on_those_who_chose_it():
    # 100 scores that tell nothing: the best of them by luck tells something on the people it was chosen on.
    numbers = np.random.default_rng(7)
    inside = np.arange(60) % 2 == 0
    found = []
    for seed in range(30):
        score = _cross_chosen(numbers.normal(size=(100, 60)), inside, Randomness(seed))
        found.append(area(score[inside], score[~inside]))
    assert abs(np.mean(found) - 0.5) < 0.06  # four standard errors; chosen on the same people it is near 0.65


def test_different_scores_are_brought_to_one_scale():
    # The one half chooses a score in thousands, the other one in units: together they still tell all apart.
    inside = np.arange(200) % 2 == 0
    clear = inside + np.linspace(0, 0.1, 200)
    for factor in (1000.0, 0.001):
        scores = np.stack([clear, clear * factor + 5000])
        score = _cross_chosen(scores, inside, Randomness(1))
        assert area(score[inside], score[~inside]) == 1.0


@pytest.mark.parametrize(
    "method",
    [
        "frequent-queries",
        pytest.param("self-adjusting", marks=pytest.mark.slow),
        "clump",
        pytest.param("semantic-dp", marks=pytest.mark.slow),
    ],
)
def test_every_kind_of_release(method):
    bench = Workbench(sample_log(users=40))
    settings = {"epsilon": 20.0, "delta": 0.1, "per_user": 5} if method == "frequent-queries" else {}
    settings |= {"as_in_paper": True} if method == "self-adjusting" else {}
    found = bench.try_attacks(bench.anonymize(method, seed=1, **settings), ["membership"], seed=1)
    assert [r.attack for r in found.results] == ["membership", "membership, 1 % false positives"]
    assert all(r.low <= r.rate <= r.high for r in found.results)
