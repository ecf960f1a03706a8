"""A user of the log must not be published as a text, whatever the user column shows."""

from __future__ import annotations

import polars as pl
import pytest
from sample_releases import release_of

from querycloak.logs.query_log import QueryLog
from querycloak.releases.ids_in_texts import texts_with_ids
from querycloak.releases.verify import verify_release


def count(texts, users, queries=None):
    """Users of the log, what they typed (each one text), and how many published texts name a user."""
    return texts_with_ids(pl.Series(texts, dtype=pl.String), QueryLog.of(users, queries or ["tea"] * len(users)))


@pytest.mark.parametrize(
    "text",
    [
        "anna.schmidt",
        " Anna.Schmidt ",
        "\uff41nna.schmidt",  # a wide character
        "mail anna.schmidt now",
        "(anna.schmidt)",
        "who is anna.schmidt?",
    ],
)
def test_a_login_name_is_found(text):
    assert count([text, "tea"], ["anna.schmidt", "bob"]) == 1


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("where does Anna Schmidt live", "anna schmidt"),
        ("2a9eabfb35f5b954", "2A9EABFB35F5B954"),
        ("about 2A9EABFB35F5B954", "2A9EABFB35F5B954"),
        ("write to ann@example.com", "ann@example.com"),
        ("bob", "Bob"),
        ("4417749", "4417749"),  # which nobody typed
        ("2006", "2006"),  # nobody typed that either
    ],
)
def test_ids_of_other_kinds(text, user):
    assert count([text, "tea"], [user, "x"]) == 1


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("tiger woods", "tiger"),  # an ordinary word inside another text
        ("weather 90210", "90210"),
        ("anna.schmidting", "anna.schmidt"),  # not a whole word
        ("anna and schmidt", "anna schmidt"),
        ("tea", "coffee"),
    ],
)
def test_innocent_texts(text, user):
    assert count([text], [user, "x"]) == 0


def test_numbers_that_people_type():
    users, queries = ["2006", "90210", "1", "2"], ["2006", "tea", "tea", "90210"]
    assert count(["2006", "90210"], users, queries) == 0
    assert count(["90210"], ["90210", "1"], ["90210", "tea"]) == 1  # typed by its owner alone


def test_a_name_that_somebody_typed_is_still_a_name():
    assert count(["anna.schmidt"], ["anna.schmidt", "bob", "cem"], ["tea", "anna.schmidt", "anna.schmidt"]) == 1


def test_verify_counts_them():
    log = QueryLog.of(["ann.b", "bob.c"], ["tea", "tea"])
    check = "no published text names a user of the log"
    found = {
        f.check: f for f in verify_release(release_of(log, [["ann.b", "tea"], ["ann.b", "tea"]], [0, 1], k=2), log)
    }
    assert found[check].holds is False
    assert found[check].seen == "1 of 2 different texts are, or hold, a user id of the log"
    found = {f.check: f for f in verify_release(release_of(log, [["tea"], ["tea"]], [0, 1], k=2), log)}
    assert found[check].holds is True
    assert check not in {f.check for f in verify_release(release_of(log, [["tea"], ["tea"]], [0, 1], k=2))}
