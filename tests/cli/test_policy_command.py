"""`querycloak policy`, and policies by name wherever methods are named."""

from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused
from samples import sample_log

from querycloak.logs.sink import write_log


@pytest.fixture
def log(tmp_path):
    write_log(sample_log(40), tmp_path / "log.tsv")
    return tmp_path / "log.tsv"


def test_presets_are_listed():
    lines = querycloak("policy", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        "google-2024",
        "commission-2026-draft",
        "duckduckgo-2026",
        "aol-2006",
    ]


def test_shown_saved_and_used_gives_the_same_release(log, tmp_path):
    shown = querycloak("policy", "show", "duckduckgo-2026")
    assert shown.returncode == 0
    (tmp_path / "mine.toml").write_text(shown.stdout)
    for name, rules in (("a", "duckduckgo-2026"), ("b", "mine.toml")):
        done = querycloak(
            "anonymize", log, "-o", f"{name}.tsv", "--method", f"policy:{rules}", "--seed", 3, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    first, second = (json.loads((tmp_path / f"{n}.tsv.statement.json").read_text())["statement"] for n in "ab")
    assert first["settings"] == second["settings"]
    assert first["ids"] == "day"


def test_rules_are_also_an_option(log, tmp_path):
    done = querycloak("anonymize", log, "-o", tmp_path / "a.tsv", "--method", "policy", "--rules", "aol-2006")
    assert done.returncode == 0
    assert "policy: 400 rows in, 400 rows out" in done.stdout


def test_wrong_rules_are_the_users_mistake(log, tmp_path):
    (tmp_path / "mine.toml").write_text("[query_users]\npeople = 0\n")
    for words in (
        ("anonymize", log, "-o", "a.tsv", "--method", "policy:mine.toml"),
        ("compare", log, "-o", "c", "--methods", "sweep,policy:mine.toml"),
        ("policy", "show", "mine.toml"),
    ):
        refused(
            querycloak(*words, cwd=tmp_path), "mine.toml, line 2: query_users.people must be an integer >= 1, got 0"
        )
    refused(querycloak("policy", "show", "gogle-2024"), "Did you mean 'google-2024'?")
    refused(querycloak("anonymize", log, "-o", "a.tsv", "--method", "policy:", cwd=tmp_path), "no method 'policy:'")
    refused(querycloak("anonymize", log, "-o", "a.tsv", "--method", "sweep:x", cwd=tmp_path), "no method 'sweep:x'")


def test_the_rules_are_not_overwritten_by_the_release(log, tmp_path):
    (tmp_path / "mine.toml").write_text("[query_users]\npeople = 2\n")
    words = ("anonymize", log, "-o", "mine.toml", "--method", "policy:mine.toml")
    refused(querycloak(*words, cwd=tmp_path), "also the input")


@pytest.mark.slow
def test_policies_are_compared_attacked_and_checked(log, tmp_path):
    (tmp_path / "mine.toml").write_text('[query_users]\npeople = 2\n[ids]\nper = "session"\nmost = 2\n')
    words = ("compare", log, "-o", "c", "--methods", "policy:google-2024,policy:mine.toml", "--quiet")
    assert querycloak(*words, cwd=tmp_path).returncode == 0
    found = json.loads((tmp_path / "c" / "results.json").read_text())
    assert [run["name"] for run in found["runs"]] == ["pseudonyms only", "policy:google-2024", "policy:mine.toml"]
    assert all(run.get("error") is None for run in found["runs"])
    linked = {a["attack"]: a for a in found["runs"][2]["attacks"]}["relink"]
    assert linked["baseline"]["rate"] == pytest.approx(5 / (40 * 5))
    assert not any(run["name"] == "policy:mine.toml" for run in found.get("recommended", []))
    words = ("anonymize", log, "-o", "a.tsv", "--method", "policy:mine.toml", "--truth", "t.tsv")
    assert querycloak(*words, cwd=tmp_path).returncode == 0
    for command in ("attack", "measure"):
        done = querycloak(command, log, "a.tsv", "--truth", "t.tsv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = querycloak("check", log, "a.tsv", "--truth", "t.tsv", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
