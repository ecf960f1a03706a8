"""Exactly r rows for every user: ε-differential privacy of a user's whole log.

Each row: one of the user's units, drawn uniformly, is replaced by the exponential mechanism with ε_q <= ε/r over one
domain. A user without a unit in the domain draws uniformly from the domain. All draws are independent.

**Why it is ε-differentially private.** Neighbours: one user's whole log replaced by any other, of any length; the
number of users is public.

1. One row. P(o|c) is the probability of o for the unit c, P(o|none) = 1/n. By the calibration,
   P(o|c) <= exp(ε_q) · P(o|c') for all o and all inputs c, c', `none` among them. A user with units c_1 … c_m has the
   row's distribution Q(o) = (P(o|c_1) + … + P(o|c_m)) / m, or P(o|none) for m = 0. A mean is at most its largest part
   and at least its smallest one, so for another log of the user, with Q',

       Q(o) / Q'(o) <= max_i P(o|c_i) / min_j P(o|c'_j) <= exp(ε_q).

   Neither m nor m' is in the bound: the length of a log, and how often a query was asked, are covered.
2. All rows. The r rows of a user are independent draws of Q, so their ratio is at most exp(r · ε_q) <= exp(ε). The
   rows of other users do not depend on this user. Order, ids and texts are made of the drawn concepts and of
   randomness alone.

Each user's words are a function of a secret, drawn for this release alone, and of the user's name (`KeyedRandomness`),
as on a cluster: without the secret nobody can tell them from words of the operating system.

The number of rows is r for every user, whatever the user asked: nothing in the shape of the release depends on a log.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.keyed_streams import Streams
from querycloak.arrays.ragged import row_starts
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._rebuild import label_words
from querycloak.methods.dp._spending import charge
from querycloak.releases.budget import REPLACE, Budget

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
    from querycloak.methods.dp.semantic_dp import SemanticDp
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness

__all__ = ["DrawnRows", "Units", "draw_for", "draw_rows", "numbers_below", "take_rows"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_AT_A_TIME = 1 << 16
"""Rows whose words are in memory."""


class DrawnRows(NamedTuple):
    """The rows of a release before they get new ids."""

    user: Int32s
    """int32[rows], original codes"""
    query: Int32s
    """int32[rows], into `words`"""
    words: pl.Series
    budget: Budget
    """what was spent"""


def draw_rows(
    log: QueryLog,
    settings: SemanticDp,
    mechanism: Mechanism,
    random: Randomness,
    progress: Progress,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> DrawnRows:
    """Draw r rows for every user that has a row in the log.

    Who cannot pay, where there is a ledger, draws blindly. To leave such users out would publish how many there are,
    and so tell who was in the releases that they paid for.
    """
    r = settings.rows_per_user
    budget, each = take_rows(settings)
    takes_part = charge(log, settings, budget, progress, method="semantic-dp")
    people = np.unique(log.user).astype(np.int32)  # int32[people]

    inside = mechanism.covers(concepts.concept) & takes_part[concepts.user]
    units = Units.of(people, concepts.user[inside], concepts.concept[inside])
    progress.start("drawing concepts", total=len(people) * r)
    keyed, names = KeyedRandomness(random.child("draws")), log.users.gather(people).to_list()
    drawn = np.empty((len(people), r), dtype=np.int32)
    step = max(1, _AT_A_TIME // r)
    for at in range(0, len(people), step):
        streams = Streams.of(names[at : at + step], keyed)
        drawn[at : at + step] = draw_for(units.of_users(at, at + step), mechanism, r, each, streams)
        progress.advance(len(streams.key) * r)
    progress.note(
        f"{len(log):,} rows in; {int((units.number == 0).sum()):,} of {len(people):,} users have no concept in the "
        "domain, or nothing left to pay with, and draw blindly (not in the statement: these counts are exact)"
    )
    order = random.child("order").permutation(drawn.size)
    query, words = label_words(taxonomy, drawn.reshape(-1)[order])
    return DrawnRows(np.repeat(people, r)[order], query, words, budget)


def take_rows(settings: SemanticDp) -> tuple[Budget, float]:
    """Take what the rows of a user cost; return the budget, and the ε of each."""
    r = settings.rows_per_user
    each = math.nextafter(settings.epsilon / r, 0.0)
    budget = Budget(float(settings.epsilon), relation=REPLACE)
    budget.take_draws("rows of a user", np.full(1, r), np.full(1, each))
    return budget, each


class Units(NamedTuple):
    """How many units of each concept each user has, one user after the other, concepts in order.

    In this order a number below the number of units says which unit is meant, whatever the order of the log is.
    """

    concept: Int32s
    """int32[pairs]"""
    end: Int64s
    """int64[pairs]: how many units the user has of this concept and those before it"""
    start: Int64s
    """int64[people + 1], the pairs of a user"""

    @classmethod
    def of(cls, people: Int32s, user: Int32s, concept: Int32s) -> Units:
        """Count the units of users; `user` int32[units] are all among `people`, ascending."""
        width = np.int64(concept.max(initial=0)) + 1
        key, count = np.unique(np.searchsorted(people, user) * width + concept, return_counts=True)
        owner = key // width
        return cls.counted((key % width).astype(np.int32), count, row_starts(np.bincount(owner, minlength=len(people))))

    @classmethod
    def counted(cls, concept: Int32s, count: Int64s, start: Int64s) -> Units:
        """Take counts, int64[pairs]."""
        total = np.append(0, np.cumsum(count))
        return cls(concept, total[1:] - np.repeat(total[start[:-1]], np.diff(start)), start)

    @property
    def number(self) -> Int64s:
        """int64[people]: how many units each user has."""
        return np.where(np.diff(self.start) > 0, np.append(self.end, 0)[self.start[1:] - 1], 0)

    def of_users(self, begin: int, end: int) -> Units:
        """Return some of the users."""
        start = self.start[begin : end + 1]
        return Units(self.concept[start[0] : start[-1]], self.end[start[0] : start[-1]], start - start[0])

    def find(self, user: Int64s, index: Int64s) -> Int32s:
        """int32[m]: the concept of a unit of a user, by its number."""
        before = np.append(0, np.cumsum(self.number))  # units of the users before
        ends = self.end + np.repeat(before[:-1], np.diff(self.start))
        return self.concept[np.searchsorted(ends, before[user] + index, side="right")]


def draw_for(units: Units, mechanism: Mechanism, r: int, epsilon: float, streams: Streams) -> Int32s:
    """int32[people, r]: the drawn concepts of users, each user's from the streams of the user alone.

    Which unit a row is drawn for comes from words of their own; row j is then drawn from stream j of the user.
    """
    people = len(streams.key)
    owner = np.repeat(np.arange(people), r)  # int64[rows]
    has = units.number[owner] > 0
    blind = int(mechanism.calibration.size[0])

    def turn(t: int) -> npt.NDArray[np.uint64]:
        return streams.words(r, purpose=1 + t).reshape(-1)

    number = numbers_below(np.where(has, units.number[owner], blind), turn)
    drawn = (mechanism.domains[0] + number).astype(np.int32)  # uniform over the one domain, for who has no unit
    rows = streams.numbered(r)
    chosen = np.flatnonzero(has)
    drawn[chosen] = mechanism.draw_each(units.find(owner[chosen], number[chosen]), epsilon, rows.take(chosen))
    return drawn.reshape(people, r)


def numbers_below(bound: Int64s, turn: Callable[[int], npt.NDArray[np.uint64]]) -> Int64s:
    """int64[m]: for each bound >= 1 a number from 0 to bound - 1, all equally likely.

    turn(t): uint64[m], words of a turn. 2^64 is rarely a multiple of a bound: words from its last full multiple on are
    drawn again, in the next turn, or small numbers would be more likely.
    """
    divisor = bound.astype(np.uint64)
    rest = (~divisor + np.uint64(1)) % divisor  # 2^64 modulo the bound
    most = ~rest  # the last word of the last full multiple
    out, t = turn(0).copy(), 0
    bad = np.flatnonzero(out > most)
    while bad.size:
        t += 1
        out[bad] = turn(t)[bad]
        bad = bad[out[bad] > most[bad]]
    return (out % divisor).astype(np.int64)
