"""Differentially private releases on the command line: their accounts, and what is refused before anything is spent."""

from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused
from samples import sample_log

import querycloak as qc
from querycloak.releases.ledger import make_ledger, read_ledger

METHODS = ["semantic-dp", "histogram-dp", "frequent-queries", "synthetic-dp"]


@pytest.fixture
def log(tmp_path):
    qc.write_log(sample_log(), tmp_path / "log.tsv")
    return tmp_path / "log.tsv"


def call(*args):
    done = querycloak(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("method", "lines"),
    [
        ("semantic-dp", ["rows of a user: epsilon 2 (one user's log replaced)"]),
        ("histogram-dp", ["a histogram for each user: epsilon 2 (one user's log replaced)"]),
        (
            "frequent-queries",
            [
                "choosing queries: epsilon 1, delta 1e-05 (one user more or fewer)",
                "counts of the chosen: epsilon 1 (one user more or fewer)",
            ],
        ),
    ],
)
def test_the_account_is_printed_line_by_line(log, tmp_path, method, lines):
    domain = ("--choose", "korolova") if method == "frequent-queries" else ("--domain", "sport")
    said = call("anonymize", log, "-o", tmp_path / "r.tsv", "-m", method, "--epsilon", 2, "--seed", 1, *domain)
    assert [line.strip() for line in said.splitlines() if "spent:" in line] == [f"spent: {line}" for line in lines]
    account = json.loads((tmp_path / "r.tsv.statement.json").read_text())["statement"]["account"]
    assert [f"{line['purpose']}" for line in account] == [line.split(":")[0] for line in lines]
    assert all(line.keys() == {"purpose", "relation", "epsilon", "delta", "rho"} for line in account)
    assert sum(line["epsilon"] for line in account) == pytest.approx(2.0)
    assert sum(line["delta"] for line in account) == (1e-5 if method == "frequent-queries" else 0)


def test_a_release_without_differential_privacy_has_no_account(log, tmp_path):
    said = call("anonymize", log, "-o", tmp_path / "r.tsv", "-m", "sweep", "--seed", 1)
    assert "spent:" not in said
    assert json.loads((tmp_path / "r.tsv.statement.json").read_text())["statement"]["account"] == []


def test_tables_and_logs_of_frequent_queries(log, tmp_path):
    options = ("--method", "frequent-queries", "--epsilon", "50", "--delta", "0.1")
    call("anonymize", log, "-o", tmp_path / "t.tsv", *options)
    lines = (tmp_path / "t.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["query", "count"]
    assert len(lines) > 1
    call("anonymize", log, "-o", tmp_path / "b.tsv", *options, "--items", "both", "--clicks")
    lines = [line.split("\t") for line in (tmp_path / "b.tsv").read_text().splitlines()]
    assert sorted(lines[0]) == ["count", "kind", "query", "url"]
    kinds = {line[lines[0].index("kind")]: line[lines[0].index("url")] for line in lines[1:]}
    assert kinds.keys() >= {"query", "phrase"}
    assert kinds["query"] == kinds["phrase"] == ""
    call("anonymize", log, "-o", tmp_path / "l.tsv", *options, "--output-form", "log")
    assert (tmp_path / "l.tsv").read_text().splitlines()[0].split("\t") == ["user", "query"]


def test_histograms(log, tmp_path):
    call("anonymize", log, "-o", tmp_path / "h.tsv", "--method", "histogram-dp", "--seed", "1", "--domain", "sport")
    lines = (tmp_path / "h.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["user", "query", "category", "count"]


@pytest.fixture
def ledger(tmp_path):
    make_ledger(tmp_path / "budget.db", log="sample", epsilon=3.0, delta=1e-4)
    return tmp_path / "budget.db"


def refused_unspent(ledger, output, done, *parts):
    """One sentence, exit 2; nothing published, nothing spent."""
    said = [line for line in refused(done, *parts).splitlines() if line.startswith("querycloak:")]
    assert len(said) == 1
    assert said[0].endswith(".")
    assert not output.exists()
    assert read_ledger(ledger).rows == ()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "1e9", "one"])
def test_an_epsilon_that_makes_no_sense(log, ledger, tmp_path, method, epsilon):
    options = ("--ledger", ledger, "--ledger-log", "sample", "--epsilon", epsilon)
    done = querycloak("anonymize", log, "-o", tmp_path / "r.tsv", "-m", method, *options)
    refused_unspent(ledger, tmp_path / "r.tsv", done, "--epsilon must be")


