"""Users into groups by the categories they share (Erola and Castellà-Roca, eq. 1 and Algorithm 2).

ODPsim (eq. 1) sums over the levels the categories that two users share. The paper calls the categories of a user a set
and writes one of them for each query; so there are two readings:

- `sets`: how many categories both have, however often;
- `bags`: how many queries of the one can be paired with queries of the other in the same category. With the 14 top
  categories of a directory, whoever asks enough has all of them, and sets cannot tell such users apart.

Algorithm 2 joins the records of a group by concatenation: counts add up in `bags`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.methods.microaggregation._category_kernels import add_shared, best_partners
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["EventUnits", "UserCategories", "UserOwn", "group_by_categories", "user_categories"]

Ints = npt.NDArray[np.integer[Any]]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class UserCategories:
    """The categories of n users at all levels, with counts, and the users of each category."""

    def __init__(self, user: Ints, category: Ints, n: int, width: int, similarity: str = "bags") -> None:
        """Take one (user, category) pair per query event; categories are 0 .. width - 1."""
        self.n = n
        self.width = width
        counted = CountedRows.of(user, category, n)
        self.by_user = counted if similarity == "bags" else counted._replace(counts=np.ones_like(counted.counts))
        self.by_category = self.by_user.inverted(width)

    def of(self, user: int) -> tuple[Int32s, Int64s]:
        """Return the categories of a user, and their counts."""
        row = slice(self.by_user.start[user], self.by_user.start[user + 1])
        return self.by_user.values[row], self.by_user.counts[row]

    def shared_with(self, user: int) -> Int64s:
        """Return ODPsim of a user and each user: int64[n]."""
        categories, counts = self.of(user)
        shared = np.zeros(self.n, dtype=np.int64)
        add_shared(categories, np.zeros_like(counts), counts, self.by_category, shared)
        return shared

    def join(self, user: int, record: Int64s, shared: Int64s) -> None:
        """Join a user to a record, int64[width], and add to shared[v] what v has more in common with it now."""
        categories, counts = self.of(user)
        before = record[categories]
        record[categories] += counts
        add_shared(categories, before, record[categories], self.by_category, shared)


class EventUnits(NamedTuple):
    """The categories of query events; an event may have several."""

    event: Ints
    """int[m], any number from 0 on that tells events apart"""
    user: Ints
    """int[m], the event's user, 0 .. n - 1"""
    category: Ints
    """int[m], a concept of the taxonomy"""


class UserOwn(NamedTuple):
    """Query events that have no category in the taxonomy, and are a category of their own."""

    user: Ints
    """int[m]"""
    code: Ints
    """int[m], from len(taxonomy) on"""
    distinct: int


def user_categories(
    units: EventUnits, n: int, taxonomy: Taxonomy, levels: int, similarity: str = "bags", own: UserOwn | None = None
) -> UserCategories:
    """Cut each category to the levels 1 .. `levels` and gather them by user. A level is a depth: the root has none.

    A category counts once for an event, also where several of the event's categories are below it.
    """
    found = []
    event, node = units.event.astype(np.int64), units.category.astype(np.int64)
    while len(node):
        depth = taxonomy.depth[node]
        keep = (depth >= 1) & (depth <= levels)
        found.append(event[keep] * len(taxonomy) + node[keep])
        event, node = event[depth > 1], taxonomy.parent[node[depth > 1]].astype(np.int64)
    empty = np.zeros(0, dtype=np.int64)
    event, node = np.divmod(np.unique(np.concatenate([empty, *found])), len(taxonomy))
    user_of = np.zeros(int(units.event.max(initial=-1)) + 1, dtype=np.int64)
    user_of[units.event] = units.user
    if own is None:
        own = UserOwn(empty, empty, 0)
    return UserCategories(
        np.concatenate([own.user, user_of[event]]),
        np.concatenate([own.code, node]),
        n,
        len(taxonomy) + own.distinct,
        similarity,
    )


def group_by_categories(categories: UserCategories, k: int, progress: Progress = QUIET) -> Int32s:
    """Group users, most alike first: int32[n], sizes k to 2k - 1. Needs n >= k.

    Algorithm 2: while more than 2k - 1 users are left, the pair with most in common (ODPsim, eq. 1) is joined, and the
    user with most in common with the joined record is added, until k; the rest is the last group. The best partner of
    each user is kept. Users only leave, so a kept number can only be too high: it is counted again when its user comes
    first and the partner is gone, not before. Ties: the lowest user.
    """
    progress.start("grouping users", categories.n)
    group = np.full(categories.n, -1, dtype=np.int32)
    record = np.zeros(categories.width, dtype=np.int64)  # of the group that grows; empty between two groups
    most, partner = best_partners(categories.by_user, categories.by_category)
    left, groups = categories.n, 0
    while left > 2 * k - 1:
        first = int(np.argmax(most))
        if group[partner[first]] >= 0:
            shared = categories.shared_with(first)
            shared[group >= 0] = -1
            shared[first] = -1
            partner[first] = np.argmax(shared)
            most[first] = shared[partner[first]]
            continue
        members = _grow(categories, [first, int(partner[first])], k, group >= 0, record)
        group[members] = groups
        most[members] = -2
        groups += 1
        left -= k
        progress.advance(k)
    group[group < 0] = groups
    progress.advance(left)
    return group


def _grow(
    categories: UserCategories, members: list[int], k: int, gone: npt.NDArray[np.bool_], record: Int64s
) -> list[int]:
    """Add the user with most in common with the joined record, until there are k."""
    shared = np.zeros(categories.n, dtype=np.int64)
    for member in members:
        categories.join(member, record, shared)
    while len(members) < k:
        taken = gone.copy()
        taken[members] = True
        members.append(int(np.argmax(np.where(taken, -1, shared))))
        categories.join(members[-1], record, shared)
    for member in members:
        record[categories.of(member)[0]] = 0
    return members
