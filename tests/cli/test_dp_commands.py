"""`querycloak anonymize --method semantic-dp --ledger` and `querycloak ledger show`."""

from __future__ import annotations

import json

import pytest
from samples import sample_log
from typer.testing import CliRunner

import querycloak as qc
from querycloak.cli.app import app
from querycloak.errors import InputError


@pytest.fixture
def log(tmp_path):
    qc.write_log(sample_log(), tmp_path / "log.tsv")
    return tmp_path / "log.tsv"


def call(*args):
    result = CliRunner().invoke(app, [str(a) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_releases_under_one_ledger(log, tmp_path):
    options = ("--method", "semantic-dp", "--epsilon", "5", "--criterion", "sqc2", "--domain", "topics")
    budget = ("--per-user-queries", "4", "--ledger", tmp_path / "l.db")
    for i in range(2):
        said = call("anonymize", log, "-o", tmp_path / f"r{i}.tsv", *options, *budget)
        assert "over all releases of this ledger together" in said
    shown = call("ledger", "show", tmp_path / "l.db")
    assert "epsilon 5 per user, in 4 draws of 1.25" in shown
    values = json.loads(call("ledger", "show", tmp_path / "l.db", "--json"))
    assert (values["epsilon"], values["draws"], len(values["releases"])) == (5.0, 4, 2)
    assert values["most_epsilon_spent"] <= 5
    statement = (tmp_path / "r1.tsv.statement.json").read_text()
    assert str(tmp_path) not in statement


def test_tables_and_logs_of_frequent_queries(log, tmp_path):
    options = ("--method", "frequent-queries", "--epsilon", "50", "--delta", "0.1")
    call("anonymize", log, "-o", tmp_path / "t.tsv", *options)
    lines = (tmp_path / "t.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["query", "count"]
    assert len(lines) > 1
    call("anonymize", log, "-o", tmp_path / "l.tsv", *options, "--output-form", "log")
    assert (tmp_path / "l.tsv").read_text().splitlines()[0].split("\t") == ["user", "query"]


def test_histograms(log, tmp_path):
    call("anonymize", log, "-o", tmp_path / "h.tsv", "--method", "histogram-dp", "--seed", "1", "--domain", "sport")
    lines = (tmp_path / "h.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["user", "query", "category", "count"]


def test_a_file_that_is_no_ledger(log):
    with pytest.raises(InputError, match="not a QueryCloak ledger"):
        call("ledger", "show", log)
