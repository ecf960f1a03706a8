"""Methods in topical blocks: one block is what one machine makes, many keep the promise and lose little."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import querycloak as qc
from querycloak.api import Workbench
from querycloak.errors import InputError, ParameterError
from querycloak.logs.query_log import QueryLog

pytestmark = pytest.mark.slow

ORDER = ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]


@pytest.fixture(scope="module")
def table():
    """A small generated log, in the order in which blocks sort their rows: ties then fall as on one machine."""
    made = qc.generate(users=60, queries=700, seed=5).log.to_polars()
    times = pl.col("QueryTime").dt.strftime("%Y-%m-%d %H:%M:%S")
    return made.with_columns(times).sort(*ORDER[:3], pl.col("ClickURL").is_null(), *ORDER[3:])


@pytest.fixture(scope="module")
def bench(table):
    return Workbench(QueryLog.of(table))


@pytest.fixture
def frame(spark, table):
    return spark.createDataFrame(table.to_arrow()).repartition(3)


def rows_of(table):
    return sorted(map(tuple, table.select(sorted(table.columns)).collect()), key=str)


def rows_on_one_machine(release):
    log = release.log
    columns = {"user": log.users.gather(log.user).to_list(), "query": log.queries.gather(log.query).to_list()}
    if log.category is not None:
        columns["category"] = log.categories.gather(log.category).to_list()
    if log.time is not None:
        columns["time"] = log.time.tolist()
    if log.url is not None:
        columns["url"] = [None if code < 0 else log.urls[code] for code in log.url.tolist()]
    if log.rank is not None:
        columns["rank"] = [None if rank < 0 else rank for rank in log.rank.tolist()]
    for name in log.extra.columns if log.extra is not None else ():
        columns[name] = log.extra[name].to_list()
    return sorted(zip(*(columns[name] for name in sorted(columns)), strict=True), key=str)


def classes_of(rows, user):
    """How many users share each bag of rows."""
    bags = {}
    for row in rows:
        bags.setdefault(row[user], []).append(row[:user] + row[user + 1 :])
    return Counter(tuple(sorted(bag, key=str)) for bag in bags.values())


def test_one_block_is_what_one_machine_makes(frame, bench) -> None:
    from querycloak.spark import anonymize

    found, statement = anonymize(frame, "clump", seed=1, k=3)
    expected = bench.anonymize("clump", seed=1, k=3)
    assert rows_of(found) == rows_on_one_machine(expected)
    for field in statement.__dataclass_fields__:
        assert getattr(statement, field) == getattr(expected.statement, field), field


def test_blocks_keep_the_promise_and_the_statement(frame, bench) -> None:
    from querycloak.spark import anonymize

    settings = {"k": 3, "blocks": "20", "keep": "time,clicks", "min_query_users": 2}
    found, statement = anonymize(frame, "semantic-microaggregation", seed=1, **settings)
    assert min(classes_of(rows_of(found), sorted(found.columns).index("user")).values()) >= 3
    expected = bench.anonymize("semantic-microaggregation", seed=1, **settings).statement
    assert statement.figures.keys() == expected.figures.keys()
    assert statement.figures["blocks"] == 3
    for field in ("settings", "model", "parameters", "covers", "does_not_cover", "counts_in", "dropped"):
        assert getattr(statement, field) == getattr(expected, field), field


def test_a_part_that_is_split_by_spark_is_split_as_by_the_kernel(frame, bench, monkeypatch) -> None:
    from querycloak.spark import anonymize, partition

    monkeypatch.setattr(partition, "USERS_OF_TASK", 25)
    found, statement = anonymize(frame, "partition", seed=1, k=3)
    expected = bench.anonymize("partition", seed=1, k=3)
    assert rows_of(found) == rows_on_one_machine(expected)
    for field in statement.__dataclass_fields__:
        assert getattr(statement, field) == getattr(expected.statement, field), field


def test_what_cannot_be_done_is_refused_before_the_long_job(frame, spark, monkeypatch) -> None:
    from querycloak.spark import anonymize, blocks

    with pytest.raises(InputError, match="Groups of k = 61 users need at least 61 users, the log has 60"):
        anonymize(frame, "plain-microaggregation", k=61)
    with pytest.raises(ParameterError, match="one machine"):
        anonymize(frame, "semantic-microaggregation", as_in_paper=True)
    with pytest.raises(ParameterError, match="one machine"):
        anonymize(frame, "clump", output_form="classes")
    with pytest.raises(InputError, match="no category column"):
        anonymize(frame, "url-microaggregation")
    monkeypatch.setattr(blocks, "MOST_ROWS", 5)
    with pytest.raises(InputError, match=r"One user has \d+ rows.*5 at most"):
        anonymize(frame, "plain-microaggregation", k=3)
