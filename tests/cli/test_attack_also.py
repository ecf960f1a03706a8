from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused

from querycloak import api
from querycloak.logs.query_log import QueryLog


def make_log(path, users=12, name="u"):
    rows = [(f"{name}{u}", f"word{u} thing {q}") for u in range(users) for q in range(4)]
    api.write_log(QueryLog.of([u for u, _ in rows], [q for _, q in rows], times=list(range(len(rows)))), path)
    return path


@pytest.fixture
def made(tmp_path):
    """A log, and two releases of it with their truths."""
    log = make_log(tmp_path / "log.tsv")
    for name, k in (("a", 3), ("b", 2)):
        words = ("--method", "plain-microaggregation", "--k", k, "--as-in-paper", "--truth", tmp_path / f"{name}.truth")
        done = querycloak("anonymize", log, "-o", tmp_path / f"{name}.tsv", *words)
        assert done.returncode == 0, done.stderr
    return tmp_path


def attack(made, *words):
    truth = made / "a.truth"
    return querycloak(
        "attack", made / "log.tsv", made / "a.tsv", "--truth", truth, "--only", "intersection", "--json", *words
    )


@pytest.mark.slow
def test_other_releases_are_intersected(made):
    done = attack(made, "--also", made / "b.tsv", "--also-truth", made / "b.truth")
    assert done.returncode == 0, done.stderr
    queries, people = json.loads(done.stdout)["attacks"]
    assert (queries["attack"], people["attack"]) == ("intersection, queries", "intersection, people")
    assert queries["details"]["releases"] == 2


def test_several_other_releases(made):
    twice = [w for name in ("b", "a") for w in ("--also", made / f"{name}.tsv", "--also-truth", made / f"{name}.truth")]
    assert json.loads(attack(made, *twice).stdout)["attacks"][0]["details"]["releases"] == 3


def test_without_others_it_says_what_is_missing(made):
    done = attack(made)
    assert done.returncode == 0
    assert json.loads(done.stdout)["attacks"] == []
    assert json.loads(done.stdout)["not_run"] == {"intersection": "give other releases of the same log with --also"}


def test_a_truth_is_missing(made):
    refused(attack(made, "--also", made / "b.tsv"), "Each --also needs its --also-truth")
    refused(attack(made, "--also-truth", made / "b.truth"), "Each --also needs its --also-truth")


def test_the_truth_of_another_release(made):
    refused(attack(made, "--also", made / "b.tsv", "--also-truth", made / "a.truth"), "does not belong to this release")


def test_a_release_of_another_log(made):
    other = make_log(made / "other.tsv", users=13)
    querycloak("anonymize", other, "-o", made / "o.tsv", "--method", "sweep", "--truth", made / "o.truth")
    done = attack(made, "--also", made / "o.tsv", "--also-truth", made / "o.truth")
    refused(done, "does not belong to this log")


def test_a_private_release_of_another_log_with_as_many_rows(made):
    other = make_log(made / "other.tsv", name="v")
    words = ("--method", "semantic-dp", "--truth", made / "o.truth")
    assert querycloak("anonymize", other, "-o", made / "o.tsv", *words).returncode == 0
    done = attack(made, "--also", made / "o.tsv", "--also-truth", made / "o.truth")
    refused(done, "does not belong to this log")
    assert "v1" not in done.stderr


def test_a_release_without_people(made):
    done = querycloak("anonymize", made / "log.tsv", "-o", made / "f.tsv", "--method", "frequent-queries")
    assert done.returncode == 0, done.stderr
    refused(attack(made, "--also", made / "f.tsv", "--also-truth", made / "b.truth"), "publishes no logs of people")
