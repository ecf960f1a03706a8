"""Transactions of users on a cluster, and the release of generalized ones: what `clump` and `partition` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.knowledge.generalization import Costs, leaf_loss
from querycloak.knowledge.pruning import cost_tree
from querycloak.methods.generalization._generalized_release import (
    OF_USERS_WITHOUT,
    USERS_WITHOUT,
    WITHOUT,
    generalized_statement,
    refuse_too_few,
)
from querycloak.releases.release import CONCEPT_ID
from querycloak.spark.concepts import with_concepts
from querycloak.spark.kept import kept
from querycloak.spark.new_ids import NewIds, all_digits
from querycloak.spark.spark_release import Draft

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from querycloak.knowledge.pruning import CostTree
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.methods.generalization._generalized_release import GeneralizationSettings
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = [
    "CLUSTERS",
    "Counted",
    "Transactions",
    "clusters_table",
    "read_transactions",
    "release_clusters",
    "transactions",
]

NAMES: Final = ("query", "category", CONCEPT_ID)
CLUSTERS: Final = (
    "users array<string>, concepts array<int>, "
    "loss bigint, items bigint, published bigint, depth bigint, root bigint, leaves bigint"
)
"""a cluster: its members, what all of them are published with, and what that costs, added up over the members"""


class Counted(NamedTuple):
    """What is known of the users of a log before anything is made."""

    users: int
    """with a concept"""
    without: int
    """users without one"""
    rows_without: int
    """rows of users without one"""
    unknown: int
    """query events without a concept, of users with one"""


class Transactions(NamedTuple):
    """The transactions of a log."""

    frame: DataFrame
    """`user` and `items`: array<int>, concepts, ascending; with repetitions where bags are asked for"""
    counted: Counted
    concepts: npt.NDArray[np.int32]
    """distinct concepts of the log, where the taxonomy is pruned to them; else empty"""

    def costs(self, taxonomy: Taxonomy, settings: Any) -> CostTree:
        """Return the tree over which generalizing is costed."""
        return cost_tree(taxonomy, self.concepts, settings.to_json())


def transactions(log: SparkLog, settings: Any, knowledge: Knowledge, method: str, *, distinct: bool) -> Transactions:
    """Return each user's concepts: one row per user. Users without a concept are counted and left out."""
    queries = with_concepts(log.events.select("query").distinct(), knowledge)
    own = F.filter("concepts", lambda concept: concept >= 0)
    events = log.events.select("user", "query").join(queries.select("query", own.alias("own")), "query")
    units = events.select("user", F.explode_outer("own").alias("item"))  # an event without a concept has one row
    items = F.collect_set("item") if distinct else F.collect_list("item")
    counted = units.groupBy("user").agg(
        F.array_sort(items).alias("items"), F.count_if(F.col("item").isNull()).alias("u")
    )
    users = kept(counted)
    has = F.size("items") > 0
    row = users.select(F.count_if(has), F.count_if(~has), F.sum(F.when(has, F.col("u")).otherwise(0))).first() or (
        0,
        0,
        0,
    )
    n, without, unknown = (int(value or 0) for value in row)
    refuse_too_few(n, n + without, settings.k, method)
    lost = users.where(~has).select("user")
    rows_without = log.frame.join(lost, "user", "left_semi").count() if without else 0
    found = np.zeros(0, dtype=np.int32)
    if settings.prune:
        seen = users.select(F.explode("items").alias("item")).distinct().collect()
        found = np.sort(np.array([row.item for row in seen], dtype=np.int32))
    return Transactions(users.where(has).select("user", "items"), Counted(n, without, rows_without, unknown), found)


def read_transactions(table: pa.Table) -> tuple[pa.Array, Ragged]:
    """Return the users of a block in the order of their ids, and the transaction of each."""
    table = table.combine_chunks().sort_by("user")
    lists = table["items"].combine_chunks()
    start = row_starts(lists.value_lengths().to_numpy(zero_copy_only=False))
    users = table["user"].combine_chunks().cast(pa.string())
    return users, Ragged(start, lists.flatten().to_numpy(zero_copy_only=False).astype(np.int32))


