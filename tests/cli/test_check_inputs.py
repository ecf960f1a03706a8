"""What `querycloak check` and `querycloak attack` refuse: one sentence, exit 2, nothing written."""

from __future__ import annotations

import pytest
from cli.command import querycloak, refused

from querycloak import api
from querycloak.logs.query_log import QueryLog


def make_log(path, offset=0):
    """Twelve people with four queries each; another offset is another log of the same people and size."""
    rows = [(f"u{u}", f"word{u + offset} thing {q}") for u in range(12) for q in range(4)]
    api.write_log(QueryLog.of([u for u, _ in rows], [q for _, q in rows], times=list(range(len(rows)))), path)
    return path


@pytest.fixture
def made(tmp_path):
    """A log with a release and its truth, and another log of the same users and as many rows."""
    log = make_log(tmp_path / "log.tsv")
    make_log(tmp_path / "other.tsv", offset=100)
    words = ("--method", "plain-microaggregation", "--k", 3, "--truth", tmp_path / "t")
    done = querycloak("anonymize", log, "-o", tmp_path / "r.tsv", *words)
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("command", ["check", "attack", "measure"])
def test_another_log_of_the_same_users_and_size(made, command):
    done = querycloak(command, made / "other.tsv", made / "r.tsv", "--truth", made / "t")
    refused(done, "does not open the statement's commitment to the log")


def test_the_truth_of_another_run_with_the_same_ids(made):
    for name, k in (("a", 3), ("b", 4)):
        words = ("--method", "plain-microaggregation", "--k", k, "--seed", 1, "--truth", made / f"{name}.truth")
        assert querycloak("anonymize", made / "log.tsv", "-o", made / f"{name}.tsv", *words).returncode == 0
    done = querycloak("attack", made / "log.tsv", made / "a.tsv", "--truth", made / "b.truth", "--only", "relink")
    refused(done, "the truth is of another run")


@pytest.mark.parametrize("name", ["log.tsv", "r.tsv", "r.tsv.statement.json", "t", "key.pub"])
def test_the_page_never_overwrites_an_input(made, name):
    assert querycloak("keys", "new", made / "key").returncode == 0
    before = (made / name).read_bytes()
    words = ("--truth", made / "t", "--public-key", made / "key.pub", "-o", made / name)
    refused(querycloak("check", made / "log.tsv", made / "r.tsv", *words), "choose another output")
    assert (made / name).read_bytes() == before


@pytest.mark.parametrize("tasks", ["", " , "])
def test_a_release_is_for_something(made, tasks):
    refused(querycloak("check", made / "log.tsv", made / "r.tsv", "--for", tasks), "--for names no task")


@pytest.mark.parametrize("command", ["check", "attack"])
def test_one_user_has_nobody_to_hide_among(made, command):
    log = made / "one.tsv"
    api.write_log(QueryLog.of(["ann"] * 3, ["tea", "milk", "cups"], times=[1, 2, 3]), log)
    words = ("--method", "sweep", "--as-in-paper", "--truth", made / "one.truth")
    assert querycloak("anonymize", log, "-o", made / "one.out.tsv", *words).returncode == 0
    done = querycloak(command, log, made / "one.out.tsv", "--truth", made / "one.truth")
    refused(done, "there is nobody to hide among")
