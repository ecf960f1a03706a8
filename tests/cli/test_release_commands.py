"""The report's commands for a real release: typed as they are shown, they make it and judge it."""

from __future__ import annotations

import json
import shlex

import msgspec
import pytest
from cli.command import querycloak

import querycloak as qc
from querycloak.evaluation.command_words import release_commands
from querycloak.evaluation.comparison import Comparison

WORDS = ("green tea", "red wine", "dog food", "cheap flights", "blue car", "river house")
ODD = "when;who;asked\n" + "".join(f"x;p{person};{word}\n" for person in range(40) for word in WORDS)
"""Odd names of columns: the command must say how to read it."""


@pytest.mark.slow
def test_the_commands_of_every_kind_of_run_do_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my log.csv").write_text(ODD)
    given = ["--columns", "user=who,query=asked", "--mapping", "segments", "--max-risk", "0.9", "--for", "popularity"]
    methods = "sweep,clump,frequent-queries,policy:aol-2006"
    settings = ["--min-query-users", "2", "--k", "3", "--epsilon", "4", "--prune", "yes", "--draws", "1"]
    querycloak("compare", "my log.csv", "--methods", methods, *settings, *given, "-o", "compared")
    found = msgspec.json.decode((tmp_path / "compared" / "results.json").read_bytes(), type=Comparison)
    runs = [run for run in found.runs if run.error is None and not run.baseline and not run.published_nothing]
    assert len({run.method for run in runs}) == 4
    for run in runs:
        make, check = (shlex.split(line) for line in release_commands(found.command, run))
        assert make[:2] == ["querycloak", "anonymize"]
        done = querycloak(*make[1:])
        assert done.returncode == 0, done.stderr
        said = qc.read_release(tmp_path / "release.csv").statement
        assert said.method == run.method
        assert {name: said.settings[name] for name in run.settings} == run.settings
        assert not said.randomness.startswith("a seed")
        assert "--max-risk" in check
        done = querycloak(*check[1:], "--json")
        assert done.returncode in {0, 1, 3}, done.stderr
        judged = json.loads(done.stdout)
        assert judged["limits"]["link"] == 0.9
        assert judged["tasks"] == ["popularity"]
        assert judged["verdict"] in (tmp_path / "check.html").read_text()
        for path in tmp_path.glob("release.csv*"):
            path.unlink()
        (tmp_path / "truth.tsv").unlink(missing_ok=True)


@pytest.mark.slow
def test_defaults_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.tsv").write_text(
        "user\tquery\n" + "".join(f"u{u}\tgreen tea {q}\n" for u in range(6) for q in range(3))
    )
    querycloak("compare", "log.tsv", "--methods", "sweep", "--min-query-users", "2", "--draws", "1", "-o", "compared")
    found = msgspec.json.decode((tmp_path / "compared" / "results.json").read_bytes(), type=Comparison)
    assert found.command.log == "log.tsv"
    assert found.command.reading == ()
    assert found.command.judging == ()
