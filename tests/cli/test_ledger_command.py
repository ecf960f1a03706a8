"""`querycloak ledger make|show|head|verify`, and all methods spending in one ledger."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from cli.command import querycloak, refused
from samples import sample_log

import querycloak as qc


@pytest.fixture
def log(tmp_path):
    qc.write_log(sample_log(), tmp_path / "log.tsv")
    return tmp_path / "log.tsv"


def call(*args):
    done = querycloak(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(tmp_path, *options):
    call("ledger", "make", tmp_path / "budget.db", "--log", "sample", "--epsilon", 3, "--delta", "1e-4", *options)
    return tmp_path / "budget.db"


def release(log, ledger, method="frequent-queries", epsilon=1.0, *more):
    output = log.with_name(f"{method}.tsv")
    more = (*more, "--choose", "korolova") if method == "frequent-queries" else more
    paid = ("--epsilon", epsilon, "--ledger", ledger, "--ledger-log", "sample")
    done = querycloak("anonymize", log, "-o", output, "-m", method, *paid, *more)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_all_methods_spend_in_one_ledger(log, tmp_path):
    ledger = made(tmp_path)
    release(log, ledger)
    release(log, ledger, "histogram-dp", 1.0, "--domain", "sport")
    done = release(log, ledger, "semantic-dp", 0.9, "--domain", "sport")
    assert "24 of 24 people take part" in done.stderr
    done = release(log, ledger, "frequent-queries", 0.5)
    assert "0 of 24 people take part" in done.stderr
    values = json.loads(call("ledger", "show", ledger, "--json"))
    assert [row["method"] for row in values["releases"]] == [
        "frequent-queries", "histogram-dp", "semantic-dp", "frequent-queries",
    ]  # fmt: skip
    assert [row["people"] for row in values["releases"]] == [24, 24, 24, 0]
    assert values["most_epsilon_spent"] == pytest.approx(2.9) == values["median_epsilon_spent"]
    assert values["releases"][0]["account"][0] == {
        "purpose": "choosing queries", "relation": "add-remove", "epsilon": 0.5, "delta": 1e-5, "rho": 0.0,
    }  # fmt: skip
    shown = call("ledger", "show", ledger)
    assert "epsilon 3, delta 0.0001 per person" in shown
    assert "histogram-dp" in shown
    statement = log.with_name("semantic-dp.tsv.statement.json").read_text()
    assert str(tmp_path) not in statement
    assert '"ledger": "budget.db"' in statement
    assert "24" not in json.dumps(json.loads(statement)["statement"]["account"])


def test_make_says_what_it_made_and_makes_it_once(tmp_path):
    said = call("ledger", "make", tmp_path / "b.db", "--log", "x", "--epsilon", "1")
    assert said.splitlines()[1].split()[1] == call("ledger", "head", tmp_path / "b.db").strip()
    refused(querycloak("ledger", "make", tmp_path / "b.db", "--log", "x", "--epsilon", "9"), "never replaced")
    for wrong in ("0", "-1", "nan", "inf", "1e9"):
        refused(querycloak("ledger", "make", tmp_path / "c.db", "--log", "x", "--epsilon", wrong), "epsilon must be")
    for wrong in ("1", "-1", "nan", "inf", "1e9"):
        numbers = ("--epsilon", "1", "--delta", wrong)
        refused(querycloak("ledger", "make", tmp_path / "c.db", "--log", "x", *numbers), "delta must be")
    refused(querycloak("ledger", "make", tmp_path / "c.db", "--epsilon", "1"), "--log")
    assert not (tmp_path / "c.db").exists()


def test_verify_accepts_what_is_in_order(log, tmp_path):
    ledger = made(tmp_path)
    first = call("ledger", "head", ledger).strip()
    assert "cannot be told without a head" in call("ledger", "verify", ledger)
    done = release(log, ledger)
    head = call("ledger", "head", ledger).strip()
    assert f"Its head is now {head}" in done.stderr
    assert "1 rows were added since" in call("ledger", "verify", ledger, "--head", first)
    assert "0 rows were added since" in call("ledger", "verify", ledger, "--head", head.upper())


def fails(done, part):
    assert done.returncode == 1, done.stderr
    assert part in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_verify_says_what_was_done_to_a_ledger(log, tmp_path):
    ledger = made(tmp_path)
    release(log, ledger)
    shutil.copy(ledger, tmp_path / "old.db")
    release(log, ledger)
    head = call("ledger", "head", ledger).strip()
    assert "1 rows, none changed" in call("ledger", "verify", tmp_path / "old.db")
    fails(querycloak("ledger", "verify", tmp_path / "old.db", "--head", head), "older copy, or another ledger")
    for change, part in (
        ("DELETE FROM reservation WHERE number = 1", "row 1 is missing"),
        ("UPDATE reservation SET account = replace(account, '0.5', '0.1') WHERE number = 2", "row 2 was changed"),
    ):
        broken = tmp_path / "broken.db"
        shutil.copy(ledger, broken)
        with closing(sqlite3.connect(broken)) as connection:
            for name in ("nothing_changes", "nothing_is_given_back"):
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(change)
            connection.commit()
        fails(querycloak("ledger", "verify", broken), part)
        fails(querycloak("ledger", "show", broken), part)
        shutil.copy(f"{ledger}.key", f"{broken}.key")
        output = tmp_path / "never.tsv"
        done = querycloak("anonymize", log, "-o", output, "-m", "frequent-queries", "--epsilon", "0.1", "--ledger",
                          broken, "--ledger-log", "sample")  # fmt: skip
        assert done.returncode == 1
        assert part in done.stderr
        assert not output.exists()


def test_case_matters_where_it_is_said(tmp_path):
    qc.write_log(qc.QueryLog.of(["Ann", "ann", "bob"], ["tea", "cup", "pot"]), tmp_path / "two.tsv")
    ledger = made(tmp_path, "--case-matters")
    assert "3 of 3 people take part" in release(tmp_path / "two.tsv", ledger).stderr


def test_a_file_that_is_no_ledger(log):
    for command in ("show", "head", "verify"):
        refused(querycloak("ledger", command, log), "not a QueryCloak ledger")
        refused(querycloak("ledger", command, log.with_name("no.db")), "no such ledger")


def test_an_empty_head_is_no_head(tmp_path):
    ledger = made(tmp_path)
    for empty in ("", " "):
        refused(querycloak("ledger", "verify", ledger, "--head", empty), "--head is empty")
