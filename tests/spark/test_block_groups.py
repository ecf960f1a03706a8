"""What a block publishes is what one machine publishes of the same rows. No session is needed."""

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
from querycloak.releases.columns import KeptColumns
from querycloak.spark.block_groups import grouping_of, groups_of
from querycloak.spark.block_rows import read_block
from querycloak.texts.phrases import shared_texts

ORDER = ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
SETTINGS = {"k": 3, "keep": "time,clicks", "kinds": "column", "min_query_users": 2}


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
    kept = KeptColumns.of(log, settings, settings.rule, shared.text, shared.words)
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
            "click_kept": kept.click,
            "rank_kept": kept.ranked,
        }
    )
    return read_block(frame.sample(fraction=1, shuffle=True, seed=3).to_arrow(), shared.label)


@pytest.mark.parametrize("name", ["semantic", "plain", "syntactic", "url", "word"])
def test_a_block_publishes_what_one_machine_does(bench, name) -> None:
    name = f"{name}-microaggregation"
    settings = method(name).settings.from_json(SETTINGS)
    release = bench.anonymize(name, seed=1, **SETTINGS)
    knowledge = SimpleNamespace(taxonomy=bench.taxonomy, directory=bench.directory)
    columns = ["query", "kind", "time", "url", "rank"]
    found = groups_of(
        block_of(bench, settings),
        grouping_of(name, settings, knowledge),
        Randomness(1).child(name),
        bench.taxonomy,
        columns,
        grain="day",
        people=2,
    ).to_pylist()
    figures = json.loads(found.pop()["figures"])
    published = {
        user: sorted((tuple(row[name] for name in columns) for row in group["entries"]), key=str)
        for group in found
        for user in group["users"]
        if group["entries"]
    }
    log, truth = release.log, release.truth.user
    expected = {}
    for row in range(len(log)):
        url, rank = int(log.url[row]), int(log.rank[row])
        values = (
            log.queries[int(log.query[row])],
            log.extra["kind"][row],
            int(log.time[row]),
            None if url < 0 else log.urls[url],
            None if rank < 0 else rank,
        )
        expected.setdefault(bench.log.users[int(truth[log.user[row]])], []).append(values)
    assert published == {user: sorted(rows, key=str) for user, rows in expected.items()}
    assert min(len(group["users"]) for group in found) >= 3
    statement = release.statement
    assert {**figures["figures"]} == {"users": len(np.unique(bench.log.user)), **statement.figures}
    assert figures["dropped"] == statement.dropped
