"""Further releases: made from the part they say, once, and without a trace."""

from __future__ import annotations

import numpy as np
import pytest
from samples import sample_log

from querycloak.attacks.result import CannotAttackError
from querycloak.evaluation.trials import NoTrials
from querycloak.evaluation.workbench import Workbench
from querycloak.releases.ledger import make_ledger


@pytest.fixture(scope="module")
def bench():
    return Workbench(sample_log(users=30))


@pytest.fixture(scope="module")
def trials(bench):
    return bench.trials(bench.anonymize("plain-microaggregation", k=3, seed=1), 1)


def test_people_held_out_are_not_in_it(bench, trials):
    trial = trials.without_held_out()
    out = np.flatnonzero(~trial.inside)
    assert len(out) == 6
    assert not np.isin(trial.release.truth.user, out).any()
    assert not np.isin(trial.log.user, out).any()
    assert trials.without_held_out() is trial


def test_half_of_the_people(trials):
    assert trials.half_of_people().inside.sum() == 15


def test_every_draw_is_another_half_and_comes_out_again(trials):
    inside = np.stack([trials.half_of_people(draw).inside for draw in (0, 1, 2, 1)])
    assert inside.sum(axis=1).tolist() == [15] * 4
    assert len(np.unique(inside, axis=0)) == 3
    assert inside[1].tolist() == inside[3].tolist()
    assert trials.half_of_people(0) is trials.half_of_people(0)


def test_the_later_half_of_each_log(bench, trials):
    later = trials.later_half().log
    known = bench.halves(1).known
    assert len(later) + len(known) == len(bench.log)
    assert later.time.min() > known.time.min()


def test_the_blind_log_has_as_many_events_for_each_person(bench, trials):
    blind = trials.blind().log
    count = np.bincount(blind.user[blind.event], minlength=30)
    assert count.tolist() == np.bincount(bench.log.user[bench.log.event], minlength=30).tolist()


def test_a_blind_run_with_a_budget_has_next_to_none(bench):
    release = bench.anonymize("semantic-dp", epsilon=5.0, seed=1)
    assert bench.trials(release, 1).blind().release.statement.parameters["epsilon"] == 1e-9


def test_a_ledger_is_neither_read_nor_spent(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the statement names the ledger without its folder
    ledger = tmp_path / "ledger"
    make_ledger(ledger, log="sample", epsilon=5.0)
    settings = {"epsilon": 5.0, "ledger": str(ledger), "ledger_log": "sample"}
    release = bench.anonymize("semantic-dp", seed=1, **settings)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    trial = bench.trials(release, 1).without_held_out()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert trial.release.statement.settings.get("ledger") is None


def test_the_same_seed_makes_the_same_trials(bench):
    release = bench.anonymize("plain-microaggregation", k=3, seed=1)
    one, two = (bench.trials(release, 7).half_of_people().release.log for _ in range(2))
    assert one.users.to_list() == two.users.to_list()
    assert one.query.tolist() == two.query.tolist()


def test_methods_share_the_parts_of_a_log(bench, trials):
    other = bench.trials(bench.anonymize("plain-microaggregation", k=5, seed=1), 1)
    assert other.without_held_out().log is trials.without_held_out().log


def test_a_method_that_refuses_a_part_says_so(bench):
    release = bench.anonymize("plain-microaggregation", k=20, seed=1)
    trials = bench.trials(release, 1)
    for _ in range(2):
        with pytest.raises(CannotAttackError, match="refuses a part of the log"):
            trials.half_of_people()


def test_without_further_runs_every_part_is_refused():
    none = NoTrials("because")
    for call in (none.without_held_out, none.half_of_people, none.later_half, none.blind):
        with pytest.raises(CannotAttackError, match="because"):
            call()
