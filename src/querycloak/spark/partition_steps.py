"""One step of `partition` on parts that are too large for one task: each is split once, by jobs over all of them.

The rules are those of the kernel (`methods/generalization/_partition_kernels.py`), said in aggregates:

- For each open node of a part, users are grouped by the children of the node that they have. Groups are counted by
  Spark; a group is named by its children, and is as early as its first user.
- Of each node, the driver gets sums over its groups, and the few groups that could hand somebody over (`_balance`
  asks for fewer than k users). It takes the node with the greatest fall in GGD.
- Who is handed over (`_move`) are the users with the fewest items under the node, the first ids first: fewer than k of
  a part, and the driver sends them along.
- Which users stay in their group: those of groups of k or more, whose names are joined to the rows.

What comes to the driver is in proportion to the number of parts that do not fit into a task.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql.window import Window

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.methods.generalization.partition import top_down
from querycloak.spark.kept import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame, Row

    from querycloak.knowledge.pruning import CostTree
    from querycloak.methods.generalization._partition_kernels import TopDown

    Batches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

__all__ = ["ROOT", "Step"]

ROOT: Final = "0"
"""name of the part that holds everybody"""
ROWS: Final = "user string, items array<int>, part string, nodes array<bigint>"
GROUPS: Final = "part string, node int, children binary, worth bigint, n bigint, first string"
GROUPS_ARROW: Final = pa.schema(
    [
        ("part", pa.string()),
        ("node", pa.int32()),
        ("children", pa.binary()),
        ("worth", pa.int64()),
        ("n", pa.int64()),
        ("first", pa.string()),
    ]
)
PLACED: Final = "user string, items array<int>, part string, nodes array<bigint>, node int, children binary, under int"


class Split(NamedTuple):
    """How a part is split."""

    node: int
    """the node that is replaced by its children"""
    moved: dict[bytes, int]
    """children of a group → how many of its users are handed over"""
    whole: bytes | None
    """children of the group that joins what is merged back as a whole; None = there is none"""


class Step:
    """The users of parts that may be too large for a task, with the part and the nodes of each."""

    def __init__(
        self, rows: DataFrame, parts: Mapping[str, Sequence[int]], k: int, costs: Callable[[], CostTree]
    ) -> None:
        """`rows`: user, items, part, nodes. `parts`: name of each part → its nodes; open v, or closed -1 - v."""
        self.rows = rows
        self.parts = parts
        self.k = k
        self.costs = costs

    def next(self, most: int) -> tuple[Step, DataFrame]:
        """Split each part once: the step of those with more users than `most`, and the rows of all others."""
        splits = self._splits()
        groups = self._groups.where(_is_kept(self.k)).select("part", "node", "children", F.lit(1).alias("kept"))
        placed = self.rows.mapInArrow(_placing(splits, self.costs), PLACED)
        joined = placed.join(groups, ["part", "node", "children"], "left")
        moved = self._moved(placed, splits)
        new = kept(joined.mapInArrow(_splitting(splits, moved, self.costs), ROWS))
        sizes = new.groupBy("part").agg(F.count("*").alias("n"), F.first("nodes").alias("nodes"))
        large = {row.part: row.nodes for row in sizes.where(F.col("n") > most).collect()}
        open_ = {part: nodes for part, nodes in large.items() if any(node >= 0 for node in nodes)}
        is_open = F.col("part").isin(list(open_))
        return Step(new.where(is_open), open_, self.k, self.costs), new.where(~is_open)

    @cached_property
    def _groups(self) -> DataFrame:
        """The groups of each open node of each part: how many users, what a member gains, and its first user."""
        found = self.rows.select("user", "items", "part").mapInArrow(_counting(self.parts, self.costs), GROUPS)
        added = found.groupBy("part", "node", "children").agg(
            F.first("worth").alias("worth"), F.sum("n").alias("n"), F.min("first").alias("first")
        )
        return kept(added)

    def _splits(self) -> dict[str, Split]:
        """Choose how each part is split; one that cannot be split is not in it."""
        is_kept, k = _is_kept(self.k), self.k
        sums = self._groups.groupBy("part", "node").agg(
            F.coalesce(F.sum(F.when(~is_kept, F.col("n"))), F.lit(0)).alias("back"),
            F.count_if(is_kept).alias("kept"),
            F.coalesce(F.sum(F.when(is_kept, F.col("n") * F.col("worth"))), F.lit(0)).alias("gain"),
            F.coalesce(F.sum(F.when(is_kept, F.col("n") - k)), F.lit(0)).alias("spare"),
        )
        rows = sums.where("kept > 0").collect()
        short = [f"{row.part} {row.node}" for row in rows if 0 < row.back < k]
        of_node = Window.partitionBy("part", "node")
        cheap = F.row_number().over(
            of_node.orderBy(F.col("n") <= k, "worth", "first")
        )  # those with users to spare first
        least = F.row_number().over(of_node.orderBy(F.col("n") * F.col("worth"), "first"))
        able = self._groups.where(is_kept & F.concat_ws(" ", "part", "node").isin(short))
        able = able.select("part", "node", "children", "worth", "n", cheap.alias("cheap"), least.alias("least"))
        donors: dict[tuple[str, int], list[Row]] = {}
        if short:
            for row in able.where((F.col("cheap") < k) | (F.col("least") == 1)).orderBy("cheap").collect():
                donors.setdefault((row.part, row.node), []).append(row)
        best: dict[str, tuple[int, int, Split]] = {}
        for row in rows:
            found = _balanced(row, donors.get((row.part, row.node), []), k)
            if found is not None and (row.part not in best or (found[0], -row.node) > best[row.part][:2]):
                best[row.part] = (found[0], -row.node, found[1])
        return {part: split for part, (gain, _, split) in best.items() if gain >= 0}

    def _moved(self, placed: DataFrame, splits: Mapping[str, Split]) -> set[tuple[str, str]]:
        """Return part and user of those who are handed over: fewer than k of each part."""
        asked = [(part, children, n) for part, split in splits.items() for children, n in split.moved.items()]
        if not asked:
            return set()
        wanted = placed.sparkSession.createDataFrame(asked, "part string, children binary, wanted int")
        order = Window.partitionBy("part", "children").orderBy("under", "user")
        ranked = placed.join(F.broadcast(wanted), ["part", "children"])
        ranked = ranked.select("part", "user", "wanted", F.row_number().over(order).alias("rank")).where(
            F.col("rank") < self.k
        )
        return {(row.part, row.user) for row in ranked.where("rank <= wanted").collect()}


def _is_kept(k: int) -> Column:
    """Tell whether a group is a part of its own; those with the node itself and nothing below have no children."""
    return (F.col("n") >= k) & (F.length("children") > 0)


def _balanced(node: Row, donors: list[Row], k: int) -> tuple[int, Split] | None:
    """Fill up what is merged back to k (`_balance`): the gain, and how the part is split; None = no group is left."""
    gain, missing = node.gain, k - node.back if node.back else 0
    moved: dict[bytes, int] = {}
    if missing > 0 and node.spare < missing:
        least = next(row for row in donors if row.least == 1)
        if node.kept == 1:
            return None
        return gain - least.n * least.worth, Split(node.node, {}, bytes(least.children))
    for row in donors if missing > 0 else []:
        taken = min(missing, row.n - k)
        if taken > 0:
            moved[bytes(row.children)] = taken
            gain, missing = gain - taken * row.worth, missing - taken
    return gain, Split(node.node, moved, None)


class Children(NamedTuple):
    """The children of a node that each of some users has."""

    names: list[bytes]
    """the children, 4 bytes each; empty = the user has the node itself and nothing below"""
    worth: npt.NDArray[np.int64]
    """int64[users], what a member gains"""
    under: npt.NDArray[np.int64]
    """int64[users], items under the node"""


def _children(tree: TopDown, bags: Ragged, node: int) -> Children:
    """Return the children of a node that each user has; all users have an item under it."""
    here = np.flatnonzero((bags.values >= node) & (bags.values < node + tree.size[node]))
    owner, item = bags.owner[here], bags.values[here]
    below = np.minimum(tree.depth[node] + 1, tree.ancestor.shape[1] - 1)
    child = np.where(item == node, node, tree.ancestor[item, below])
    under = np.bincount(owner, minlength=bags.rows)
    new = np.ones(len(owner), dtype=np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (child[1:] != child[:-1])
    owner, child = owner[new], child[new]
    worth = np.full(bags.rows, -tree.worth[node], dtype=np.int64)
    np.add.at(worth, owner, tree.worth[child])
    start = row_starts(np.bincount(owner, minlength=bags.rows)) * 4
    raw = child.astype(">i4").tobytes()
    names = [raw[a:b] for a, b in pairwise(start.tolist())]
    alone = np.zeros(bags.rows, dtype=np.bool_)
    alone[owner[child == node]] = True
    for user in np.flatnonzero(alone & (under == 1)).tolist():
        names[user] = b""
    return Children(names, worth, under.astype(np.int64))


def _by_part(batch: pa.RecordBatch, costs: CostTree) -> Iterator[tuple[str, npt.NDArray[np.int64], Ragged]]:
    """Return the rows of each part in a batch, with the nodes of their items."""
    coded = batch["part"].dictionary_encode()
    code = coded.indices.to_numpy(zero_copy_only=False)
    lists = batch["items"]
    start = row_starts(lists.value_lengths().to_numpy(zero_copy_only=False))
    bags = costs.nodes(Ragged(start, lists.flatten().to_numpy(zero_copy_only=False)))
    for i, part in enumerate(coded.dictionary.to_pylist()):
        rows = np.flatnonzero(code == i)
        yield part, rows, bags.take(rows)


def _counting(parts: Mapping[str, Sequence[int]], costs: Callable[[], CostTree]) -> Batches:
    """Return what counts the groups of all open nodes in some rows."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import polars as pl

        made = costs()
        tree = top_down(made.tree)
        for batch in batches:
            for part, rows, bags in _by_part(batch, made):
                users = batch["user"].take(pa.array(rows)).to_pylist()
                for node in parts[part]:
                    if node < 0 or tree.size[node] == 1:
                        continue
                    found = _children(tree, bags, node)
                    frame = pl.DataFrame({"children": found.names, "worth": found.worth, "first": users})
                    counted = frame.group_by("children").agg(
                        pl.col("worth").first(), n=pl.len().cast(pl.Int64), first=pl.col("first").min()
                    )
                    out = counted.select(
                        pl.lit(part).alias("part"),
                        pl.lit(node, pl.Int32).alias("node"),
                        "children",
                        "worth",
                        "n",
                        "first",
                    )
                    yield from out.to_arrow().cast(GROUPS_ARROW).to_batches()

    return count