@pytest.mark.parametrize("delta", ["0", "-1e-6", "nan", "inf", "1e9", "1"])
def test_a_delta_that_makes_no_sense(log, ledger, tmp_path, delta):
    options = ("--ledger", ledger, "--ledger-log", "sample", "--delta", delta)
    done = querycloak("anonymize", log, "-o", tmp_path / "r.tsv", "-m", "frequent-queries", *options)
    refused_unspent(ledger, tmp_path / "r.tsv", done, "--delta must be")


def test_a_delta_of_one_person_is_warned_of(log, tmp_path):
    options = ("-m", "frequent-queries", "--epsilon", "3")
    for delta, warned in (("0.05", True), ("0.04", False)):
        done = querycloak("anonymize", log, "-o", tmp_path / "r.tsv", *options, "--delta", delta)
        assert done.returncode == 0
        assert ("more than 1 / 24 people" in done.stderr) == warned
        assert "1 / 24" not in (tmp_path / "r.tsv.statement.json").read_text()


@pytest.mark.slow
def test_few_people_are_warned_of_before_a_log_is_invented(log, tmp_path):
    for epsilon, warned in (("400", True), ("500", False)):  # 24 people
        done = querycloak("anonymize", log, "-o", tmp_path / "r.tsv", "-m", "synthetic-dp", "--epsilon", epsilon)
        assert done.returncode == 0
        assert ("24 people are few for synthetic-dp" in done.stderr) == warned
        assert "24" not in json.loads((tmp_path / "r.tsv.statement.json").read_text())["statement"]["does_not_cover"]


@pytest.mark.slow
def test_an_invented_log_is_charged_verified_and_attacked_without_a_truth(log, ledger, tmp_path):
    paid = ("--ledger", ledger, "--ledger-log", "sample", "--epsilon", "2", "--delta", "1e-6")
    call("anonymize", log, "-o", tmp_path / "r.tsv", "-m", "synthetic-dp", *paid)
    assert len(read_ledger(ledger).rows) > 0
    said = call("verify", tmp_path / "r.tsv", "--log", log)
    assert "FAILS" not in said
    call("anonymize", log, "-o", tmp_path / "many.tsv", "-m", "synthetic-dp", "--epsilon", "500", "--seed", "1")
    done = querycloak("attack", log, tmp_path / "many.tsv", "--only", "relink,uniqueness")
    assert done.returncode == 0, done.stderr
    assert "published ids are invented" in done.stdout + done.stderr
    done = querycloak("anonymize", log, "-o", tmp_path / "s.tsv", "-m", "synthetic-dp", "--truth", tmp_path / "t.tsv")
    refused(done, "there is no truth to write")


@pytest.mark.parametrize("method", METHODS)
def test_a_log_of_one_user(ledger, tmp_path, method):
    qc.write_log(qc.QueryLog.of(["ann"] * 3, ["tea", "cup", "pot"]), tmp_path / "one.tsv")
    options = ("--ledger", ledger, "--ledger-log", "sample")
    done = querycloak("anonymize", tmp_path / "one.tsv", "-o", tmp_path / "r.tsv", "-m", method, *options)
    refused_unspent(ledger, tmp_path / "r.tsv", done, "The log has one user")


@pytest.mark.parametrize("method", METHODS)
def test_a_ledger_of_another_log(log, ledger, tmp_path, method):
    base = ("anonymize", log, "-o", tmp_path / "r.tsv", "-m", method, "--ledger", ledger)
    refused_unspent(ledger, tmp_path / "r.tsv", querycloak(*base, "--ledger-log", "mail"), "ledger of the log 'sample'")
    refused_unspent(ledger, tmp_path / "r.tsv", querycloak(*base), "needs --ledger-log")