def clusters_table(
    users: pa.Array, bags: Ragged, of: npt.NDArray[Any], shared: Ragged, costs: CostTree, taxonomy: Taxonomy
) -> pa.Table:
    """Return clusters as `CLUSTERS`: `of` int[users] the cluster of each; `bags` and `shared` are nodes of the tree."""
    clusters = shared.rows
    order = np.argsort(of, kind="stable")
    size = np.bincount(of, minlength=clusters)
    loss, _ = leaf_loss(costs.tree)
    lists = pa.ListArray.from_arrays(pa.array(row_starts(size).astype(np.int32)), users.take(pa.array(order)))
    concepts, leaf = costs.concepts(shared), (taxonomy.size == 1).astype(np.int64)
    sums = {
        "users": lists,
        "concepts": pa.ListArray.from_arrays(pa.array(shared.start.astype(np.int32)), pa.array(concepts.values)),
        "loss": size * shared.sums(loss[shared.values]),
        "items": np.bincount(of, weights=bags.lengths, minlength=clusters).astype(np.int64),
        "published": size * shared.lengths,
        "depth": size * shared.sums(costs.tree.depth[shared.values].astype(np.int64)),
        "root": size * shared.sums((shared.values == 0).astype(np.int64)),
        "leaves": size * shared.sums(leaf[concepts.values]),
    }
    return pa.table(sums)


def release_clusters(
    method: str,
    log: SparkLog,
    settings: GeneralizationSettings,
    random: Randomness,
    knowledge: Knowledge,
    made: Transactions,
    clusters: DataFrame,
    *,
    length_is: str,
) -> Draft:
    """Publish each user with the concepts of its cluster, and say what that promises. `clusters` are as `CLUSTERS`."""
    clusters = kept(clusters)
    n = F.size("users")
    sums = [F.sum(name).alias(name) for name in ("loss", "items", "published", "depth", "root", "leaves")]
    row = clusters.agg(F.count("*").alias("clusters"), F.sum(n).alias("users"), F.min(n).alias("least"), *sums).first()
    assert row is not None
    tree = made.costs(knowledge.taxonomy, settings).tree
    costs = Costs(row.loss, row["items"], row.published, row.published, row.users, row.depth, row.root)
    statement = generalized_statement(
        method,
        settings,
        random,
        length_is=length_is,
        leaves=row.leaves,
        rows=row.published,
        counts_in=log.counts_in | {USERS_WITHOUT: made.counted.without} | {"items": row["items"]},
        counts_out={"clusters": row.clusters, "smallest cluster": row.least},
        dropped={OF_USERS_WITHOUT: made.counted.rows_without, WITHOUT: made.counted.unknown},
        figures=costs.generalization(tree).figures(),
    )
    members = clusters.where("size(concepts) > 0").select(F.explode("users").alias("user"), "concepts")
    ids = NewIds.of(members.select("user"), random, avoid=log.users, digits=all_digits(log.users))
    known = ids.put_on(members)
    items = known.select(F.col("id").alias("user"), F.explode("concepts").alias("concept"))
    frame = items.select("user", _named(F.col("concept"), knowledge).alias("n")).select("user", "n.*")
    return Draft("items", frame, statement, truth=known.select("id", "user"))


def _named(concept: Column, knowledge: Knowledge) -> Column:
    """Return how a concept is published: its label as `query`, its path as `category`, and its key."""

    def name(concepts: pa.Array) -> pa.Array:
        taxonomy = knowledge.taxonomy
        used, index = np.unique(concepts.to_numpy(zero_copy_only=False), return_inverse=True)
        found = (taxonomy.label, taxonomy.path, taxonomy.keys.__getitem__)
        columns = [pa.array([of(c) for c in used.tolist()], pa.string()).take(pa.array(index)) for of in found]
        return pa.StructArray.from_arrays(columns, names=NAMES)

    schema = f"struct<{','.join(f'{column}:string' for column in NAMES)}>"
    named: Column = F.arrow_udf(name, schema)(concept)  # type: ignore[attr-defined] # stubs lag behind
    return named
