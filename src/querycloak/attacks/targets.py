"""Whom linking attacks look for: people who are published; in a large log, a random sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.attacks.published_ids import PublishedIds, published_ids

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["HEAVY", "MOST_TARGETS", "Targets", "events_of", "find_targets", "sample", "sampled"]

HEAVY: Final = 50
"""Known query events of people about whom an attacker knows much; results count them separately, too."""
MOST_TARGETS: Final = 2000
"""People that one attack looks for at most: a rate over 2,000 people is known to about 2 points."""


@dataclass(frozen=True, eq=False)
class Targets:
    """People whom an attacker looks for, and the published id of each."""

    people: Codes
    """int32[targets], codes of the log, ascending"""
    owner: PublishedIds
    """the right published ids of each"""
    not_published: int
    """people with known queries whom the release does not hold"""
    there: int = 0
    """people with known queries whom it holds: the targets are all of them, or a sample"""

    def __len__(self) -> int:
        return len(self.people)

    @property
    def details(self) -> dict[str, float]:
        """What a result says about people who are no targets."""
        out = {"people not published": float(self.not_published)} if self.not_published else {}
        return out | sampled(len(self), self.there)


def find_targets(
    known: QueryLog, release: Release, random: Randomness, at_least: int = 1, most: int = MOST_TARGETS
) -> Targets:
    """Return the published people of whom at least so many query events are known; at most so many of them.

    Where ids are invented, everybody took part and nobody has an id: all people are targets of an attack without ids.
    """
    enough = events_of(known) >= max(at_least, 1)
    if release.statement.ids == "invented":
        there = np.flatnonzero(enough)
        people = sample(there, random, most)
        nobody = Ragged.of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), len(people))
        return Targets(people, PublishedIds(nobody), 0, len(there))
    owner = published_ids(known, release)
    there = np.flatnonzero(enough & owner.is_published)
    people = sample(there, random, most)
    return Targets(people, owner[people], int((enough & ~owner.is_published).sum()), len(there))


def sample(people: npt.NDArray[np.int64], random: Randomness, most: int = MOST_TARGETS) -> Codes:
    """Return all people, or a random sample of so many, ascending."""
    if len(people) > most:
        people = np.sort(people[random.child("targets").permutation(len(people))[:most]])
    return people.astype(np.int32)


def sampled(people: int, there: int) -> dict[str, float]:
    """Return what a result says where so many people were attacked, and there are more.

    >>> sampled(2000, 31000), sampled(50, 50)
    ({'people of whom these are a sample': 31000.0}, {})
    """
    return {"people of whom these are a sample": float(there)} if people < there else {}


def events_of(log: QueryLog) -> npt.NDArray[np.int64]:
    """int64[users]: how many query events each user has."""
    return np.bincount(log.user[log.event], minlength=len(log.users))
