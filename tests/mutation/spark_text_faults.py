"""Seeded faults of texts and clicks on a cluster, and of the gate that counts them again."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["SPARK_TEXTS"]

SPARK_TEXTS: list[Fault] = [
    fault(
        "texts on Spark: a phrase of m - 1 people",
        "spark/shared_texts.py",
        'kept(counted.where(F.col("people") >= rule.people))',
        'kept(counted.where(F.col("people") >= rule.people - 1))',
        "spark/test_spark_shared_texts.py::test_texts_are_those_of_one_machine[rule0]",
    ),
    fault(
        "numbers on Spark: two texts of one hash are one",
        "spark/numbers.py",
        "            if not again:",
        "            if again or not again:",
        "spark/test_numbers.py::test_texts_of_one_hash_have_numbers_of_their_own[5]",
    ),
    fault(
        "people on Spark: many machines are people",
        "spark/people.py",
        'return table.join(machines, "person", "left_anti")',
        "return table",
        "spark/test_numbers.py::test_machines_are_left_out_however_many_they_are[0]",
    ),
    fault(
        "clicks on Spark: of any number of people",
        "spark/kept_columns.py",
        'clicks = people.agg(F.count("*").alias("people")).where(enough)',
        'clicks = people.agg(F.count("*").alias("people"))',
        "spark/test_spark_sweep.py::test_all_columns_with_parts",
    ),
    fault(
        "gate on Spark: a text of m - 1 people passes",
        "spark/gate_texts.py",
        'exact.where(F.col("people") < least)',
        'exact.where(F.col("people") < least - 1)',
        "spark/test_gate_texts.py::test_texts_of_one_person_too_few_are_refused",
    ),
    fault(
        "gate on Spark: a click of m - 1 people passes",
        "spark/gate_columns.py",
        ">= draft.statement.click_users)",
        ">= draft.statement.click_users - 1)",
        "spark/test_gate_texts.py::test_times_and_clicks",
    ),
]
