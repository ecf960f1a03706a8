"""Uniqueness: published queries that one person alone asked, and people whom a pair of queries singles out.

`own_texts` and `people_with_unique_pair` count people of the original log: repeating a log under several ids does not
make what it holds less of one person's. Texts drawn from public knowledge under differential privacy single nobody out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.attacks._uniqueness_kernels import with_unique_pair, with_unique_pair_by_bits
from querycloak.attacks.interval import NOTHING, result_of
from querycloak.logs.query_log import NO_CODE
from querycloak.progress import QUIET, Progress
from querycloak.releases.published_logs import PublishedLogs

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.attacks.result import AttackResult, Unit
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["own_texts", "people_with_unique_pair", "uniqueness"]

_BITS_AT_MOST: Final = 256 * 1024 * 1024
"""Bytes that the table of bits may take; beyond that, marks are used."""


def uniqueness(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - all attacks are called alike
    progress: Progress = QUIET,
    *,
    askers: Askers,
) -> list[AttackResult]:
    """Count what singles a person of the original log out.

    `queries`: share of the distinct published texts that one person alone asked. `pairs`: share of the people with two
    texts published in one log that no other person asked both of.
    """
    progress.start("attack: uniqueness")
    counted: dict[str, tuple[Unit, npt.NDArray[np.bool_]]] = {
        "uniqueness, queries": ("query", own_texts(release, askers)),
        "uniqueness, pairs": ("person", people_with_unique_pair(log, release, askers)),
    }
    return [
        result_of(
            name,
            found.astype(np.float64),
            release,
            question="singling out",
            risk="count",
            knows="which queries the people of the log asked",
            unit=unit,
            baseline=NOTHING,
        )
        for name, (unit, found) in counted.items()
    ]


def own_texts(release: Release, askers: Askers) -> npt.NDArray[np.bool_]:
    """bool[distinct published texts]: exactly one person of the original log asked it."""
    texts = np.unique(release.log.query)
    own: npt.NDArray[np.bool_] = askers.own[texts[texts != NO_CODE]]
    return own


def people_with_unique_pair(log: QueryLog, release: Release, askers: Askers) -> npt.NDArray[np.bool_]:
    """bool[people of the original log]: singled out by two texts that are published in one log.

    The person asked both, and no other person of the original log did. People are in the order of their codes; codes
    that no row of the log has are left out.
    """
    found = np.zeros(len(log.users), dtype=np.bool_)
    logs = PublishedLogs.of(release).texts
    texts = np.unique(logs.values[~askers.public[logs.values]])
    people = askers.users(log, texts)
    slot = np.full(len(askers.people), -1, dtype=np.int64)  # of a text, the row in `people`
    slot[texts] = np.arange(len(texts))
    for c in range(logs.rows):
        rows = slot[logs.row(c)]
        asked = people.take(rows[rows >= 0])
        # only people who asked two of the texts can have a pair, and only they can share one
        users, user, count = np.unique(asked.values, return_inverse=True, return_counts=True)
        several = count[user] >= 2
        names, code = np.unique(user[several], return_inverse=True)
        if len(names):
            held = Ragged.of(code, asked.owner[several].astype(np.int32), len(names))
            found[users[names]] |= _with_unique_pair(held, asked.rows)
    return found[np.unique(log.user)]


def _with_unique_pair(held: Ragged, n_queries: int) -> npt.NDArray[np.bool_]:
    """bool[users]: has two queries that no other user has both of. `held`: the distinct queries of each, ascending."""
    users_of = held.inverted(n_queries)
    spread = users_of.lengths
    rarest_first = np.lexsort((held.values, spread[held.values], held.owner))
    queries_of = Ragged(held.start, held.values[rarest_first])
    dense = n_queries * (held.rows / 8) <= _BITS_AT_MOST
    find = with_unique_pair_by_bits if dense else with_unique_pair
    return find(queries_of, users_of)
