"""The notebooks of examples/ run as scripts, print what they teach, and leave the files that they say."""

from __future__ import annotations

import re
import resource
import subprocess
import sys

import polars as pl
import pytest
from places import ROOT

import querycloak as qc

EXAMPLES = ROOT / "examples"
LEAVES = {
    "table_to_release": {"check.html", "release.csv", "release.csv.statement.json"},
    "methods_side_by_side": {"runs.csv"},
    "privacy_budget": {
        "budget.db",
        "budget.db.key",
        "frequent.csv",
        "frequent.csv.statement.json",
        "synthetic.parquet",
        "synthetic.parquet.statement.json",
    },
}


def cells(name: str) -> list[tuple[str, str]]:
    """Return the cells of a notebook in percent form: their kind, and their text."""
    parts = re.split(r"^# %%( \[markdown\])?\n", (EXAMPLES / f"{name}.py").read_text(), flags=re.MULTILINE)
    assert parts[0] == ""
    return [("markdown" if kind else "code", text) for kind, text in zip(parts[1::2], parts[2::2], strict=True)]


def processor_seconds() -> float:
    """Return what processes that were started here have taken so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(name: str, folder) -> str:
    started = processor_seconds()
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert processor_seconds() - started < 90  # about 10 once kernels are compiled
    assert not done.stderr
    assert {path.name for path in folder.iterdir()} == LEAVES[name]
    return done.stdout


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(LEAVES)


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_examples_are_notebooks_that_say_what_they_do(name):
    found = cells(name)
    assert found[0][0] == "markdown"
    assert found[0][1].startswith("# # ")
    for kind, text in found:
        if kind == "markdown":
            assert all(line.startswith("#") for line in text.strip().splitlines())
        else:
            compile(text, name, "exec")
    assert sum(kind == "markdown" for kind, _ in found) >= 5
    assert name in (ROOT / "docs" / "notebooks.md").read_text()


@pytest.mark.slow
def test_the_steward_gets_a_verdict_and_files(tmp_path):
    out = run("table_to_release", tmp_path)
    assert 'say which, as in columns={"user": "NAME", "query": "NAME"}' in out
    assert "DO NOT RELEASE: " in out
    assert "\nRELEASE: all four conditions hold" in out
    release = qc.read_release(tmp_path / "release.csv")
    assert release.statement.parameters["k"] == 10
    assert [f.check for f in qc.verify(tmp_path / "release.csv") if f.holds is False] == []
    assert "RELEASE" in (tmp_path / "check.html").read_text()


@pytest.mark.slow
def test_the_researcher_gets_a_table(tmp_path):
    out = run("methods_side_by_side", tmp_path)
    table = pl.read_csv(tmp_path / "runs.csv")
    assert table["run"].to_list() == [
        "pseudonyms only",
        "sweep",
        "plain-microaggregation k=3",
        "plain-microaggregation k=10",
        "frequent-queries epsilon=3.0",
    ]
    assert {"popularity", "topics", "verdict", "worst_attack"} <= set(table.columns)
    assert "record-linkage, all users" in out


@pytest.mark.slow
def test_the_budget_buys_two_releases_and_no_third(tmp_path):
    out = run("privacy_budget", tmp_path)
    assert "2 releases; the most that anybody spent: epsilon 1.99 of 2" in out
    assert "CountRelease(frequent-queries, 0 rows)" in out
    frequent = qc.read_release(tmp_path / "frequent.csv")
    assert len(frequent.log) > 0
    assert qc.read_release(tmp_path / "synthetic.parquet").statement.parameters["epsilon"] == 2
