"""Clump on a cluster: users in blocks, each block clustered by the kernel of one machine.

One machine orders transactions by their length and tries the nearest clusters of this order. So a block holds users
with about as many concepts, to within half an octave, and among these those of a topic: cut by topics alone, a log of
3,000 users lost 11 % more in blocks of 500; so cut, it loses no more than as a whole.

A cluster has at least k users of one block, and all of them are published with what their cluster shares: the
guarantee is that of one machine (`methods/generalization/clump.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa  # noqa: TC002 - Spark reads the types of functions
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.knowledge.pruning import cost_tree
from querycloak.methods.generalization.clump import Clump, clusters_of, length_is
from querycloak.spark.blocks import Histogram, cut_blocks
from querycloak.spark.topics import topics_of
from querycloak.spark.transactions import CLUSTERS, clusters_table, read_transactions, release_clusters, transactions

if TYPE_CHECKING:
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import Draft

__all__ = ["USERS_OF_BLOCK", "clump"]

USERS_OF_BLOCK: Final = 50_000
"""users clustered together: the kernel is linear, and a block of them takes a task some seconds"""


def clump(log: SparkLog, settings: Clump, random: Randomness, knowledge: Knowledge) -> Draft:
    """Cluster the users of a log and publish each as its cluster's least common generalization."""
    made = transactions(log, settings, knowledge, "clump", distinct=settings.transactions == "sets")
    users = topics_of(made.frame, F.col("items"), F.lit(0), lambda: knowledge.taxonomy)
    octave = F.floor(2 * F.log2("tokens")).cast("bigint")
    users = users.select("user", "rows", (octave * len(knowledge.taxonomy) + F.col("topic")).alias("topic"))
    n = made.counted.users
    per_block = USERS_OF_BLOCK if n > USERS_OF_BLOCK else None
    blocks = cut_blocks(users, per_block, settings.k, random, Histogram.of(users))
    keyed = KeyedRandomness(random.child("blocks"))
    alone = random if blocks.count == 1 and random.repeats else None  # with a seed, one block is as on one machine
    seen, asked = made.concepts, settings.to_json()

    def run(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        source = keyed.of(str(key[0].as_py())) if alone is None else alone
        names, bags = read_transactions(table)
        costs = cost_tree(knowledge.taxonomy, seen, asked)
        nodes = costs.nodes(bags)
        of, shared = clusters_of(nodes, costs.tree, settings, source)
        if settings.duplicates == "drop":
            shared = shared.distinct()
        return clusters_table(names, nodes, of, shared, costs, knowledge.taxonomy)

    placed = made.frame.join(blocks.users, "user").repartition(blocks.partitions, "block")
    clusters = placed.groupBy("block").applyInArrow(run, CLUSTERS)
    return release_clusters("clump", log, settings, random, knowledge, made, clusters, length_is=length_is(settings))
