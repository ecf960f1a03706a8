"""Whom linking attacks look for: people who are published; in a large log, a random sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.attacks.known import published_users

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["HEAVY", "MOST_TARGETS", "Targets", "events_of", "find_targets", "sample"]

HEAVY: Final = 50
"""Known query events of people about whom an attacker knows much; results count them separately, too."""
MOST_TARGETS: Final = 2000
"""People that one attack looks for at most: a rate over 2,000 people is known to about 2 points."""


@dataclass(frozen=True, eq=False)
class Targets:
    """People whom an attacker looks for, and the published id of each."""

    people: Codes
    """int32[targets], codes of the log, ascending"""
    owner: Codes
    """int32[targets], the right published user of each"""
    not_published: int
    """people with known queries whom the release does not hold"""

    def __len__(self) -> int:
        return len(self.people)

    @property
    def details(self) -> dict[str, float]:
        """What a result says about people who are no targets."""
        return {"people not published": float(self.not_published)} if self.not_published else {}


def find_targets(
    known: QueryLog, release: Release, random: Randomness, at_least: int = 1, most: int = MOST_TARGETS
) -> Targets:
    """Return the published people of whom at least so many query events are known; at most so many of them."""
    owner = published_users(known, release)
    enough = events_of(known) >= max(at_least, 1)
    people = sample(np.flatnonzero(enough & (owner >= 0)), random, most)
    return Targets(people, owner[people], int((enough & (owner < 0)).sum()))


def sample(people: npt.NDArray[np.int64], random: Randomness, most: int = MOST_TARGETS) -> Codes:
    """Return all people, or a random sample of so many, ascending."""
    if len(people) > most:
        people = np.sort(people[random.child("targets").permutation(len(people))[:most]])
    return people.astype(np.int32)


def events_of(log: QueryLog) -> npt.NDArray[np.int64]:
    """int64[users]: how many query events each user has."""
    return np.bincount(log.user[log.event], minlength=len(log.users))
