"""Uniqueness: published queries that one user alone asked, and users whom a pair of queries singles out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.attacks._uniqueness_kernels import with_unique_pair, with_unique_pair_by_bits
from querycloak.attacks.interval import NOTHING, result_of
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["uniqueness"]

_BITS_AT_MOST: Final = 256 * 1024 * 1024
"""Bytes that the table of bits may take; beyond that, marks are used."""


def uniqueness(
    log: QueryLog,  # noqa: ARG001 - all attacks are called alike
    release: Release,
    random: Randomness,  # noqa: ARG001
    progress: Progress = QUIET,
) -> list[AttackResult]:
    """Count, from the release alone, what singles a published user out. No original log is needed.

    `unique queries`: share of the distinct published queries that only one id has. `unique pairs`: share of the
    published users with two queries that no other published user has both of.
    """
    progress.start("attack: uniqueness")
    published = release.log
    n_queries, n_users = len(published.queries), len(published.users)
    held = CountedRows.of(published.user, published.query, n_users).uncounted
    users_of = held.inverted(n_queries)
    spread = users_of.lengths
    rarest_first = np.lexsort((held.values, spread[held.values], held.owner))
    queries_of = Ragged(held.start, held.values[rarest_first])
    dense = n_queries * (n_users / 8) <= _BITS_AT_MOST
    find = with_unique_pair_by_bits if dense else with_unique_pair
    found = find(queries_of, users_of)
    return [
        result_of(
            "uniqueness, queries",
            (spread == 1).astype(np.float64),
            release,
            question="singling out",
            risk="count",
            knows="nothing",
            unit="query",
            baseline=NOTHING,
        ),
        result_of(
            "uniqueness, pairs",
            found.astype(np.float64),
            release,
            question="singling out",
            risk="count",
            knows="nothing",
            unit="published id",
            baseline=NOTHING,
        ),
    ]
