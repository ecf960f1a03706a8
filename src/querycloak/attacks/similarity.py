"""How alike what is known of a person and each published log are: the sum of the cosines over all spaces.

Published logs with the same rows are scored once, so that they tie exactly: a group of k gives 1/k and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from querycloak.attacks.vectors import Space, concept_space, text_spaces
from querycloak.releases.classes import distinct_logs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["Similarity", "chance_of_best"]

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

LOGS_AT_ONCE: Final = 4096
"""Distinct published logs in one block."""
SCORES_AT_ONCE: Final = 1 << 24
"""Scores in one block of people: 128 MB."""


_LAST: WeakKeyDictionary[Release, tuple[object, object, object]] = WeakKeyDictionary()
"""The release compared last → the queries and concepts that it was compared with, and its Similarity."""


@dataclass(frozen=True, eq=False)
class Similarity:
    """The published logs of a release, ready to be compared with what is known of people."""

    spaces: list[Space]
    published: list[list[Any]]
    """for each space, csr[width, distinct logs] in blocks of distinct logs"""
    log_of: Int64s
    """int64[published ids]: the distinct log of each"""

    @classmethod
    def of(
        cls,
        log: QueryLog,
        release: Release,
        *,
        concepts: ConceptLog | None = None,
        release_concepts: ConceptLog | None = None,
        taxonomy: Taxonomy | None = None,
    ) -> Self:
        """Build the spaces of a log and a release; that of concepts where the three of them are given.

        Several attackers compare the same release with the same queries: the last one built is kept while it is used.
        """
        last = _LAST.get(release)
        if last is not None and last[0] is log.queries and last[1] is concepts:
            return cast("Self", last[2])
        spaces = text_spaces(log, release)
        if concepts is not None and release_concepts is not None and taxonomy is not None:
            spaces.append(concept_space(log, concepts, release, release_concepts, taxonomy))
        log_of, one = distinct_logs(release.log)
        shown = _renumbered(release.log, one)
        blocks = [range(a, min(a + LOGS_AT_ONCE, len(one))) for a in range(0, len(one), LOGS_AT_ONCE)]
        published = [[s.published_rows(shown, b.start, b.stop).T.tocsr() for b in blocks] for s in spaces]
        made = cls(spaces, published, log_of)
        _LAST.clear()
        _LAST[release] = (log.queries, concepts, made)
        return made

    def scores(self, known: QueryLog, people: Codes) -> Float64s:
        """float64[people, published ids]: the sum of the cosines. For many people, take `blocks`."""
        out = np.zeros((len(people), int(self.log_of.max(initial=-1)) + 1))
        for cosines in self._cosines(known, people):
            out += cosines
        return out[:, self.log_of]

    def cosines(self, known: QueryLog, people: Codes) -> Float64s:
        """float64[spaces, people, published ids]: the cosine in each space."""
        return np.stack([c[:, self.log_of] for c in self._cosines(known, people)])

    def blocks(self, known: QueryLog, people: Codes) -> Iterator[tuple[slice, Float64s]]:
        """Yield the scores of a few people at a time: their slice of `people`, and float64[them, published ids]."""
        step = max(SCORES_AT_ONCE // max(len(self.log_of), 1), 1)
        for first in range(0, len(people), step):
            part = slice(first, min(first + step, len(people)))
            yield part, self.scores(known, people[part])

    def _cosines(self, known: QueryLog, people: Codes) -> Iterator[Float64s]:
        """Yield float64[people, distinct logs] for each space."""
        for space, blocks in zip(self.spaces, self.published, strict=True):
            rows = space.known_rows(known, people)
            parts = [(rows @ block).toarray() for block in blocks]
            yield np.concatenate(parts or [np.zeros((len(people), 0))], axis=1, dtype=np.float64)


def chance_of_best(scores: Float64s, owner: Codes) -> Float64s:
    """float64[people]: the chance of naming the right published id when guessing among those with the best score.

    scores: float64[people, published ids]; owner: int32[people], the right ids.
    """
    if scores.size == 0:
        return np.zeros(len(owner))
    best = scores.max(axis=1)
    right = scores[np.arange(len(owner)), owner] == best
    ties = (scores == best[:, None]).sum(axis=1)
    return np.asarray(right / ties, dtype=np.float64)


def _renumbered(published: QueryLog, one: Int64s) -> QueryLog:
    """Keep the rows of some users, who are numbered from 0 in that order."""
    index = np.full(len(published.users), -1, dtype=np.int32)
    index[one] = np.arange(len(one), dtype=np.int32)
    kept = published.take(index[published.user] >= 0)
    return replace(kept, user=index[kept.user])
