"""Seeded faults of private methods on a cluster: noise by name, contributions, the gate."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["SPARK_DP"]

QUERIES = "spark/test_spark_frequent_queries.py"

SPARK_DP = [
    fault(
        "noise by name: blocks too narrow",
        "methods/dp/_exact_noise.py",
        "(0.6932 if laplace else 1.1775)",
        "(0.5 if laplace else 0.9)",
        "methods/dp/test_exact_noise.py::test_no_chance_is_above_one",
    ),
    fault(
        "set union on Spark: noise of half the scale",
        "spark/dp/set_union.py",
        "keyed, scale, least)",
        "keyed, scale / 2, least)",
        f"{QUERIES}::test_what_is_published_has_the_chances_of_one_machine",
    ),
    fault(
        "contributions on Spark: one item more of each user",
        "spark/dp/contribution.py",
        'F.col("rank") <= d)',
        'F.col("rank") <= d + 1)',
        f"{QUERIES}::test_sums_and_people_are_those_of_one_machine_to_the_last_digit",
    ),
    fault(
        "gate on Spark: columns of the log pass in private tables",
        "spark/gate_private.py",
        "    if kept:",
        "    if not paid:",
        "spark/test_private_users.py::test_the_gate_refuses_private_drafts_that_show_the_log",
    ),
]
