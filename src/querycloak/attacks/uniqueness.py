"""Uniqueness: published queries that one person alone asked, and people whom a pair of queries singles out.

`own_texts` and `people_with_unique_pair` count people of the original log: repeating a log under several ids does not
make what it holds less of one person's. Texts drawn from public knowledge under differential privacy single nobody out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.attacks._uniqueness_kernels import with_unique_pair
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
    logs = PublishedLogs.of(release).texts
    counted = ~askers.public[logs.values]
    texts, text = np.unique(logs.values[counted], return_inverse=True)
    people_of = askers.users(log, texts)
    owner = logs.owner[counted]
    rarest_first = np.lexsort((text, people_of.lengths[text], owner))
    wanted = Ragged.of(owner[rarest_first], text[rarest_first], logs.rows)
    found = with_unique_pair(wanted, people_of, people_of.inverted(len(log.users)))
    return found[np.unique(log.user)]
