"""`querycloak reproduce` as a user runs it."""

from __future__ import annotations

import json

import pytest
from command import querycloak, refused

import querycloak as qc
from querycloak import api
from querycloak.evaluation.reproduce import milani_fard_2010, papers
from querycloak.evaluation.reproduce.paper import Scale

FEW = 4
"""cells that these tests run; the slow tests run all"""


@pytest.fixture
def small(monkeypatch):
    """The paper with a few cells only."""
    paper = milani_fard_2010.PAPER
    few = lambda scale: paper.cells(Scale(scale.users, quick=True))[:FEW]  # noqa: E731
    monkeypatch.setattr(milani_fard_2010, "PAPER", milani_fard_2010.PAPER.__class__(**{**vars(paper), "cells": few}))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    qc.write_generated(qc.generate(users=160, queries=800, seed=1), path)
    return path


def test_a_wrong_name_of_a_paper_is_told_before_the_log_is_read(tmp_path):
    refused(
        querycloak("reproduce", "pamies-2032", "nowhere.tsv", "-o", tmp_path / "out"), "Did you mean 'pamies-2023'?"
    )
    assert not (tmp_path / "out").exists()


def test_wrong_wishes_are_refused(tmp_path, log):
    refused(querycloak("reproduce", "pamies-2023", log, "--generated", "-o", tmp_path / "o"), "leave LOG out")
    refused(querycloak("reproduce", "milani-fard-2010", log, "--users", "999", "-o", tmp_path / "o"), "160 users")
    refused(querycloak("reproduce", "milani-fard-2010", log, "--users", "20", "-o", tmp_path / "o"), "largest k")
    refused(
        querycloak("reproduce", "milani-fard-2010", "--draws", "0", "--users", "150", "-o", tmp_path / "o"), "--draws"
    )
    done = querycloak("reproduce", "milani-fard-2010", "--help")
    for name in papers.PAPERS:
        assert name in done.stdout


@pytest.mark.usefixtures("small")
def test_a_log_of_the_users_own_again_and_as_json(tmp_path, log):
    out = tmp_path / "out"
    done = querycloak("reproduce", "milani-fard-2010", log, "-o", out, "--draws", "1")
    assert done.returncode == 0, done.stderr
    assert "Experiment, not for release" in done.stdout
    assert "all 160 users" in done.stdout
    assert "not testable here: The data get sparser" in done.stdout
    assert f"[{FEW}/{FEW}]" in done.stderr
    names = {path.name for path in out.iterdir()}
    assert {"reproduction.html", "results.csv", "cells", "fig-3.svg"} <= names
    assert not any(name.endswith((".tsv", ".statement.json")) for name in names)  # no release is written
    again = querycloak("reproduce", "milani-fard-2010", log, "-o", out, "--draws", "1", "--json", "--quiet")
    assert again.returncode == 0
    assert again.stderr == ""
    found = json.loads(again.stdout)
    assert (found["paper"], found["seeds"], found["users"]) == ("milani-fard-2010", [1], 160)
    assert {f["verdict"] for f in found["findings"]} <= {"found", "not found", "not testable here"}


@pytest.mark.usefixtures("small")
def test_from_python_without_a_log_one_is_generated(tmp_path):
    found = qc.reproduce("milani-fard-2010", output=tmp_path, users=150, draws=1)
    assert "no real person" in found.log
    assert found.users == 150
    assert len(found.outcomes) == len(found.paper.findings)


def test_an_interruption_ends_with_130(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "reproduce", interrupted)
    done = querycloak("reproduce", "milani-fard-2010", "--quick", "-o", tmp_path / "out")
    assert done.returncode == 130
