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

The number of rows is r for every user, whatever the user asked: nothing in the shape of the release depends on a log.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._rebuild import label_words
from querycloak.methods.dp._spending import charge
from querycloak.releases.budget import REPLACE, Budget

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
    from querycloak.methods.dp.semantic_dp import SemanticDp
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness

__all__ = ["DrawnRows", "draw_rows", "numbers_below"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


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
    each = math.nextafter(settings.epsilon / r, 0.0)
    budget = Budget(float(settings.epsilon), relation=REPLACE)
    budget.take_draws("rows of a user", np.full(1, r), np.full(1, each))
    takes_part = charge(log, settings, budget, progress, method="semantic-dp")
    people = np.unique(log.user).astype(np.int32)  # int32[people]

    inside = mechanism.covers(concepts.concept) & takes_part[concepts.user]
    unit = _units_of(people, concepts.user[inside], concepts.concept[inside])
    owner = np.repeat(np.arange(len(people)), r)  # int64[rows]
    has = unit.number[owner] > 0
    progress.start("drawing concepts", total=len(owner))
    chosen = unit.first[owner[has]] + numbers_below(unit.number[owner[has]], random.child("units"))
    drawn = np.empty(len(owner), dtype=np.int32)
    drawn[has] = mechanism.draw(unit.concept[chosen], np.full(len(chosen), each), random.child("draws"))
    drawn[~has] = mechanism.draw_blindly(int((~has).sum()), random.child("draws without a unit"))
    progress.advance(len(owner))
    progress.note(
        f"{len(log):,} rows in; {int((unit.number == 0).sum()):,} of {len(people):,} users have no concept in the "
        "domain, or nothing left to pay with, and draw blindly (not in the statement: these counts are exact)"
    )
    order = random.child("order").permutation(len(owner))
    query, words = label_words(taxonomy, drawn[order])
    return DrawnRows(people[owner[order]], query, words, budget)


class _Units(NamedTuple):
    """The units of each user, one user after the other."""

    concept: Int32s
    """int32[units]"""
    first: Int64s
    """int64[people], index of the user's first unit"""
    number: Int64s
    """int64[people]"""


def _units_of(people: Int32s, user: Int32s, concept: Int32s) -> _Units:
    """Sort units by user; `user` int32[units] are all among `people`, ascending."""
    order = np.argsort(user, kind="stable")
    count = np.bincount(np.searchsorted(people, user), minlength=len(people)).astype(np.int64)
    first = np.asarray(np.cumsum(count) - count, dtype=np.int64)
    return _Units(concept[order], first, count)


def numbers_below(bound: Int64s, random: Randomness) -> Int64s:
    """int64[m]: for each bound >= 1 a number from 0 to bound - 1, all equally likely.

    2^64 is rarely a multiple of a bound: words from its last full multiple on are drawn again, or small numbers would
    be more likely.
    """
    divisor = bound.astype(np.uint64)
    rest = (~divisor + np.uint64(1)) % divisor  # 2^64 modulo the bound
    most = ~rest  # the last word of the last full multiple
    out = random.words(len(bound))
    bad = np.flatnonzero(out > most)
    while bad.size:
        out[bad] = random.words(bad.size)
        bad = bad[out[bad] > most[bad]]
    return (out % divisor).astype(np.int64)