def test_other_mistakes_cost_nothing(log, ledger, tmp_path):
    base = ("anonymize", log, "-o", tmp_path / "r.tsv", "-m")
    paid = ("--ledger", ledger, "--ledger-log", "sample")
    frequent = (*base, "frequent-queries", *paid)
    for done, part in (
        (querycloak(*frequent, "--epsilon", "5"), "more than the whole budget"),
        (querycloak(*frequent, "--delta", "1e-3"), "more than the whole budget"),
        (querycloak(*frequent, "--output-form", "log"), "needs --output-form table"),
        (querycloak(*frequent, "--choose", "korolova", "--epsilon", "1e-13"), "or the noise overflows"),
        (querycloak(*base, "histogram-dp", *paid, "--epsilon", "1e-13"), "or the noise overflows"),
        (querycloak(*base, "histogram-dp", *paid, "--domain", "no such thing"), "no such thing"),
        (querycloak(*base, "synthetic-dp", *paid, "--start", "2000-02-30"), "a day such as 2000-01-03"),
        (querycloak(*base, "synthetic-dp", *paid, "--delta", "1e-12"), "at least 1e-11"),
        (
            querycloak(*base, "frequent-queries", "--ledger", tmp_path / "no.db", "--ledger-log", "sample"),
            "ledger make",
        ),
    ):
        refused_unspent(ledger, tmp_path / "r.tsv", done, part)


def test_spellings_of_one_person_in_a_log_are_refused(ledger, tmp_path):
    qc.write_log(qc.QueryLog.of(["Ann", "ann", "bob"], ["tea", "cup", "pot"]), tmp_path / "two.tsv")
    options = ("-m", "frequent-queries", "--ledger", ledger, "--ledger-log", "sample")
    done = querycloak("anonymize", tmp_path / "two.tsv", "-o", tmp_path / "r.tsv", *options)
    refused_unspent(ledger, tmp_path / "r.tsv", done, "1 ids of the log are other spellings")
    assert "nn" not in done.stderr.replace("anonymize", "").replace("cannot", "")


def test_a_truth_that_there_is_not_is_refused_before_anything_is_spent(log, tmp_path):
    make_ledger(tmp_path / "budget.db", log="searches", epsilon=10.0, delta=0.1)
    ledger = ("--ledger", tmp_path / "budget.db", "--ledger-log", "searches")
    words = ("anonymize", log, "-o", tmp_path / "t.tsv", "-m", "frequent-queries", *ledger)
    refused(querycloak(*words, "--truth", tmp_path / "truth"), "leave --truth out")
    assert read_ledger(tmp_path / "budget.db").length == 0


@pytest.mark.parametrize(
    "numbers",
    [
        ("--epsilon", "1e-13", "--delta", "1e-13"),
        ("--delta", "5e-324"),
        ("--delta", "5e-324", "--choose", "korolova"),
        ("--count-share", "1e-300"),
        ("--count-share", "1e-300", "--choose", "korolova"),
        ("--clicks", "--click-share", "1e-30"),
        ("--items", "both", "--phrase-share", "1e-30"),
    ],
)
def test_numbers_too_small_for_any_noise_are_refused_before_anything_is_spent(log, tmp_path, numbers):
    make_ledger(tmp_path / "budget.db", log="searches", epsilon=10.0, delta=0.1)
    ledger = ("--ledger", tmp_path / "budget.db", "--ledger-log", "searches")
    refused(querycloak("anonymize", log, "-o", tmp_path / "t.tsv", "-m", "frequent-queries", *ledger, *numbers))
    assert read_ledger(tmp_path / "budget.db").length == 0


def test_a_bound_above_the_longest_log_is_told_and_not_refused(log, tmp_path):
    """A refusal would make the release itself tell that somebody has so many queries."""
    words = ("anonymize", log, "-o", tmp_path / "r.tsv", "--seed", 1, "-m")
    for method, option in (
        (("frequent-queries",), "--per-user"),
        (("frequent-queries", "--choose", "korolova"), "--per-user"),
        (("histogram-dp", "--domain", "sport"), "--per-user-queries"),
        (("semantic-dp", "--shape", "paper", "--domain", "sport"), "--per-user-queries"),
    ):
        refused(querycloak(*words, *method, option, 10_001), f"{option} must be")  # which no log is looked at for
        done = querycloak(*words, *method, option, 10_000)
        assert done.returncode == 0, done.stderr
        assert f"{option} is 10,000, and nobody in the log has as many" in " ".join(done.stderr.split())
        assert "nobody in the log" not in querycloak(*words, *method, option, 1).stderr
    more = querycloak(*words, "frequent-queries", "--items", "phrases", "--per-user", 10_000)
    assert "nobody in the log" not in more.stderr
