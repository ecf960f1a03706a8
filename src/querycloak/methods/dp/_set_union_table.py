"""A table of chosen items with noisy counts: what each part takes of the budget, and what it does with it.

For each kind of items: its rounds of choosing (`_set_union.py`), then one count of people. A user counts in each chosen
item; the squares of what one user adds are at most `counted` in sum (`_contribution.py`), so Gaussian noise for an
l2-sensitivity of √counted makes the counts rho-zero-concentrated private. All parts are entries of one budget.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.methods.dp._contribution import count_people
from querycloak.methods.dp._noise import add_gaussian, gaussian_scale
from querycloak.methods.dp._set_union import Round, Rule, fine_unit, set_union

if TYPE_CHECKING:
    import polars as pl

    from querycloak.methods.dp._set_union_items import Items
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Budget, Share

__all__ = ["PERSON", "PLURALS", "RESERVED", "Chosen", "Plan", "Shares", "choose_items", "count_chosen", "take_shares"]

Int64s = npt.NDArray[np.int64]

RESERVED: Final = 0.5
"""Share of δ that thresholds have; the rest is for the noise."""
GROWTH: Final = 15.0
"""rho of a round against that of the round before it."""
DELTA_GROWTH: Final = 9.0
"""δ of a round against that of the round before it."""
PLURALS: Final = {"query": "queries", "phrase": "phrases", "click": "clicks"}
PERSON: Final = 1 << 10
"""One person in whole numbers, since users with many items count in part."""
_SLACK: Final = 1 - 2.0**-40
"""Shares that add up to 1 on paper may not do so in binary."""


class Plan(NamedTuple):
    """What one kind of items has of the budget, and the bounds on what a user contributes."""

    share: float
    """of all of rho, and of the δ of thresholds"""
    count_share: float
    """of `share`, for counts"""
    rounds: int
    per_user: int
    """most items of a user that are weighed in a round"""
    counted: int
    """a user with more chosen items counts for each in part"""


class Chosen(NamedTuple):
    """The chosen items of one kind."""

    kind: str
    code: Int64s
    """int64[chosen]"""
    text: pl.Series
    url: Int64s | None
    """int64[chosen], codes of URLs; None = the kind has none"""
    rules: list[Rule]


class Shares(NamedTuple):
    """What one kind of items takes of the budget."""

    rounds: list[Round]
    counts: Share | None
    """None = no counts are published"""


def take_shares(kind: str, plan: Plan, budget: Budget) -> Shares:
    """Take what the plan says of the budget, before anything is drawn."""
    name = PLURALS[kind]
    noise, delta = (_growing(plan.rounds, growth) for growth in (GROWTH, DELTA_GROWTH))
    to_choose = plan.share * (1 - plan.count_share)
    rounds = []
    for i in range(plan.rounds):
        which = f", round {i + 1}" if plan.rounds > 1 else ""
        rho = budget.take_rho(f"choosing {name}{which}", fraction=to_choose * noise[i])
        _check_width(rho.rho)
        mine = budget.reserved_delta * plan.share * delta[i]
        rounds.append(Round(rho, budget.take_delta(f"threshold of {name}{which}", delta=mine)))
    counts = None
    if plan.count_share:
        counts = budget.take_rho(f"counts of {name}", fraction=plan.share * plan.count_share * _SLACK)
        _check_width(counts.rho / plan.counted)
    return Shares(rounds, counts)


def _check_width(rho: float) -> None:
    """Refuse noise that would overflow, before a ledger is charged; `rho` is that of a sensitivity of 1."""
    try:
        gaussian_scale(1.0, rho * (1 - 2.0**-40))
    except ParameterError:
        raise ParameterError("This epsilon and delta are so small that the noise overflows: ask for more.") from None


def choose_items(items: Items, plan: Plan, shares: Shares, random: Randomness) -> Chosen:
    """Choose items in as many rounds as have a share."""
    code, rules = set_union(items.users, items.cost, plan.per_user, shares.rounds, random.child(items.kind))
    return Chosen(items.kind, code, items.text(code), None if items.url is None else items.url(code), rules)


def count_chosen(items: Items, chosen: Chosen, plan: Plan, shares: Shares, random: Randomness) -> Int64s:
    """int64[chosen]: how many people have each chosen item, with noise, rounded; at least 1, since it was chosen."""
    if shares.counts is None:
        raise ValueError("counts have no share of the budget")
    is_chosen = np.zeros(items.users.items, dtype=np.bool_)
    is_chosen[chosen.code] = True
    rho = shares.counts.use()
    person = fine_unit(PERSON, rho / plan.counted)
    people = count_people(items.users.take(is_chosen[items.users.item]), plan.counted, person)
    noisy = add_gaussian(
        people[chosen.code],
        sensitivity=person * math.sqrt(plan.counted) * (1 + 2.0**-50),
        rho=rho,
        random=random.child(items.kind).child("counts"),
    )
    return np.maximum((noisy + person // 2) // person, 1)


def _growing(rounds: int, growth: float) -> list[float]:
    """Return the shares of rounds, each `growth` times the one before; at most 1 in sum."""
    parts = [growth**i for i in range(rounds)]
    return [part / sum(parts) * _SLACK for part in parts]