def _placing(splits: Mapping[str, Split], costs: Callable[[], CostTree]) -> Batches:
    """Return what names the group of each user: the children of the node by which its part is split."""

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = costs()
        tree = top_down(made.tree)
        for batch in batches:
            node = np.full(batch.num_rows, -1, dtype=np.int32)
            under = np.zeros(batch.num_rows, dtype=np.int32)
            names = [b""] * batch.num_rows
            for part, rows, bags in _by_part(batch, made):
                if part in splits:
                    found = _children(tree, bags, splits[part].node)
                    node[rows], under[rows] = splits[part].node, found.under
                    for row, name in zip(rows.tolist(), found.names, strict=True):
                        names[row] = name
            columns = [batch[name] for name in ("user", "items", "part", "nodes")]
            columns += [pa.array(node), pa.array(names, pa.binary()), pa.array(under)]
            yield pa.record_batch(columns, names=["user", "items", "part", "nodes", "node", "children", "under"])

    return place


def _splitting(splits: Mapping[str, Split], moved: set[tuple[str, str]], costs: Callable[[], CostTree]) -> Batches:
    """Return what gives each user its new part and nodes. A part that cannot be split has its nodes closed."""
    del costs

    def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            parts, nodes = [], []
            known: dict[tuple[str, bytes | None], tuple[str, list[int]]] = {}
            columns = [batch[name].to_pylist() for name in ("user", "part", "children", "kept", "nodes")]
            for user, part, children, of_group, old in zip(*columns, strict=True):
                stays = of_group is not None and (part, user) not in moved
                key = (part, children if stays and part in splits and children != splits[part].whole else None)
                if key not in known:
                    known[key] = _new_part(key, old, splits.get(part))
                name, new = known[key]
                parts.append(name)
                nodes.append(new)
            out = [batch["user"], batch["items"], pa.array(parts), pa.array(nodes, pa.list_(pa.int64()))]
            yield pa.record_batch(out, names=["user", "items", "part", "nodes"])

    return split


def _new_part(key: tuple[str, bytes | None], old: list[int], split: Split | None) -> tuple[str, list[int]]:
    """Return the name and the nodes of a new part; None for children = what is merged back, and keeps the node."""
    part, children = key
    if split is None:
        return part, [node if node < 0 else -1 - node for node in old]
    rest = [node for node in old if node != split.node]
    digest = hashlib.blake2b(part.encode() + b"/" + (b"" if children is None else children), digest_size=16).hexdigest()
    if children is None:
        return digest, [*rest, -1 - split.node]
    new = np.frombuffer(children, ">i4").tolist()
    return digest, [*rest, *(-1 - child if child == split.node else child for child in new)]
