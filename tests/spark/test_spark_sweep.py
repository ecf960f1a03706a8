"""A sweep publishes with a seed what it publishes on one machine, with the same statement."""

import random

import polars as pl
import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import MISSING_TIME, QueryLog

pytestmark = pytest.mark.slow

SCHEMA = "user string, query string, time bigint, rank int, url string"
SMALL = Taxonomy.from_parents([-1, 0, 1], [["thing"], ["animal"], ["cat"]])
QUERIES = [
    "green tea",
    "Green Tea",
    "green tea boston",
    "tea shop in boston",
    "karen hartwell",
    "a@b.example",
    "zq",
    "cat",
]
URLS = ["http://tea.example", "http://tea.example/?sid=77", "http://a.example/karen.hartwell", "http://b.example"]


def rows_of(seed, n=320):
    """Rows in an order in which no row of a user parts an event on one machine."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        rank = draw.choice([None, 1, 2, 1])
        url = None if rank is None else draw.choice(URLS)
        query, time = draw.choice(QUERIES), draw.choice([1141197432, 1141197432 + 7200, 1142297432])
        rows.append((f"u{min(draw.randrange(30), draw.randrange(30))}", query, time, rank, url))
    return sorted(rows, key=lambda row: (row[0], row[1], row[2], row[4] is None))


def of_single(release):
    log = release.log
    columns = {"user": log.users.gather(log.user), "query": log.queries.gather(log.query)}
    if log.time is not None:
        columns["time"] = pl.Series([None if t == MISSING_TIME else t for t in log.time.tolist()], dtype=pl.Int64)
    if log.url is not None:
        columns["rank"] = pl.Series([None if r < 0 else r for r in log.rank.tolist()], dtype=pl.Int64)
        columns["url"] = pl.Series([None if u < 0 else log.urls[u] for u in log.url.tolist()], dtype=pl.String)
    if log.extra is not None:
        columns["kind"] = log.extra["kind"]
    return sorted(pl.DataFrame(columns).rows(), key=repr), list(columns)


def compare(spark, rows, **settings):
    from querycloak.spark import anonymize

    table = pl.DataFrame(
        rows,
        schema={"user": pl.String, "query": pl.String, "time": pl.Int64, "rank": pl.Int64, "url": pl.String},
        orient="row",
    )
    single = QueryLog.of(table, yes=True)
    expected = Workbench(single, SMALL).anonymize("sweep", seed=11, **settings)
    frame, statement = anonymize(
        spark.createDataFrame(rows, SCHEMA).repartition(3), "sweep", seed=11, taxonomy=SMALL, **settings
    )
    wanted, columns = of_single(expected)
    got = sorted([tuple(row) for row in frame.select(columns).collect()], key=repr)
    assert set(frame.columns) == set(columns)
    assert got == wanted
    assert statement == expected.statement
    return wanted


def test_all_columns_with_parts(spark):
    rows = compare(spark, rows_of(1), min_query_users=4, famous=40, keep="time,clicks", kinds="column")
    assert {row[-1] for row in rows} >= {"query", "phrase"}
    assert any(row[4] for row in rows)
    assert any(row[4] and row[3] is None for row in rows)


def test_hashed_words_without_machines(spark):
    compare(spark, rows_of(2), min_query_users=3, hash_tokens=True, max_rows_per_user=20, rare="drop")


def test_as_in_paper_by_the_week(spark):
    compare(spark, rows_of(3, 60), as_in_paper=True, keep="time", time_grain="week")
