"""A number stands for one text, whatever the hash of texts is."""

from functools import partial

import pytest

pytestmark = pytest.mark.slow

TEXTS = ["", " ", "green tea", "Green tea", "green tea ", "日本茶", *(f"query {i}" for i in range(1_500))]


def weak(hash_, text, *turn, many):
    """Return a hash of only so many numbers."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.pmod(hash_(text, *turn), F.lit(many).cast("bigint"))


def numbers_of(spark, texts):
    from pyspark.sql import functions as F  # noqa: N812

    from querycloak.spark.numbers import Numbers

    frame = spark.createDataFrame([(text,) for text in texts], "text string").repartition(3)
    found = Numbers.of_distinct(frame)
    rows = frame.select("text", found.of(F.col("text")).alias("number")).collect()
    return found, {row.text: row.number for row in rows}


def test_texts_have_numbers_of_their_own(spark):
    found, numbers = numbers_of(spark, TEXTS)
    assert found.shared == ()
    assert len(set(numbers.values())) == len(TEXTS)


@pytest.mark.parametrize("many", [5, 1_500, 300_000])  # all numbers are shared, too many for a plan, some
def test_texts_of_one_hash_have_numbers_of_their_own(spark, monkeypatch, many):
    from querycloak.spark import numbers as module

    monkeypatch.setattr(module, "quick_hash", partial(weak, module.quick_hash, many=many))
    found, numbers = numbers_of(spark, TEXTS)
    assert found.shared or not found.quick
    assert len(set(numbers.values())) == len(TEXTS)


def test_a_hash_of_a_further_turn_may_also_be_shared(spark, monkeypatch):
    from querycloak.spark import numbers as module

    monkeypatch.setattr(module, "quick_hash", partial(weak, module.quick_hash, many=5))
    monkeypatch.setattr(module, "slow_hash", partial(weak, module.slow_hash, many=100))
    found, numbers = numbers_of(spark, TEXTS[:20])
    assert len(found.shared) > 1
    assert len(set(numbers.values())) == 20


def test_people_are_counted_where_all_hashes_are_shared(spark, monkeypatch):
    """The texts of a sweep are the same, with numbers of further turns."""
    from querycloak.spark import numbers as module
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.shared_texts import shared_texts
    from querycloak.spark.spark_log import SparkLog
    from querycloak.texts.text_settings import TextRule

    rows = [(f"u{i % 7}", f"green tea {i % 11} {i % 29}") for i in range(400)]
    frame = spark.createDataFrame(rows, "user string, query string")

    def texts():
        rule = TextRule(people=6, rare="phrase", identifiers="drop")
        found = shared_texts(SparkLog.of(frame), rule, Knowledge.of(spark), labels=False)
        return {row.query: (row.text, row.kind, row.people) for row in found.of_query.collect()}

    usual = texts()
    monkeypatch.setattr(module, "quick_hash", partial(weak, module.quick_hash, many=4))
    assert texts() == usual
    assert {kind for _, kind, _ in usual.values()} >= {1}


@pytest.mark.parametrize("few", [0, 1, 1_000])  # joined, joined, in the plan
def test_machines_are_left_out_however_many_they_are(spark, monkeypatch, few):
    from querycloak.spark import people
    from querycloak.spark.spark_log import SparkLog

    monkeypatch.setattr(people, "FEW", few)
    sizes = {"ann": 3, "bob": 4, "crawler": 5, "monitor": 9}
    rows = [(user, f"query {i % 3}") for user, n in sizes.items() for i in range(n)]
    log = SparkLog.of(spark.createDataFrame(rows, "user string, query string"))
    names = log.users.withColumn("person", log.user_numbers.of(log.users["user"])).collect()
    name = {row.person: row.user for row in names}
    left = people.without_machines(log.asked, log, 4).collect()
    assert {name[row.person] for row in left} == {"ann", "bob"}
    assert sum(row.rows for row in left) == 7
    assert {name[row.person] for row in people.without_machines(log.asked, log, None).collect()} == set(sizes)
