"""Users into groups by the categories they share (Erola and Castellà-Roca, eq. 1 and Algorithm 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.methods.microaggregation._category_kernels import add_shared, best_partners
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["UserCategories", "UserOwn", "group_by_categories", "user_categories"]

Ints = npt.NDArray[np.integer[Any]]
Int32s = npt.NDArray[np.int32]


class UserCategories:
    """The distinct categories of n users at all levels, and the users of each category."""

    def __init__(self, user: Ints, category: Ints, n: int, width: int) -> None:
        """Take (user, category) pairs, with or without repetitions; categories are 0 .. width - 1."""
        self.n = n
        self.by_user = CountedRows.of(user, category, n).uncounted
        self.by_category = self.by_user.inverted(width)

    def of(self, user: int) -> Int32s:
        """Return the categories of a user."""
        return self.by_user.row(user)

    def shared_with(self, categories: Int32s) -> Int32s:
        """Count the categories in common with each user: int32[n]."""
        shared = np.zeros(self.n, dtype=np.int32)
        add_shared(categories, self.by_category, shared)
        return shared


class UserOwn(NamedTuple):
    """What has no category in the taxonomy, and is a category of its own."""

    user: Ints
    """int[m]"""
    code: Ints
    """int[m], from len(taxonomy) on"""
    distinct: int


def user_categories(
    user: Ints, category: Ints, n: int, taxonomy: Taxonomy, levels: int, own: UserOwn | None = None
) -> UserCategories:
    """Cut each category to the levels 1 .. `levels` and gather them by user. A level is a depth: the root has none."""
    users, nodes = [], []
    node = category.astype(np.int64)
    while len(node):
        depth = taxonomy.depth[node]
        keep = (depth >= 1) & (depth <= levels)
        users.append(user[keep])
        nodes.append(node[keep])
        user, node = user[depth > 1], taxonomy.parent[node[depth > 1]].astype(np.int64)
    empty = np.zeros(0, dtype=np.int64)
    if own is None:
        own = UserOwn(empty, empty, 0)
    return UserCategories(
        np.concatenate([own.user, *users]), np.concatenate([own.code, *nodes]), n, len(taxonomy) + own.distinct
    )


def group_by_categories(categories: UserCategories, k: int, progress: Progress = QUIET) -> Int32s:
    """Group users, most alike first: int32[n], sizes k to 2k - 1. Needs n >= k.

    Algorithm 2: while more than 2k - 1 users are left, the pair with most categories in common (ODPsim, eq. 1) is
    joined, and the user with most in common with the joined record is added, until k; the rest is the last group. The
    best partner of each user is kept. Users only leave, so a kept number can only be too high: it is counted again when
    its user comes first and the partner is gone, not before. Ties: the lowest user.
    """
    progress.start("grouping users", categories.n)
    group = np.full(categories.n, -1, dtype=np.int32)
    most, partner = best_partners(categories.by_user, categories.by_category)
    left, groups = categories.n, 0
    while left > 2 * k - 1:
        first = int(np.argmax(most))
        if group[partner[first]] >= 0:
            shared = categories.shared_with(categories.of(first))
            shared[group >= 0] = -1
            shared[first] = -1
            partner[first] = np.argmax(shared)
            most[first] = shared[partner[first]]
            continue
        members = _grow(categories, [first, int(partner[first])], k, group >= 0)
        group[members] = groups
        most[members] = -2
        groups += 1
        left -= k
        progress.advance(k)
    group[group < 0] = groups
    progress.advance(left)
    return group


def _grow(categories: UserCategories, members: list[int], k: int, gone: npt.NDArray[np.bool_]) -> list[int]:
    """Add the user with most in common with the joined record, until there are k."""
    record = np.union1d(categories.of(members[0]), categories.of(members[1]))
    shared = categories.shared_with(record)
    while len(members) < k:
        shared[gone] = -1
        shared[members] = -1
        new = int(np.argmax(shared))
        members.append(new)
        fresh = np.setdiff1d(categories.of(new), record)
        record = np.union1d(record, fresh)
        shared = np.maximum(shared, 0)
        add_shared(fresh, categories.by_category, shared)
    return members
