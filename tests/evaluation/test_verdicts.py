"""The verdict on one release, from what was found out about it."""

from __future__ import annotations

import dataclasses

import pytest
from sample_attacks import found
from samples import sample_log
from test_advice import FINE, run

from querycloak.evaluation.assess import Assessor
from querycloak.evaluation.check import check_release
from querycloak.evaluation.workbench import Workbench
from querycloak.releases.verify import Finding

HOLDS = [Finding("all is well", True, "seen")]


@pytest.fixture(scope="module")
def bench():
    return Workbench(sample_log())


def judged(bench, monkeypatch, made, *, seed=None, findings=HOLDS, tasks=("topics",)):
    """Check a release about which `made` was found out."""
    release = bench.anonymize("plain-microaggregation", k=5, seed=seed)
    monkeypatch.setattr(Assessor, "run", lambda *_, **__: made)
    return check_release(Assessor(bench), release, tasks=tasks, findings=findings)


def test_all_four_conditions(bench, monkeypatch):
    check = judged(bench, monkeypatch, run())
    assert (check.verdict, check.exit_code) == ("RELEASE", 0)
    assert all(light.colour != "red" for light in check.lights)


def test_a_release_made_with_a_seed_is_never_released(bench, monkeypatch):
    check = judged(bench, monkeypatch, run(), seed=1)
    assert (check.verdict, check.exit_code) == ("DO NOT RELEASE", 1)
    assert check.changes[0] == "make it again without a seed"


def test_files_that_do_not_keep_the_statement(bench, monkeypatch):
    check = judged(bench, monkeypatch, run(), findings=[Finding("groups", False, "too small")])
    assert check.verdict == "DO NOT RELEASE"
    assert "groups (too small)" in check.reasons[0]


def test_an_attack_above_its_limit_is_red(bench, monkeypatch):
    bad = found("claim", 0.5, risk="claim", high=0.6, question="inference")
    check = judged(bench, monkeypatch, run(attacks=[*FINE, bad]))
    assert check.verdict == "DO NOT RELEASE"
    assert {light.question: light.colour for light in check.lights}["inference"] == "red"


def test_nothing_is_proved_needs_a_human(bench, monkeypatch):
    check = judged(bench, monkeypatch, run(proves={}))
    assert (check.verdict, check.exit_code) == ("NEEDS A HUMAN", 3)


def test_a_budget_above_the_limit_is_not_released(bench, monkeypatch):
    assert judged(bench, monkeypatch, run(proves={"epsilon": 100.0})).verdict == "DO NOT RELEASE"


def test_what_could_not_be_tested_needs_a_human(bench, monkeypatch):
    check = judged(bench, monkeypatch, run(not_run={"claim": "no truth"}))
    assert check.verdict == "NEEDS A HUMAN"
    assert "claim: no truth" in check.not_tested
    assert {light.question: light.colour for light in check.lights}["inference"] == "amber"


def test_of_no_use_needs_a_human(bench, monkeypatch):
    assert judged(bench, monkeypatch, run(utility=())).verdict == "NEEDS A HUMAN"


def test_the_gravest_comes_first_and_changes_do_not_repeat(bench, monkeypatch):
    made = run(attacks=[found("claim", 0.5, risk="claim", high=0.6)], utility=())
    exposed = dataclasses.replace(made, exposure=run(exposure=made.exposure).exposure)
    check = judged(bench, monkeypatch, exposed)
    assert check.reasons[0].startswith("claim")
    assert len(set(check.changes)) == len(check.changes)
