"""A block groups the same users as one machine, and draws as much of what may be published. No session is needed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import json

import querycloak as qc
from querycloak.api import Workbench
from querycloak.catalog import method
from querycloak.knowledge.directory import SiteDirectory
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.randomness import Randomness
from querycloak.spark.block_groups import grouping_of, groups_of
from querycloak.spark.block_rows import read_block
from querycloak.texts.phrases import shared_texts

ORDER = ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
SETTINGS = {"k": 3, "keep": "time", "kinds": "column", "min_query_users": 2}


@pytest.fixture(scope="module")
def bench():
    """A log in the order in which blocks sort their rows: ties then fall alike."""
    made = qc.generate(users=40, queries=700, seed=5)
    table = made.log.to_polars().sort(*ORDER[:3], pl.col("ClickURL").is_null(), *ORDER[3:])
    listed = made.directory()
    return Workbench(QueryLog.of(table), directory=SiteDirectory.of(listed["site"], listed["category"]))


def block_of(bench, settings):
    """The rows of a log as Spark hands them to a task, in another order."""
    log, concepts = bench.log, bench.concepts
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=bench.taxonomy)
    units = {int(query): [] for query in concepts.query}
    seen = {}
    for row, query, concept in zip(concepts.row, concepts.query, concepts.concept, strict=True):
        if seen.setdefault(int(query), int(row)) == row:
            units[int(query)].append(int(concept))
    text = shared.text[log.query]
    frame = pl.DataFrame(
        {
            "user": log.users.gather(log.user),
            "query": log.queries.gather(log.query),
            "time": pl.Series(log.time).set(pl.Series(log.time == MISSING_TIME), None),
            "rank": [None if rank < 0 else rank for rank in log.rank.tolist()],
            "url": [None if code < 0 else log.urls[code] for code in log.url.tolist()],
            "text": [None if code < 0 else shared.words[code] for code in text.tolist()],
            "kind": shared.kind[log.query],
            "people": [None if code < 0 else int(shared.people[code]) for code in text.tolist()],
            "concepts": [units[code] for code in log.query.tolist()],
        }
    )
    return read_block(frame.sample(fraction=1, shuffle=True, seed=3).to_arrow(), shared.label)


@pytest.mark.parametrize("name", ["semantic", "plain", "syntactic", "url", "word"])
def test_a_block_groups_as_one_machine_and_publishes_as_much(bench, name) -> None:
    name = f"{name}-microaggregation"
    settings = method(name).settings.from_json(SETTINGS)
    release = bench.anonymize(name, seed=1, **SETTINGS)
    knowledge = SimpleNamespace(taxonomy=bench.taxonomy, directory=bench.directory)
    columns = ["query", "kind", "time"]
    block = block_of(bench, settings)
    found = groups_of(
        block,
        grouping_of(name, settings, knowledge),
        Randomness(1).child(name),
        bench.taxonomy,
        columns,
        grain="day",
        people=0,
    ).to_pylist()
    figures = json.loads(found.pop()["figures"])
    groups = {frozenset(group["users"]): group["entries"] for group in found}
    log, truth = release.log, release.truth.user
    rows = np.bincount(truth[log.user], minlength=len(bench.log.users))
    published = {user: len(entries) for users, entries in groups.items() for user in users}
    assert published == dict(zip(bench.log.users, rows.tolist(), strict=True))
    of_user = {}
    for row in range(len(log)):
        of_user.setdefault(bench.log.users[int(truth[log.user[row]])], []).append(log.queries[int(log.query[row])])
    bags = {}
    for user, texts in of_user.items():
        bags.setdefault(tuple(sorted(texts)), set()).add(user)
    assert {frozenset(users) for users in bags.values()} == {users for users, entries in groups.items() if entries}
    assert min(len(users) for users in groups) >= 3
    statement = release.statement
    published_as = ("published as", "groups without a text")  # what is drawn: texts have other codes here
    drawn = {name for name in statement.figures if name.startswith(published_as)}
    assert figures["figures"].keys() == {"users", *statement.figures}
    for figure in statement.figures.keys() - drawn:
        assert figures["figures"][figure] == statement.figures[figure], figure
    assert figures["dropped"] == statement.dropped
    shared = {text for text in block.shared.words.to_list() if not text.startswith("[")}
    texts = {entry["query"] for entries in groups.values() for entry in entries}
    assert all(text in shared or text.startswith("[") for text in texts)
