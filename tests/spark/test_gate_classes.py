"""The gate counts classes by the bytes of rows, and refuses a user who is alone."""

from __future__ import annotations

import dataclasses

import pytest

from querycloak.errors import GateError

pytestmark = pytest.mark.slow


def rows_of(*bags):
    return [(f"u{i}", query, time) for i, bag in enumerate(bags) for query, time in bag]


BAGS = [
    [("tea", 1), ("tea", 1), ("pot", None)],
    [("pot", None), ("tea", 1), ("tea", 1)],  # the same in another order
    [("tea", 1), ("pot", None), ("pot", None)],  # the same rows, not as often
    [("tea", None), ("tea", 1), ("pot", 1)],
    [('tea","time":1', None)],
    [("null", None)],
    [("none", None)],
    [("", None)],
]


def test_classes_are_bags_of_rows(spark) -> None:
    from querycloak.spark.gate_classes import class_sizes

    frame = spark.createDataFrame(rows_of(*BAGS), "user string, query string, time bigint")
    assert sorted(row.users for row in class_sizes(frame).collect()) == [1, 1, 1, 1, 1, 1, 2]


def test_many_rows_of_one_user_add_up(spark) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from querycloak.spark.gate_classes import class_sizes

    frame = spark.range(4000).select((F.col("id") % 2).cast("string").alias("user"), F.lit("tea").alias("query"))
    assert [row.users for row in class_sizes(frame).collect()] == [2]


def test_a_class_of_k_minus_1_is_refused(spark) -> None:
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.gate_classes import check_classes
    from querycloak.spark.spark_release import Draft

    rows = rows_of(*[[("tea", 1)]] * 3, *[[("pot", 1)]] * 2)
    frame = spark.createDataFrame(rows, "user string, query string, time int")
    statement = PrivacyStatement(
        method="m", settings={}, version="", model="k", parameters={"k": 2.0}, unit="user", covers=(),
        does_not_cover=(), randomness="", new_ids=True, counts_in={}, counts_out={}, dropped={},
    )  # fmt: skip
    draft = Draft("log", frame, statement)
    check_classes(draft)
    with pytest.raises(GateError, match="2 published users are in a class of fewer than 3"):
        check_classes(dataclasses.replace(draft, statement=dataclasses.replace(statement, parameters={"k": 3.0})))
