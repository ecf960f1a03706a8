"""What each user contributes to a choice of items or to their counts: a bounded number, with bounded weights.

Everything here is about one user at a time: which items a user keeps, and with which weights, follows from this user's
own items, from public knowledge (the cost of an item, what was published before) and from random numbers that no other
user's data touches. So one user more adds one vector to the sums and changes no other user's:

- **Which items.** The cheapest d items of a user; of equally cheap ones, random ones, by a random number for each pair
  of a user and an item. So the orders within the sets of two users are independent, and each is uniform however items
  are numbered. Where two numbers of a user are equal all are drawn again: a tie that the code of an item breaks would
  let other users' items decide.
- **Weights** are whole numbers, in units of which `unit` is a weight of 1. An item of cost c weighs 1/c², so that a
  user's weight goes where it is likely to matter, and all are then scaled: with parts pᵢ = floor(2^20 / cᵢ²) and
  R = the least whole number with R² >= Σ pᵢ², wᵢ = floor(unit · pᵢ / R), so Σ wᵢ² <= unit² · Σ pᵢ² / R² <= unit². With
  equal costs this is unit/√t, rounded down.
- **People.** A user counts for `unit` in each item; one with t > d items for floor(unit · √(d/t)) in each. So the
  squares are at most d · unit² in sum: l2-sensitivity unit · √d, and no item of a user is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._contribution_kernels import keep_smallest

if TYPE_CHECKING:
    from querycloak.randomness import Randomness

__all__ = ["MOST_COST", "PART", "Contributions", "add_up", "count_people", "keep_cheapest", "weigh"]

Int64s = npt.NDArray[np.int64]

MOST_COST: Final = 32
"""Costs are 1 to this; what costs more counts as this."""
PART: Final = 1 << 20
_RANDOM_BITS: Final = 59


class Contributions(NamedTuple):
    """Which items each user has: distinct (user, item) pairs, ordered by user."""

    user: Int64s
    """int64[m], ascending"""
    item: Int64s
    """int64[m], codes from 0"""
    items: int
    """how many codes there are"""

    @classmethod
    def of(cls, user: npt.NDArray[np.integer[Any]], item: npt.NDArray[np.integer[Any]], items: int) -> Contributions:
        """Keep each pair of a user and an item once; item -1 = none."""
        there = item >= 0
        key = user[there].astype(np.int64) * np.int64(max(items, 1)) + item[there]
        key.sort()
        new = np.ones(len(key), dtype=np.bool_)
        new[1:] = key[1:] != key[:-1]
        owner, code = np.divmod(key[new], np.int64(max(items, 1)))
        return cls(owner, code, items)

    def take(self, which: npt.NDArray[Any]) -> Contributions:
        """Keep some pairs, in their order."""
        return Contributions(self.user[which], self.item[which], self.items)

    @property
    def first(self) -> Int64s:
        """int64[m]: the index of the first pair of the same user."""
        new = np.ones(len(self.user), dtype=np.bool_)
        new[1:] = self.user[1:] != self.user[:-1]
        start = np.flatnonzero(new)
        return np.repeat(start, np.diff(start, append=len(self.user)))


def keep_cheapest(some: Contributions, cost: Int64s, d: int, random: Randomness) -> Contributions:
    """Keep the d cheapest items of each user; cost: int64[items], from 1. Equally cheap ones are drawn at random."""
    start = np.append(np.flatnonzero(some.first == np.arange(len(some.user))), len(some.user))
    price = (np.clip(cost[some.item], 1, MOST_COST) - 1).astype(np.uint64) << np.uint64(_RANDOM_BITS)
    kept = np.zeros(len(some.user), dtype=np.bool_)
    while not keep_smallest(start, price | (random.words(len(price)) >> np.uint64(64 - _RANDOM_BITS)), d, kept):
        kept[:] = False
    return some.take(kept)


def weigh(some: Contributions, cost: Int64s, unit: int) -> Int64s:
    """int64[m]: the weight of each pair; the squares of a user's weights are at most unit² in sum."""
    part = PART // np.clip(cost[some.item], 1, MOST_COST) ** 2
    squares = _per_user(some, part * part)
    root = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    for _ in range(2):  # a rounded root may be one too low
        root += root * root < squares
    weight: Int64s = part * unit // np.maximum(root, 1)
    return weight


def count_people(some: Contributions, d: int, unit: int) -> Int64s:
    """int64[items]: how many people have each item, in units; a user with more than d items counts for each in part."""
    t = _per_user(some, np.ones(len(some.user), dtype=np.int64))
    part = np.full(len(t), unit, dtype=np.int64)
    many = np.flatnonzero(t > d)
    square = d * unit * unit // t[many]
    root = np.sqrt(square.astype(np.float64)).astype(np.int64)
    root -= root * root > square
    part[many] = root
    return add_up(some, part)


def add_up(some: Contributions, weight: Int64s) -> Int64s:
    """int64[items]: the sum of the weights of each item, exact: all sums are far below 2^53."""
    return np.bincount(some.item, weights=weight, minlength=some.items).astype(np.int64)


def _per_user(some: Contributions, value: Int64s) -> Int64s:
    """int64[m]: the sum of the values of the pair's user."""
    if not len(value):
        return value
    start = np.flatnonzero(some.first == np.arange(len(value)))
    return np.repeat(np.add.reduceat(value, start), np.diff(start, append=len(value)))
