"""The statement of a stream says what is true for its settings, and nothing else."""

from __future__ import annotations

import pytest

from querycloak import api
from querycloak.logs.query_log import QueryLog

LOG = QueryLog.of(
    [f"u{i * 7 % 12}" for i in range(120)],
    ["tea", "ham"] * 60,
    times=[1_141_171_200 + 600 * i for i in range(120)],
    categories=["top"] * 120,
)
FIRST_OF = {
    "shuffled": "records are published in epochs of 30 records, shuffled within each",
    "hours": "records are published in epochs of 2h, shuffled within each",
    "rounded": "times are rounded down to day",
    "of epochs": "a user has another id in each epoch",
    "of days": "a user has another id in each day",
    "near": "its published user is drawn uniformly from at least 3 other users of its category or branch, the nearest",
    "original": "published ids are the original ids of other users",
    "exact": "the number of each user's published records is kept, and so is the time of each query",
    "count": "the number of each user's published records is kept",
    "count of days": "the number of each user's published records in each day is kept",
    "together": "what somebody asks in each period may be so much their own that their ids can be told together",
    "when": "the epoch of a record tells when it left",
    "clicks": "records with one query and one time, as of several clicks, are of one asker",
    "dropped": "which records were dropped for having waited too long depends on who else asked",
    "soon": "a user's id leaves soon after the user asks, with a query of a category nearby",
    "in the epoch": "a user's id leaves in the epoch in which the user asks, or soon after, with a query of a category",
    "repeated": "a user's id leaves soon after the user asks: who asks one text several times",
    "verbatim": "queries are published verbatim",
}
SAID = {
    # method, settings: what is covered, what is not; of the sentences above nothing else is said
    "plain": ("self-adjusting", {}, {"exact", "count", "clicks", "soon"}),
    "paper": ("self-adjusting", {"as_in_paper": True}, {"exact", "count", "clicks", "soon", "repeated", "verbatim"}),
    "epoch": ("flat", {"epoch": "30"}, {"shuffled", "count", "when", "in the epoch"}),
    "time": ("flat", {"epoch": "2h", "ids": "epoch"}, {"hours", "of epochs", "together", "when", "in the epoch"}),
    "day": ("fixed-depth", {"ids": "day"}, {"of days", "count of days", "together", "clicks", "soon"}),
    "grain": ("flat", {"time_grain": "day"}, {"rounded", "count", "clicks", "soon"}),
    "delay": ("flat", {"max_delay": 1, "k": 4}, {"exact", "count", "clicks", "soon", "dropped"}),
    "nearest": ("nearest", {}, {"near", "exact", "count", "clicks", "soon"}),
    "ids": ("flat", {"ids": "original"}, {"original", "exact", "count", "clicks", "soon"}),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said_is_true_for_the_settings(name):
    method, settings, expected = SAID[name]
    given = {"k": 3, "rare": "keep", "identifiers": "keep", **settings}
    if "as_in_paper" not in settings:
        given |= {"rare": "phrase", "min_query_users": 2}
    statement = api.anonymize(LOG, method, seed=1, **given).statement
    said = [*statement.covers, *statement.does_not_cover]
    assert {key for key, begin in FIRST_OF.items() if any(s.startswith(begin) for s in said)} == expected
    covered = {key for key, begin in FIRST_OF.items() if any(s.startswith(begin) for s in statement.covers)}
    assert covered == expected & {"shuffled", "hours", "rounded", "of epochs", "of days", "near"}


def test_without_times_nothing_is_said_of_them():
    bare = QueryLog.of([f"u{i * 7 % 12}" for i in range(60)], ["tea"] * 60, categories=["top"] * 60)
    statement = api.anonymize(bare, "flat", k=3, seed=1, epoch=20, min_query_users=2).statement
    (shuffled,) = [s for s in statement.covers if s.startswith("records are published in epochs")]
    assert "times" not in shuffled
    plain = api.anonymize(bare, "flat", k=3, seed=1, min_query_users=2).statement
    assert "the number of each user's published records is kept" in plain.does_not_cover
    assert statement.time_grain == ""
