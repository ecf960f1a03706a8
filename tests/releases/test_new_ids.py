"""The table of a release, through a method that publishes what it is given: new ids, and nothing else of the log."""

from __future__ import annotations

import numpy as np
import pytest

import querycloak as qc
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness
from querycloak.releases.table import under_new_ids

QUERIES = ["zebra", "tea", "ann@example.com", "apple", "tea", "coffee", "zebra", "milk"]


def sweep(users, queries, seed=4, **settings):
    log = QueryLog.of(users, queries)
    return log, qc.anonymize(log, "sweep", seed=seed, min_query_users=1, rare="drop", **settings)


@pytest.mark.parametrize("known", ["5 users", "u"])
def test_an_id_of_the_log_is_never_drawn(known):
    """A log in which somebody has the id that this seed draws first for another; whole numbers and other ids."""
    users = [str(i) if known == "5 users" else f"u{i}" for i in range(5)]
    _, first = sweep(users, ["tea"] * 5)
    drawn = first.log.users.to_list()
    log, second = sweep([*users, *drawn], ["tea"] * 10)
    assert len(second.log.users) == 10
    assert set(second.log.users.to_list()).isdisjoint(log.users.to_list())


def test_an_id_of_the_log_is_never_drawn_for_a_stream():
    def stream(users):
        log = QueryLog.of(users, [f"q{i}" for i in range(len(users))], categories=["Top/Tea"] * len(users))
        return qc.anonymize(log, "self-adjusting", seed=4, k=2)

    first = stream([f"u{i}" for i in range(9)])
    assert len(first.log.users) > 2
    drawn = first.log.users.to_list()
    second = stream([*drawn, *(f"u{i}" for i in range(9 - len(drawn)))])
    assert set(second.log.users.to_list()).isdisjoint(drawn)


def test_rows_are_ordered_by_new_id():
    _, release = sweep([f"u{i}" for i in range(8)], QUERIES)
    ids = release.log.users.gather(release.log.user).to_list()
    assert ids == sorted(ids)
    orders = {tuple(sweep([f"u{i}" for i in range(8)], QUERIES, seed=s)[1].truth.user.tolist()) for s in range(6)}
    assert len(orders) > 1, "with every seed the users would come in the order of the log"


def test_the_truth_names_who_asked():
    log, release = sweep([f"u{i}" for i in range(8)], QUERIES)
    asked = dict(zip(log.user.tolist(), log.queries.gather(log.query).to_list(), strict=True))
    for user, query in zip(release.log.user.tolist(), release.log.query.tolist(), strict=True):
        assert asked[int(release.truth.user[user])] == release.log.queries[query]


def test_only_published_words_go_along():
    """Of the vocabularies that a table is given, texts and categories, what no row has stays behind."""
    log = QueryLog.of([f"u{i}" for i in range(8)], QUERIES, categories=[f"Top/{query}" for query in QUERIES])
    assert log.category is not None
    rows = [row for row, query in enumerate(QUERIES) if "@" not in query]
    table = under_new_ids(
        log,
        log.user[rows],
        log.query[rows],
        Randomness(4),
        category=log.category[rows],
        categories=log.categories,
    )
    assert sorted(table.log.queries.to_list()) == ["apple", "coffee", "milk", "tea", "zebra"]
    assert table.log.categories is not None
    assert sorted(table.log.categories.to_list()) == [
        "Top/apple",
        "Top/coffee",
        "Top/milk",
        "Top/tea",
        "Top/zebra",
    ]
    assert len(table.log.users) == 7


def test_words_come_in_the_order_of_the_published_rows():
    """Their order in the log would tell who came first."""
    for seed in range(5):
        _, release = sweep([f"u{i}" for i in range(8)], QUERIES, seed=seed)
        _, first = np.unique(release.log.query, return_index=True)
        assert (np.diff(first) > 0).all()
