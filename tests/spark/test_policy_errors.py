"""What a policy cannot do is refused before any job; the gate looks at what a policy says of its ids."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querycloak.errors import GateError, InputError, UnknownNameError, UserError

pytestmark = pytest.mark.slow

ROWS = [("ann", "tea", 0, "x"), ("ann", "tea", 90_000, None), ("bob", "tea", 5, "x")]


def drafted(spark, frame, rules, name="policy"):
    """Make a draft, and tell how many jobs that took."""
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.release_on_spark import make_draft
    from querycloak.spark.spark_log import SparkLog

    log, knowledge = SparkLog.of(frame), Knowledge.of(spark)
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    try:
        return make_draft(log, name, knowledge, seed=1, settings={"rules": rules} if rules else {}), log
    finally:
        drafted.jobs = len(tracker.getJobIdsForGroup(None)) - before


@pytest.mark.parametrize(
    "rules",
    [
        '[ids]\nper = "day"\n',
        '[ids]\nper = "session"\n',
        "[query_users]\npeople = 2\ndays = 3\n",
        "[entities]\npeople = 2\ndays = 3\n",
        '[combination_users]\npeople = 2\ndays = 3\n[columns]\nkeep = ["url"]\n',
    ],
)
def test_rules_that_need_times_are_refused_without_them_before_any_job(spark, rules):
    frame = spark.createDataFrame(ROWS, "user string, query string, time bigint, url string").drop("time")
    with pytest.raises(UserError, match="the log has no times"):
        drafted(spark, frame, rules)
    assert drafted.jobs == 0


def test_unknown_rules_and_presets_are_refused_before_any_job(spark):
    frame = spark.createDataFrame(ROWS, "user string, query string, time bigint, url string")
    with pytest.raises(InputError, match=r"line 1.*query_user.*query_users"):
        drafted(spark, frame, "[query_user]\npeople = 2\n")
    assert drafted.jobs == 0
    with pytest.raises(UnknownNameError, match="google-2024"):
        drafted(spark, frame, None, "policy:google-2025")
    assert drafted.jobs == 0


def test_further_columns_that_a_release_cannot_have_are_refused_before_any_job(spark):
    frame = spark.sql("select 'ann' user, 'tea' query, array(1) many, 'at' Count, 'secret' other")
    with pytest.raises(InputError, match="many holds array<int> values; expected text, numbers or times"):
        drafted(spark, frame, '[columns]\nkeep = ["many"]\n')
    assert drafted.jobs == 0
    with pytest.raises(InputError, match="Count is called like another one of the release; rename it"):
        drafted(spark, frame, '[columns]\nkeep = ["Count"]\n')
    assert drafted.jobs == 0


def test_columns_of_any_name_are_published_where_asked_for_and_no_others(spark):
    frame = spark.sql("select 'ann' user, 'tea' query, 'at' `a.b``c d`, 'secret' other")
    draft, _ = drafted(spark, frame, '[columns]\nkeep = ["a.b`c d", "url"]\n')
    assert draft.frame.columns == ["user", "query", "a.b`c d"]
    assert draft.frame.first()[2] == "at"
    assert "the log has no column url: rules about it were not applied" in draft.statement.does_not_cover


def test_the_gate_looks_at_ids_and_counts(spark):
    from pyspark.sql import functions as F  # noqa: N812

    from querycloak.spark.gate import publish

    frame = spark.createDataFrame(ROWS, "user string, query string, time bigint, url string")
    days, log = drafted(spark, frame, '[ids]\nper = "day"\n')
    assert days.truth.count() == 3
    for change, problem in (
        ({"ids": "person"}, "two published ids stand for one person"),
        ({"ids": "none"}, "ids are published, and it is said that there are none"),
        ({"model": "k-anonymity", "unit": "user", "parameters": {"k": 1.0}}, "several ids"),
    ):
        with pytest.raises(GateError, match=problem):
            publish(replace(days, statement=replace(days.statement, **change)), log, None)
    counts, _ = drafted(spark, frame, '[ids]\nper = "none"\n')
    assert [tuple(row) for row in counts.frame.collect()] == [("tea", 3)]
    with pytest.raises(GateError, match="users are"):
        publish(replace(counts, frame=counts.frame.withColumn("user", F.lit("x"))), log, None)
    with pytest.raises(GateError, match="there are none"):
        publish(replace(counts, frame=counts.frame.drop("count")), log, None)
    with pytest.raises(GateError, match="there are no users"):
        publish(replace(days, frame=days.frame.drop("user")), log, None)
