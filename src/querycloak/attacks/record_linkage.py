"""Record linkage: link each published user to the original users with most queries in common, knowing the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.attacks._linkage_kernels import link
from querycloak.attacks.interval import About, guessing, mean_guess, result_of
from querycloak.logs.query_log import NO_CODE
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    import polars as pl

    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["record_linkage"]


def record_linkage(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all attacks are called alike
    progress: Progress = QUIET,
) -> list[AttackResult]:
    """Link every published user to original users by the number of queries in common (Batet et al. 2013, eq. 10).

    G is the set of original users at the maximum, all of them where nothing is in common; the chance of a right link is
    1 / |G| if the right user is in G, else 0. Queries are compared as texts, with multiplicity; further clicks of a
    query event are not counted.

    Two rates. Over the published users: how many of those who are there are found. Over all m users of the log (`all
    users`): RL as eq. 10 has it, where a user all of whose queries were removed cannot be linked and counts as 0; a
    method that empties many users looks better by it. A person with several published ids has the mean of their
    chances.

    In a release where groups of at least k users share their bag, all members of a group have the same G, so their
    chances add up to at most 1: the rate cannot pass 1 / k.
    """
    assert release.truth is not None
    progress.start("attack: record linkage")
    events = np.flatnonzero(log.event)
    code = _codes_in(release.log.queries, log.queries)
    published = CountedRows.of(release.log.user, release.log.query, len(release.log.users))
    common = published.keep(code[published.values] >= 0)
    common = common._replace(values=code[common.values])
    askers = CountedRows.of(log.user[events], log.query[events], len(log.users)).inverted(len(log.queries))
    most, linked, right = link(common, askers, release.truth.user, len(log.users))
    chance = np.where(right, 1.0 / np.maximum(linked, 1), 0.0)
    details = {
        "mean queries in common with the linked": float(most.mean()) if len(most) else 0.0,
        "mean users linked": float(linked.mean()) if len(linked) else 0.0,
    }
    found = _mean_of_person(chance, release.truth.user, len(log.users))
    removed = len(np.unique(log.user)) - len(found)
    about: About = {
        "question": "linkability",
        "risk": "link",
        "knows": "the whole log in clear",
        "unit": "published id",
        "baseline": guessing(len(log.users)),
        "bounded": True,
        "details": details,
    }
    blind = np.repeat([about["baseline"].rate, 0.0], [len(found), removed])  # who is not published is not found blindly
    everybody: About = {
        **about,
        "unit": "person",
        "baseline": mean_guess(blind),
        "details": {"people not published": float(removed)},
    }
    return [
        result_of("record-linkage", chance, release, **about),
        result_of("record-linkage, all users", np.append(found, np.zeros(removed)), release, **everybody),
    ]


def _mean_of_person(
    chance: npt.NDArray[np.float64], person: npt.NDArray[np.int32], users: int
) -> npt.NDArray[np.float64]:
    """Return the mean chance over the published ids of each person who has any: float64[people published]."""
    named = person != NO_CODE  # an id may stand for nobody
    ids = np.bincount(person[named], minlength=users)
    total = np.bincount(person[named], weights=chance[named], minlength=users)
    mean: npt.NDArray[np.float64] = total[ids > 0] / ids[ids > 0]
    return mean


def _codes_in(words: pl.Series, vocabulary: pl.Series) -> npt.NDArray[np.int32]:
    """Find texts in another vocabulary: int32[len(words)], -1 where it is not there."""
    import polars as pl

    there = pl.DataFrame({"text": vocabulary}).with_row_index("code").unique("text", keep="first")
    found = pl.DataFrame({"text": words}).join(there, on="text", how="left", maintain_order="left")
    return found["code"].cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int32)
