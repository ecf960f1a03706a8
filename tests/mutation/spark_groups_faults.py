"""Seeded faults of groups on a cluster: a block too small, rows that are not sorted, a gate that looks away."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["SPARK_GROUPS"]

SPARK_GROUPS: list[Fault] = [
    fault(
        "Spark: a block of fewer than 2k users",
        "spark/blocks.py",
        "if filled >= least:",
        "if filled >= least - 1:",
        "spark/test_blocks.py::test_every_block_has_enough_users_or_is_the_only_one",
    ),
    fault(
        "Spark: what a block draws depends on the order in which its rows come",
        "spark/block_rows.py",
        "frame = frame.sort(order)",
        "pass",
        "spark/test_block_rows.py::test_the_order_in_which_rows_come_makes_no_difference",
    ),
    fault(
        "Spark: what is merged back is filled up to k - 1",
        "spark/partition_steps.py",
        "k - node.back if node.back else 0",
        "k - 1 - node.back if node.back else 0",
        "spark/test_partition_steps.py::test_those_with_least_to_gain_fill_up_to_k",
    ),
    fault(
        "Spark: a class of k - 1 passes the gate",
        "spark/gate_classes.py",
        'F.col("users") < k',
        'F.col("users") < k - 1',
        "spark/test_gate_classes.py::test_a_class_of_k_minus_1_is_refused",
    ),
]
