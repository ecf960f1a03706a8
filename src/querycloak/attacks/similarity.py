"""How alike what is known of a person and each published log are: the sum of the cosines over all spaces.

Published logs with the same rows are scored once, so that they tie exactly: a group of k gives 1/k and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from querycloak.attacks._similarity_kernels import Weighted, add_cosines
from querycloak.attacks.vectors import Space, concept_space, text_spaces
from querycloak.releases.classes import distinct_logs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.arrays.sparse import Sparse
    from querycloak.attacks.published_ids import PublishedIds
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.release import Release

__all__ = ["Similarity", "chance_of_best"]

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

LOGS_AT_ONCE: Final = 8192
"""Distinct published logs in one block: their scores stay in the cache of a core."""
SCORES_AT_ONCE: Final = 1 << 24
"""Scores in one block of people: 128 MB."""


_LAST: WeakKeyDictionary[Release, tuple[object, object, object]] = WeakKeyDictionary()
"""The release compared last → the queries and concepts that it was compared with, and its Similarity."""


@dataclass(frozen=True, eq=False)
class Similarity:
    """The published logs of a release, ready to be compared with what is known of people."""

    spaces: list[Space]
    published: list[list[Weighted]]
    """for each space, the logs that have each feature, in blocks of LOGS_AT_ONCE distinct logs"""
    distinct: int
    """how many distinct logs there are"""
    at_once: int
    """how many of them are in a block"""
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
        published = [[_weighted(s.published_rows(shown, b.start, b.stop).transposed()) for b in blocks] for s in spaces]
        made = cls(spaces, published, len(one), LOGS_AT_ONCE, log_of)
        _LAST.clear()
        _LAST[release] = (log.queries, concepts, made)
        return made

    def scores(self, known: QueryLog, people: Codes) -> Float64s:
        """float64[people, published ids]: the sum of the cosines. For many people, take `blocks`."""
        out = np.zeros((len(people), self.distinct))
        for i in range(len(self.spaces)):
            self._add(out, i, known, people)
        return self._by_id(out)

    def cosines(self, known: QueryLog, people: Codes) -> Float64s:
        """float64[spaces, people, published ids]: the cosine in each space."""
        return np.stack([self._by_id(cosines) for cosines in self.distinct_cosines(known, people)])

    def distinct_cosines(self, known: QueryLog, people: Codes) -> Float64s:
        """float64[spaces, people, distinct logs]: the cosine in each space."""
        out = np.zeros((len(self.spaces), len(people), self.distinct))
        for i in range(len(self.spaces)):
            self._add(out[i], i, known, people)
        return out

    def blocks(self, known: QueryLog, people: Codes) -> Iterator[tuple[slice, Float64s]]:
        """Yield the scores of a few people at a time: their slice of `people`, and float64[them, published ids]."""
        step = max(SCORES_AT_ONCE // max(len(self.log_of), 1), 1)
        for first in range(0, len(people), step):
            part = slice(first, min(first + step, len(people)))
            yield part, self.scores(known, people[part])

    def _add(self, out: Float64s, space: int, known: QueryLog, people: Codes) -> None:
        """Add the cosines in one space to out: float64[people, distinct logs]."""
        rows = _weighted(self.spaces[space].known_rows(known, people))
        for first, holders in zip(range(0, self.distinct, self.at_once), self.published[space], strict=True):
            add_cosines(out, rows, holders, first, min(self.at_once, self.distinct - first))

    def _by_id(self, scores: Float64s) -> Float64s:
        """Return the columns of published ids from those of distinct logs."""
        if self.distinct == len(self.log_of):  # distinct logs are numbered by their first id
            return scores
        return scores[:, self.log_of]


def _weighted(matrix: Sparse) -> Weighted:
    """Take the arrays of a matrix."""
    return Weighted(matrix.start.astype(np.int32), matrix.column, matrix.value)


def chance_of_best(scores: Float64s, owner: PublishedIds) -> Float64s:
    """float64[people]: the chance of naming a right published id when guessing among those with the best score.

    scores: float64[people, published ids]; owner: the right ids of each.
    """
    if scores.size == 0:
        return np.zeros(len(owner))
    is_best = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(owner.hits(is_best) / is_best.sum(axis=1), dtype=np.float64)


def _renumbered(published: QueryLog, one: Int64s) -> QueryLog:
    """Keep the rows of some users, who are numbered from 0 in that order."""
    index = np.full(len(published.users), -1, dtype=np.int32)
    index[one] = np.arange(len(one), dtype=np.int32)
    kept = published.take(index[published.user] >= 0)
    return replace(kept, user=index[kept.user])
