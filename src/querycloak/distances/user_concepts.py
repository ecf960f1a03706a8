"""Users with their counted concepts and their part of the taxonomy, laid out as flat arrays for the distance kernels.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> t = Taxonomy.from_parents([-1, 0, 1, 1], [["top"], ["sports"], ["diving"], ["surfing"]])
>>> users = user_concepts(np.array([0, 0, 0, 1]), np.array([2, 2, 3, 3]), 2, t)
>>> users.node[: users.start[1]].tolist(), users.times[: users.start[1]].tolist()
([2, 3], [2, 1])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.distances._distance_kernels import MOST_CONCEPTS, SCALE, user_trees
from querycloak.errors import InputError

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["UserConcepts", "distance_table", "part_of", "user_concepts", "user_words"]

Ints = npt.NDArray[np.integer[Any]]


class UserConcepts(NamedTuple):
    """n users with their counted concepts, over the part of a taxonomy that they use.

    Nodes are numbered again, in the depth-first order of the taxonomy, root at 0: only concepts that some user has, and
    their ancestors, take part. start, node, times are `CountedRows`; tree_start and the three arrays after it are the
    smallest subtree that holds the user's concepts and the root, with what walks need at each node of it.
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
    """int32[t], entries of the user's own subtree at the node: how far to step if the node is of no interest"""
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


def user_concepts(user: Ints, concept: Ints, n: int, taxonomy: Taxonomy, others: int = 0) -> UserConcepts:
    """Count the concepts of n users; `concept` has no -1.

    The `others` after the last concept of the taxonomy, len(taxonomy) .. len(taxonomy) + others - 1, stand for what
    the taxonomy does not know: each is a child of the root, at distance 1 of everything else.
    """
    rows = CountedRows.of(user, concept, n)
    parent = np.concatenate([taxonomy.parent, np.zeros(others, dtype=np.int32)])
    depth = np.concatenate([taxonomy.depth, np.ones(others, dtype=np.int32)])
    return _assemble(rows, parent, depth, np.arange(len(parent), dtype=np.int32))


def user_words(user: Ints, word: Ints, n: int) -> UserConcepts:
    """Count words that are only equal or different (δ is 0 or 1): a taxonomy of one level.

    `original` is the word of a node; -1 for the root.
    """
    words, code = np.unique(word, return_inverse=True)
    parent = np.zeros(len(words) + 1, dtype=np.int32)
    parent[0] = -1
    depth = np.ones(len(words) + 1, dtype=np.int32)
    depth[0] = 0
    original = np.concatenate([[-1], words]).astype(np.int32)
    return _assemble(CountedRows.of(user, code + 1, n), parent, depth, original)


def part_of(everyone: UserConcepts, users: npt.NDArray[np.int64]) -> UserConcepts:
    """Return the concepts of some users only, over the nodes that these use."""
    rows = CountedRows(everyone.start, everyone.node, everyone.times).take(users)
    return _assemble(rows, everyone.parent, everyone.depth, everyone.original)


def _assemble(
    rows: CountedRows,
    parent: npt.NDArray[np.int32],
    depth: npt.NDArray[np.int32],
    original: npt.NDArray[np.int32],
) -> UserConcepts:
    """Lay out counted nodes; those that nobody uses are left out."""
    node = rows.values
    weight = rows.uncounted.sums(rows.counts)
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
    nodes = number[node].astype(np.int32)
    trees = user_trees(rows.start, nodes, new_parent, new_depth)
    delta = distance_table(int(new_depth.max(initial=0)))
    return UserConcepts(rows.start, nodes, rows.counts, weight, *trees, new_parent, new_depth, delta, original[kept])
