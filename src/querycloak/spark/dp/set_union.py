"""User-level set union on a cluster: the rounds, noise and thresholds of `methods/dp/_set_union.py`, on Spark.

What is chosen, and what is taken of the budget, is that of one machine, and so is the proof. The sums of items stay on
the executors; of each item that is looked at, its noise is a function of (secret of the round, item), so that a task
that runs twice publishes the same. Only what was chosen is kept of a round.

What earlier rounds found is taken out by a join: it grows with the log. A round is a job, since the next one needs to
know how much was found: Spark then sends a short list to all executors, and shuffles a long one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._set_union import FLOOR, MOST_ITEMS, UNIT, Rule, fine_unit
from querycloak.methods.dp._set_union_table import PERSON
from querycloak.methods.dp._set_union_threshold import threshold
from querycloak.spark.dp.contribution import add_up, count_people, keep_cheapest, weigh
from querycloak.spark.dp.noise import gaussian_for, reaches, with_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from querycloak.methods.dp._set_union import Round
    from querycloak.methods.dp._set_union_table import Plan, Shares
    from querycloak.randomness import Randomness

__all__ = ["Chosen", "choose_items", "count_chosen", "set_union"]


class Chosen(NamedTuple):
    """The chosen items of one kind."""

    items: DataFrame
    """`item`, kept by Spark"""
    rules: list[Rule]


def set_union(some: DataFrame, d: int, rounds: Sequence[Round], random: Randomness) -> Chosen:
    """Choose items of a table of contributions: `user`, `item`, `cost`, best kept by Spark and spread by user."""
    found: DataFrame | None = None
    rules: list[Rule] = []
    most = min(d, MOST_ITEMS)
    for i, share in enumerate(rounds):
        rho = share.noise.use()
        unit = fine_unit(UNIT, rho)
        left = some if found is None else some.join(found, "item", "left_anti")
        kept = keep_cheapest(left, most, KeyedRandomness(random.child(f"kept {i}")))
        scale = gaussian_for(unit, rho)
        floor = max(1, int(scale * FLOOR))
        least = threshold(most, scale, share.threshold.use(), unit=unit, floor=floor)
        looked_at = add_up(weigh(kept, unit)).where(F.col("sum") >= floor)
        keyed = KeyedRandomness(random.child(f"choice {i}"))
        new = looked_at.where(reaches(F.col("item"), F.col("sum"), keyed, scale, least)).select("item")
        found = (new if found is None else found.unionByName(new)).persist(StorageLevel.MEMORY_AND_DISK)
        found.count()
        rules.append(Rule(scale / unit, least / unit))
    if found is None:
        raise ValueError("a set union has at least one round")
    return Chosen(found, rules)


def choose_items(kind: str, some: DataFrame, plan: Plan, shares: Shares, random: Randomness) -> Chosen:
    """Choose items in as many rounds as have a share."""
    return set_union(some, plan.per_user, shares.rounds, random.child(kind))


def count_chosen(
    kind: str, some: DataFrame, chosen: DataFrame, plan: Plan, shares: Shares, random: Randomness
) -> DataFrame:
    """Return `item` and `count`: how many people have each chosen item, with noise, rounded; at least 1.

    An item that was chosen and is in nobody's hands counts 0 people before the noise.
    """
    if shares.counts is None:
        raise ValueError("counts have no share of the budget")
    rho = shares.counts.use()
    person = fine_unit(PERSON, rho / plan.counted)
    people = count_people(some.join(chosen, "item", "left_semi"), plan.counted, person)
    scale = gaussian_for(person * math.sqrt(plan.counted) * (1 + 2.0**-50), rho)
    keyed = KeyedRandomness(random.child(kind).child("counts"))
    all_of_them = chosen.join(people, "item", "left").select("item", F.coalesce("sum", F.lit(0)).alias("sum"))
    return all_of_them.select("item", with_noise(F.col("item"), F.col("sum"), keyed, scale, unit=person).alias("count"))
