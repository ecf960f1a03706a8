"""Users as bags of concepts, laid out as flat arrays for the distance kernels.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> t = Taxonomy.from_parents([-1, 0, 1, 1], [["top"], ["sports"], ["diving"], ["surfing"]])
>>> b = bags_of(np.array([0, 0, 0, 1]), np.array([2, 2, 3, 3]), 2, t)
>>> b.node[b.start[0]:b.start[1]].tolist(), b.times[b.start[0]:b.start[1]].tolist()
([2, 3], [2, 1])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.distances._distance_kernels import MOST_CONCEPTS, SCALE, user_trees
from querycloak.errors import InputError

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["Bags", "bags_of", "distance_table", "flat_bags", "part_of"]

Ints = npt.NDArray[np.integer[Any]]


class Bags(NamedTuple):
    """n users as bags of concepts over the part of a taxonomy that they use.

    Nodes are numbered again, in the depth-first order of the taxonomy, root at 0: only concepts that some user has, and
    their ancestors, take part. `original` gives a node's index in the taxonomy.
    """

    start: npt.NDArray[np.int64]
    """int64[n + 1], the concepts of user u are start[u] .. start[u + 1] - 1"""
    node: npt.NDArray[np.int32]
    """int32[m], distinct for each user, ascending"""
    times: npt.NDArray[np.int64]
    """int64[m], how often the user asked for it"""
    weight: npt.NDArray[np.int64]
    """int64[n], sum of the counts of a user"""
    tree_start: npt.NDArray[np.int64]
    """int64[n + 1], slices of the next three"""
    tree_node: npt.NDArray[np.int32]
    """int32[t], the user's concepts and all their ancestors, depth-first"""
    tree_least: npt.NDArray[np.int32]
    """int32[t], smallest depth of a concept of the user at or below the node"""
    tree_skip: npt.NDArray[np.int32]
    """int32[t], entries of the user's own subtree at the node: where to go on if the node is of no interest"""
    parent: npt.NDArray[np.int32]
    """int32[a], -1 for the root"""
    depth: npt.NDArray[np.int32]
    """int32[a]"""
    delta: npt.NDArray[np.int32]
    """int32[h + 1, 2h + 1], distance of two concepts by shared ancestors and by all, in units of 1 / SCALE"""
    original: npt.NDArray[np.int32]
    """int32[a], index in the taxonomy"""


def distance_table(height: int) -> npt.NDArray[np.int32]:
    """Tabulate δ = 1 - shared / union of T(c1) and T(c2) (Batet et al. 2013, eq. 1), in units of 1 / SCALE.

    T leaves the root out, so |T(c)| is the depth of c. The root against itself (0 / 0) is at distance 0.
    """
    shared = np.arange(height + 1, dtype=np.int64)[:, None]
    union = np.arange(2 * height + 1, dtype=np.int64)[None, :]
    rest = np.maximum(union - shared, 0)
    table = (SCALE * rest + union // 2) // np.maximum(union, 1)
    return np.asarray(table, dtype=np.int32)


def bags_of(user: Ints, concept: Ints, n: int, taxonomy: Taxonomy) -> Bags:
    """Count the concepts of n users; `concept` has no -1."""
    owner, node, count = _count(user, concept, len(taxonomy))
    original = np.arange(len(taxonomy), dtype=np.int32)
    return _assemble(owner, node, count, n, taxonomy.parent, taxonomy.depth, original)


def flat_bags(user: Ints, word: Ints, n: int) -> Bags:
    """Count words that are only equal or different (δ is 0 or 1): a taxonomy of one level.

    `original` gives the word of a node; -1 for the root.
    """
    words, code = np.unique(word, return_inverse=True)
    parent = np.zeros(len(words) + 1, dtype=np.int32)
    parent[0] = -1
    depth = np.ones(len(words) + 1, dtype=np.int32)
    depth[0] = 0
    original = np.concatenate([[-1], words]).astype(np.int32)
    owner, node, count = _count(user, code + 1, len(words) + 1)
    return _assemble(owner, node, count, n, parent, depth, original)


def part_of(bags: Bags, users: npt.NDArray[np.int64]) -> Bags:
    """Return the bags of some users only, over the nodes that these use."""
    length = bags.start[users + 1] - bags.start[users]
    ends = np.cumsum(length)
    entry = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(bags.start[users] - (ends - length), length)
    owner = np.repeat(np.arange(len(users)), length)
    return _assemble(owner, bags.node[entry], bags.times[entry], len(users), bags.parent, bags.depth, bags.original)


def _count(user: Ints, node: Ints, width: int) -> tuple[Ints, Ints, npt.NDArray[np.int64]]:
    """Count equal (user, node): owner, node and count of each, by owner and node."""
    pairs, count = np.unique(user.astype(np.int64) * width + node, return_counts=True)
    return pairs // width, pairs % width, count.astype(np.int64)


def _assemble(
    owner: Ints,
    node: Ints,
    count: npt.NDArray[np.int64],
    n: int,
    parent: npt.NDArray[np.int32],
    depth: npt.NDArray[np.int32],
    original: npt.NDArray[np.int32],
) -> Bags:
    """Lay out counted (owner, node), in order; nodes that nobody uses are left out."""
    weight = np.bincount(owner, weights=count, minlength=n).astype(np.int64)
    if weight.max(initial=0) >= MOST_CONCEPTS:
        raise InputError(
            f"One user has {int(weight.max()):,} concepts: fewer than {MOST_CONCEPTS:,} are expected. "
            "Leave such users out of the log: they are not people."
        )
    active = np.zeros(len(parent), dtype=np.bool_)
    active[0] = True
    frontier = np.unique(node)
    while frontier.size:
        active[frontier] = True
        above = np.unique(parent[frontier])
        frontier = above[(above >= 0) & ~active[above]]
    kept = np.flatnonzero(active)
    number = np.cumsum(active, dtype=np.int64) - 1
    new_parent = np.where(kept == 0, -1, number[parent[kept]]).astype(np.int32)
    new_depth = np.ascontiguousarray(depth[kept])
    start = np.searchsorted(owner, np.arange(n + 1)).astype(np.int64)
    nodes = number[node].astype(np.int32)
    trees = user_trees(start, nodes, new_parent, new_depth)
    delta = distance_table(int(new_depth.max(initial=0)))
    return Bags(start, nodes, count, weight, *trees, new_parent, new_depth, delta, original[kept])
