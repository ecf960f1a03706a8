"""A DataFrame as a log: the same people, times and events as on one machine, whatever the order of rows."""

import random

import polars as pl
import pytest

from querycloak.errors import InputError, UnknownNameError
from querycloak.logs.query_log import QueryLog

pytestmark = pytest.mark.slow


def of(frame, *arguments, **options):
    from querycloak.spark.spark_log import SparkLog

    return SparkLog.of(frame, *arguments, **options)


AOL = "AnonID string, Query string, QueryTime string, ItemRank int, ClickURL string"


def aol_rows(seed):
    draw = random.Random(seed)
    return [
        (
            draw.choice(["1", " 1", "2", "\uff12", "3\u200b", "3"]),
            draw.choice(["tea", "Tea", "green tea"]),
            draw.choice(["2006-03-01 07:17:12", "2006-03-01 23:59:59"]),
            rank := draw.choice([None, 1, 2]),
            None if rank is None else draw.choice(["http://a.example", "http://b.example"]),
        )
        for _ in range(60)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_one_machine_in_any_order_of_rows(spark, seed):
    """On one machine rows are sorted first, so that no other row of a user parts an event."""
    rows = sorted(aol_rows(seed), key=lambda row: (row[1], row[2], row[3] is None))
    table = pl.DataFrame(rows, schema=["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"], orient="row")
    single = QueryLog.of(table, yes=True)
    random.Random(seed).shuffle(rows)
    found = of(spark.createDataFrame(rows, AOL).repartition(3))
    assert found.counts_in == {
        "rows": 60,
        "query events": int(single.event.sum()),
        "users": len(single.users),
        "distinct queries": len(single.queries),
    }
    assert 0 < found.counts_in["query events"] < 60
    assert {row.time for row in found.frame.collect()} == set(single.time.tolist())


def test_times_do_not_depend_on_the_time_zone_of_the_session(spark):
    rows = "('ann', 'tea', '2006-03-01 07:17:12')"
    texts = f"select * from values {rows} as t(user, query, time)"
    typed = f"select user, query, cast(time as timestamp_ntz) as time from values {rows} as t(user, query, time)"
    numbers = "select 'ann' as user, 'tea' as query, 1141197432L as time"
    for sql in (texts, typed, numbers):
        assert of(spark.sql(sql)).frame.first().time == 1141197432, sql


def test_a_time_that_is_none_is_missing(spark):
    frame = spark.createDataFrame(
        [("ann", "tea", "soon"), ("bob", "tea", None)], "user string, query string, time string"
    )
    assert [row.time for row in of(frame).frame.collect()] == [None, None]


TIMES = [
    "2006-03-01 07:17:12",
    "2006-02-28 23:59:59",
    "2008-02-29 00:00:00",
    "2006-02-30 07:17:12",
    "2006-06-31 00:00:00",
    "1000-01-01 00:00:00",
    "2999-12-31 23:59:59",
    "",
    None,
]
ODD_TIMES = ["2006-03-01 24:00:00", "2006-03-01 07:17:60", "2006-03-01T07:17:12", "0999-01-01 00:00:00", "soon", "5"]


@pytest.mark.parametrize("more", [[], ODD_TIMES])
def test_times_are_those_of_one_machine_whoever_reads_them(spark, more):
    """Times of the usual form are read by Spark, if all are; others by Python."""
    import numpy as np

    from querycloak.logs.query_log import MISSING_TIME
    from querycloak.logs.times import choose_pattern, parse_each

    times = TIMES + more
    frame = spark.createDataFrame(
        [("ann", f"q{i}", time) for i, time in enumerate(times)], "user string, query string, time string"
    )
    found = {row.query: row.time for row in of(frame).frame.collect()}
    texts = pl.Series([time or "" for time in times])
    expected = np.asarray(parse_each(texts, choose_pattern(texts))).tolist()
    assert [found[f"q{i}"] for i in range(len(times))] == [None if t == MISSING_TIME else t for t in expected]
    assert (found["q0"], found["q3"]) == (1141197432, None)


def test_only_the_roles_that_a_method_reads_are_kept(spark):
    frame = spark.createDataFrame([("ann", "tea", "2006-03-01 07:17:12")], "user string, query string, time string")
    found = of(frame, only={"user", "query"})
    assert found.frame.columns == ["user", "query"]
    assert found.names["time"] == "time"


def test_rows_without_a_user_or_a_query_stop_or_are_counted(spark):
    rows = [("ann", "tea"), (None, "tea"), ("\u200b", "tea"), ("bob", None), ("bob", " "), ("cem", "a\0b")]
    frame = spark.createDataFrame(rows, "user string, query string")
    with pytest.raises(InputError, match="2 rows have no user, 3 have a user and no query"):
        of(frame)
    found = of(frame, on_error="skip")
    assert found.counts_in["rows"] == 1
    assert found.dropped == {"rows without a user": 2, "rows without a query": 3}


def test_a_frame_that_is_no_log_is_refused(spark):
    empty = spark.createDataFrame([], "user string, query string")
    with pytest.raises(InputError, match="there are no rows"):
        of(empty)
    with pytest.raises(InputError, match="none of its 1 rows"):
        of(spark.createDataFrame([(None, "tea")], "user string, query string"), on_error="skip")
    with pytest.raises(InputError, match="no column is known to be the user"):
        of(empty.withColumnRenamed("user", "person"))
    with pytest.raises(UnknownNameError, match="who"):
        of(empty, {"user": "who"})
    with pytest.raises(InputError, match="holds double values; expected text or whole numbers"):
        of(empty.selectExpr("cast(user as double) as user", "query"))
    with pytest.raises(InputError, match="holds boolean values; expected text, whole numbers or timestamps"):
        of(empty.selectExpr("user", "query", "user = query as time"))


def test_columns_by_name_and_numbers_as_users(spark):
    frame = spark.createDataFrame([(17, "tea", "x"), (17, "tea", "y")], "`who is it` bigint, typed string, more string")
    found = of(frame, {"user": "who is it", "query": "typed"})
    assert [tuple(row) for row in found.frame.collect()] == [("17", "tea"), ("17", "tea")]
    assert found.events.count() == 2
    assert "tea" not in repr(found)


def test_an_event_has_one_category(spark):
    rows = [("ann", "tea", 5, "u", "B"), ("ann", "tea", 5, "v", "A"), ("ann", "tea", None, "v", "C")]
    frame = spark.createDataFrame(rows, "user string, query string, time bigint, url string, category string")
    assert sorted(row.category for row in of(frame).events.collect()) == ["A", "C"]
