"""Seeded faults of policies on Spark, and of ids and samples that the order of rows must not change."""

from __future__ import annotations

from mutation.fault import Fault, fault

SAME = "spark/test_policy.py::test_the_table_and_the_statement_are_those_of_one_machine"
ORDER = "methods/policy/test_policy_order.py"

SPARK_POLICY: list[Fault] = [
    fault("spark: a thing of one person too few", "spark/policy/texts.py", '"people >= least"', '"people >= least - 1"',
          f"{SAME}[texts]"),
    fault("spark: a click of one person too few", "spark/policy/combination_users.py",
          'F.col("people") < rule.people)', 'F.col("people") < rule.people - 1)', f"{SAME}[rows]"),
    fault("policy: a sample by the order of rows", "methods/policy/rule_sample.py", "words <= np.sort(words)[most - 1]",
          "np.arange(len(words)) <= most - 1", ORDER),
    fault("policy: sessions by the order of rows", "methods/policy/rule_ids.py",
          "np.where(missing, url, clicked), text", "np.where(missing, url, clicked), event", ORDER),
]  # fmt: skip
