"""Estimates: every method has a rate, words are those of people, and what is finished corrects the rest."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.evaluation.audit import audit
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.estimates import (
    AUDITED,
    LARGE,
    RATES,
    SMALL,
    Rate,
    Remaining,
    audit_seconds,
    in_words,
    judge_seconds,
    release_seconds,
    runs_seconds,
)
from querycloak.evaluation.workbench import Workbench


class Notes:
    """Keeps what is said."""

    def __init__(self):
        self.notes = []

    def start(self, step, total=None):
        pass

    def advance(self, units=1):
        pass

    def note(self, text):
        self.notes.append(text)


def test_every_method_has_a_rate_and_a_judgement_takes_longer_than_a_release():
    assert set(RATES) == set(METHODS.built_in) | set(STREAM_METHODS)
    assert set(AUDITED) == {name for name, m in METHODS.built_in.items() if "differential privacy" in m.guarantee}
    for release, whole in RATES.values():
        assert 0 < release.small <= release.large
        assert release.small <= whole.small
        assert release.large <= whole.large


def test_a_rate_is_what_was_measured_at_both_sizes():
    rate = Rate(2.0, 50.0)
    assert rate.seconds(SMALL) == pytest.approx(2)
    assert rate.seconds(LARGE) == pytest.approx(50)
    assert 2 < rate.seconds(40_000) < 50 < rate.seconds(1_000_000)


def test_what_has_no_rate_has_no_estimate():
    assert release_seconds("of-a-plugin", 1000) is None
    assert judge_seconds("of-a-plugin", 1000) is None
    assert audit_seconds("sweep", 1000) is None
    assert Remaining(None).total is None
    assert Remaining(None).after(1) is None


def test_the_rest_is_corrected_by_what_is_finished():
    now = [100.0]
    left = Remaining([10.0, 20.0, 30.0], clock=lambda: now[0])
    assert left.total == 60
    now[0] += 5  # twice as fast as thought
    assert left.after(1) == pytest.approx(25)
    now[0] += 55  # and then as fast as thought
    assert left.after(2) == pytest.approx(60)
    assert left.after(3) == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.1, "a few seconds"), (240, "about 4 minutes"), (1_500, "about 25 minutes"), (4_000, "about an hour")],
)
def test_words(seconds, words):
    assert in_words(seconds) == words


@pytest.mark.slow
def test_a_comparison_says_how_long_it_takes_and_how_long_is_left():
    log = qc.generate(users=20, queries=300, seed=1).log
    told = Notes()
    compare(Workbench(log), plan_runs(["sweep", "clump"], {"k": [2]}), processes=1, progress=told)
    assert told.notes[0] == "3 runs: a few seconds if this machine has nothing else to do"
    done = [text for text in told.notes if text.startswith("[")]
    assert done[0].endswith(" left")
    assert not done[-1].endswith(" left")


def test_runs_of_a_comparison_are_added_up():
    plans = plan_runs(["sweep", "clump"], {})
    one, two, three = runs_seconds(plans, SMALL)
    assert (two, three) == (RATES["sweep"][1].small, RATES["clump"][1].small)
    assert one > 0


@pytest.mark.slow
def test_an_audit_says_how_many_runs_there_will_be():
    told = Notes()
    found = audit("histogram-dp", runs=100, seed=1, pairs=["length"], progress=told)
    said = next(text for text in told.notes if "runs: " in text)
    number = int(said.split()[0].replace(",", ""))
    assert found.runs * 0.5 < number <= found.runs
