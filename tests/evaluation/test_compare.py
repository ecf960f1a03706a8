from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from cli.command import querycloak, refused
from samples import sample_log

from querycloak.errors import ParameterError, UnknownNameError, UserError
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.limits import Limits
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.report.html import write_report

PLANS = plan_runs(["sweep"], {"min_query_users": [1, 2, 30]})


def numbers(path):
    """Results without the times that differ from run to run."""
    found = json.loads((path / "results.json").read_text())
    for run in found["runs"]:
        run["seconds"] = sorted(run["seconds"])
    return found


@pytest.mark.slow
def test_runs_attacks_measures_and_writes_three_files(tmp_path):
    found = compare(Workbench(sample_log()), PLANS, tmp_path)
    write_report(found, tmp_path)
    assert found.runs[0].name == "pseudonyms only"
    assert found.runs[0].worst(found.limits).judged > 0.2
    assert all("relink-half" in [a.attack for a in r.attacks] for r in found.runs[:3])
    assert all(r.exposure is not None and r.utility for r in found.runs if r.error is None)
    for name in ["results.json", "results.csv", "report.html"]:
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "report.html").stat().st_size < 5_000_000


@pytest.mark.slow
def test_the_same_command_goes_on_where_it_stopped(tmp_path):
    first = compare(Workbench(sample_log()), PLANS[:2], tmp_path / "a")
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "a" / "runs").iterdir()}
    compare(Workbench(sample_log()), PLANS, tmp_path / "a")
    assert all(p.stat().st_mtime_ns == t for p, t in stamps.items())
    compare(Workbench(sample_log()), PLANS, tmp_path / "b")
    assert numbers(tmp_path / "a") == numbers(tmp_path / "b")
    assert len(first.runs) == 2


def test_a_damaged_run_is_run_again(tmp_path):
    compare(Workbench(sample_log()), PLANS[:1], tmp_path)
    (kept,) = (tmp_path / "runs").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:100])
    compare(Workbench(sample_log()), PLANS[:1], tmp_path)
    assert json.loads(kept.read_bytes())["name"] == "pseudonyms only"


@pytest.mark.slow
def test_another_log_or_seed_is_another_run(tmp_path):
    compare(Workbench(sample_log()), PLANS[:1], tmp_path)
    compare(Workbench(sample_log(users=23)), PLANS[:1], tmp_path)
    compare(Workbench(sample_log()), PLANS[:1], tmp_path, seed=2)
    assert len(list((tmp_path / "runs").iterdir())) == 3


def test_a_method_that_breaks_says_why_and_the_others_go_on(tmp_path, monkeypatch):
    right = sys.modules["querycloak.texts.phrases"].shared_texts

    def broken(log, rule, **needs):
        if rule.rare != "keep":
            raise ZeroDivisionError("secret query")
        return right(log, rule, **needs)

    monkeypatch.setattr(sys.modules["querycloak.methods.suppression.sweep"], "shared_texts", broken)
    found = compare(Workbench(sample_log()), PLANS, tmp_path)
    write_report(found, tmp_path)
    assert found.runs[0].error is None
    assert "ZeroDivisionError" in found.runs[1].error
    assert "secret" not in (tmp_path / "results.json").read_text()
    assert "ZeroDivisionError" in (tmp_path / "report.html").read_text()


def test_plans_cross_the_settings_a_method_has():
    with pytest.raises(ParameterError, match="has a setting 'epsilon'"):
        plan_runs(["sweep"], {"epsilon": [1]})
    with pytest.raises(ParameterError, match="min_query_users must be"):
        plan_runs(["sweep"], {"min_query_users": [0]})


@pytest.mark.parametrize(
    ("log", "message"),
    [(QueryLog.of([], []), "empty"), (QueryLog.of(["u", "u"], ["a", "b"]), "one user")],
)
def test_nothing_to_compare(tmp_path, log, message):
    with pytest.raises(UserError, match=message):
        compare(Workbench(log), PLANS, tmp_path)


@pytest.mark.slow
def test_limits_and_tasks_judge_what_was_found_before(tmp_path):
    compare(Workbench(sample_log()), PLANS[:2], tmp_path)
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").iterdir()}
    loose = Limits(link=1, claim=1, membership=1, membership_at_1=1, own_texts=1, identifiers=1)
    found = compare(Workbench(sample_log()), PLANS[:2], tmp_path, limits=loose, tasks=("sessions",))
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").iterdir()} == stamps
    failed = {c.number for v in found.advice.verdicts for c in v.failed if not c.untested}
    assert failed & {1, 3} == {1}  # nothing is proved by a method without a guarantee, whatever the limits
    with pytest.raises(UnknownNameError):
        compare(Workbench(sample_log()), PLANS[:1], tmp_path, tasks=("session",))


@pytest.mark.slow
def test_a_log_on_which_all_runs_are_bad_says_so(tmp_path):
    found = compare(Workbench(sample_log()), PLANS, tmp_path)
    assert found.advice.publish is None
    assert found.advice.text.startswith("Publish none of these")


def test_mistakes_get_one_sentence(tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("user\tquery\na\ttea\nb\ttea\n")
    refused(querycloak("compare", log, "--methods", "sweeep", "-o", tmp_path / "c"), "Did you mean 'sweep'")
    refused(querycloak("compare", log, "--methods", "sweep", "--grid", "k", "-o", tmp_path / "c"), "name=values")
    refused(
        querycloak("compare", log, "--methods", "sweep", "--min-query-users", "x", "-o", tmp_path / "c"), "an integer"
    )
    refused(querycloak("compare", log, "--methods", "sweep", "-o", log), "not a directory")


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_and_gives_the_same(tmp_path):
    querycloak("generate", "--users", 100, "--queries", 2000, "--seed", 3, "-o", tmp_path / "log.tsv")
    words = ["compare", "log.tsv", "--methods", "sweep", "--min-query-users", "1,2,3,4,5,6", "-o"]
    unbroken = querycloak(*words, "whole", cwd=tmp_path)
    assert unbroken.returncode == 0, unbroken.stderr
    runs = tmp_path / "cut" / "runs"
    process = subprocess.Popen(
        [sys.executable, "-m", "querycloak", *words, "cut"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(list(runs.glob("*.json")) if runs.exists() else []) < 2:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "cut" / "results.json").exists()
    again = querycloak(*words, "cut", cwd=tmp_path)
    assert "done before" in again.stderr
    cut, whole = numbers(tmp_path / "cut"), numbers(tmp_path / "whole")
    cut.pop("repeat"), whole.pop("repeat")
    assert cut == whole
