"""Releases as CSV for spreadsheets: no text is a formula, no number is touched, and no check sees an apostrophe."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import polars as pl
import pytest
from cli.command import querycloak, refused
from sample_reports import comparison, run

import querycloak as qc
from querycloak.evaluation.comparison_files import comparison_csv
from querycloak.releases.files import read_release, statement_path
from querycloak.releases.verify import verify

TEXTS = ["=HYPERLINK(1)", "@sum 1", "-5", "'=1+1", "tea;=2+2", "men's shoes", '"=quoted"', " +1 555"]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [{"user": f"u{u}", "query": text} for u in range(6) for text in TEXTS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.csv.zst"])
@pytest.mark.parametrize("safe", [True, False])
def test_what_is_read_is_what_was_released(log, tmp_path, name, safe):
    original = qc.read_log(log)
    release = qc.anonymize(original, "sweep", min_query_users=2, identifiers="keep", seed=1)
    assert set(TEXTS) <= set(release.log.queries.to_list())
    path = tmp_path / name
    qc.write_release(release, path, safe_csv=safe)
    back = read_release(path)
    texts = [r.log.queries.gather(r.log.query).to_list() for r in (release, back)]
    assert texts[0] == texts[1]
    assert back.log.form.safe_csv == safe
    assert json.loads(statement_path(path).read_text())["form"].get("safe_csv", False) == safe
    assert all(finding.holds is not False for finding in verify(path, original))
    if name == "out.csv":
        fields = {row[1] for row in table(path)[1:]}
        begins = {field[0] for field in fields}
        assert (begins & set("=+-@")) == (set() if safe else set("=@-"))
        assert ("''=1+1" in fields) == safe
        assert ("tea;'=2+2" in fields) == safe
        assert "men's shoes" in fields


def test_a_negative_count_is_a_number(tmp_path):
    log = replace(qc.QueryLog.of(["*"], ["-tea"]), extra=pl.DataFrame({"count": [-3], "share": [-0.5]}))
    qc.write_log(log, tmp_path / "o.csv")
    assert table(tmp_path / "o.csv")[1] == ["*", "'-tea", "-3", "-0.5"]


@pytest.mark.slow
def test_commands(log, tmp_path):
    words = ("anonymize", log, "--method", "sweep", "--min-query-users", "2", "--identifiers", "keep", "--seed", "1")
    assert querycloak(*words, "-o", tmp_path / "o.csv", "--truth", tmp_path / "t").returncode == 0
    assert querycloak(*words, "-o", tmp_path / "p.csv", "--no-safe-csv").returncode == 0
    assert querycloak(*words, "-o", tmp_path / "o.tsv").returncode == 0
    assert b"\n'" not in (tmp_path / "o.tsv").read_bytes().replace(b"\t", b"\n").replace(b"\n'=1+1", b"")
    assert {row[1] for row in table(tmp_path / "p.csv")} > set(TEXTS)
    for name in ("o.csv", "p.csv", "o.tsv"):
        done = querycloak("verify", tmp_path / name, "--log", log)
        assert done.returncode == 0, done.stdout
    done = querycloak("check", log, tmp_path / "o.csv", "--truth", tmp_path / "t", "--json")
    assert done.returncode in (0, 1), done.stderr
    other = querycloak("check", log, tmp_path / "p.csv", "--truth", tmp_path / "t", "--json")
    texts = json.loads(done.stdout)["run"]["exposure"], json.loads(other.stdout)["run"]["exposure"]
    assert texts[0] == texts[1]  # what is counted of texts is the same


def test_a_log_that_was_escaped_is_read_on_request(log, tmp_path):
    qc.write_log(qc.read_log(log), tmp_path / "log.csv")
    words = ("anonymize", tmp_path / "log.csv", "--method", "sweep", "--min-query-users", "2", "--identifiers", "keep")
    assert querycloak(*words, "-o", tmp_path / "o.jsonl", "--unescape").returncode == 0
    found = {json.loads(line)["query"] for line in (tmp_path / "o.jsonl").read_text().splitlines()}
    assert found == set(TEXTS)
    refused(querycloak(*(log if w == tmp_path / "log.csv" else w for w in words), "-o", "x", "--unescape"), "only CSV")


def test_results_of_a_comparison():
    given = {"rules": "@file", "lowest": -5, "text": "-5"}
    found = comparison(run("=run", text="+plain", settings=given))
    rows = list(csv.reader(io.StringIO(comparison_csv(found))))
    for name, value in (("rules", "'@file"), ("lowest", "-5"), ("text", "-5")):
        assert ["'=run", "'+plain", "setting", name, value] in rows
    assert "=run" in {row[0] for row in csv.reader(io.StringIO(comparison_csv(found, safe=False)))}
    for row in rows[1:]:
        assert not any(field[:1] in tuple("=+@") for field in row)
