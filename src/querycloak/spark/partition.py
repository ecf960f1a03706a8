"""Partition on a cluster: the parts of one machine, split by Spark as long as one does not fit into a task.

Parts have nothing to do with each other once they are split, and the kernel of one machine goes on with any part where
another run left off (`_partition_kernels.py`). So a part of at most `USERS_OF_TASK` users is finished inside one task,
and only larger ones are split by jobs (`partition_steps.py`), all of them at once. Users stand in the order of their
ids on one machine and here, so that ties fall alike: both publish the same table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.arrays.ragged import Ragged
from querycloak.knowledge.pruning import cost_tree
from querycloak.methods.generalization import _partition_kernels as kernels
from querycloak.methods.generalization.partition import LENGTH_IS, Partition, top_down
from querycloak.spark.partition_steps import ROOT, Step
from querycloak.spark.transactions import (
    CLUSTERS,
    clusters_table,
    read_transactions,
    release_clusters,
    transactions,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from querycloak.knowledge.pruning import CostTree
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import Draft

__all__ = ["USERS_OF_TASK", "partition"]

USERS_OF_TASK: Final = 500_000
"""users of a part that one task finishes: about 100 MB with 20 concepts each"""


def partition(log: SparkLog, settings: Partition, random: Randomness, knowledge: Knowledge) -> Draft:
    """Part the users of a log from the root down and publish each as the nodes its part shares."""
    made = transactions(log, settings, knowledge, "partition", distinct=True)
    seen, asked = made.concepts, settings.to_json()

    def costs() -> CostTree:
        return cost_tree(knowledge.taxonomy, seen, asked)

    nodes = F.array(F.lit(0).cast("bigint"))
    rows = made.frame.select("user", "items", F.lit(ROOT).alias("part"), nodes.alias("nodes"))
    small, tasks = _split(rows, made.counted.users, settings.k, costs)

    def finish(_: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return _finish(table, costs(), settings.k, knowledge)

    clusters = small.repartition(tasks, "task").groupBy("task").applyInArrow(finish, CLUSTERS)
    return release_clusters("partition", log, settings, random, knowledge, made, clusters, length_is=LENGTH_IS)


def _split(rows: DataFrame, users: int, k: int, costs: Any) -> tuple[DataFrame, int]:
    """Split parts until each fits into one task: `user`, `items`, `part`, `nodes` and `task`, and how many tasks."""
    tasks = max(1, -(-2 * users // USERS_OF_TASK)) if users > USERS_OF_TASK else 1
    task = F.pmod(F.xxhash64("part"), F.lit(tasks)).cast("int")
    done: list[DataFrame] = []
    if users <= USERS_OF_TASK:
        return rows.withColumn("task", task), tasks
    step = Step(rows, {ROOT: [0]}, k, costs)
    while step.parts:
        step, finished = step.next(USERS_OF_TASK)
        done.append(finished)
    out = done[0]
    for part in done[1:]:
        out = out.unionByName(part)
    return out.withColumn("task", task), tasks


def _finish(table: pa.Table, costs: CostTree, k: int, knowledge: Knowledge) -> pa.Table:
    """Split the parts of a task until nothing can be split."""
    parts = table["part"].combine_chunks().dictionary_encode()
    code = parts.indices.to_numpy(zero_copy_only=False)
    tree = top_down(costs.tree)
    done = []
    for part in range(len(parts.dictionary)):
        rows = table.take(pa.array(np.flatnonzero(code == part))) if len(parts.dictionary) > 1 else table
        begin = np.array(rows["nodes"][0].as_py(), dtype=np.int64)
        users, bags = read_transactions(rows.select(["user", "items"]))
        nodes = costs.nodes(bags)
        of, start, items = kernels.partition_kernel(tree, nodes, k, begin)
        done.append(clusters_table(users, nodes, of, Ragged(start, items), costs, knowledge.taxonomy))
    return pa.concat_tables(done)
