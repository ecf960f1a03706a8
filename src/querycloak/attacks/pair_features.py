"""Features of a pair of a person and a published log, for an attacker who learns which of them tell.

Equal published logs have equal features, so pairs are made with distinct logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from querycloak.attacks.shape import shape_of
from querycloak.attacks.targets import events_of
from querycloak.logs.query_log import MISSING_TIME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.attacks.similarity import Similarity
    from querycloak.attacks.targets import Targets
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["PairFeatures"]

Float64s = npt.NDArray[np.float64]

PAIRS_AT_ONCE: Final = 1 << 20
LEAST_LIKELY: Final = -50.0
"""Log likelihood, against the best, below which shapes are equally unlike."""


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """What the features are made from."""

    known: QueryLog
    release: Release
    similarity: Similarity
    seen: QueryLog
    """what the method makes of the known log, or the known log itself"""
    seen_user: npt.NDArray[np.int32]
    """int32[users]: the user of `seen` that each person became"""
    one: npt.NDArray[np.int64]
    """int64[distinct logs]: a published id that has it"""

    @classmethod
    def of(
        cls,
        known: QueryLog,
        release: Release,
        similarity: Similarity,
        seen: QueryLog,
        seen_user: npt.NDArray[np.int32],
    ) -> Self:
        """Find one published id of each distinct log."""
        _, one = np.unique(similarity.log_of, return_index=True)
        return cls(known, release, similarity, seen, seen_user, one)

    def blocks(self, targets: Targets) -> Iterator[tuple[slice, Float64s]]:
        """Yield the features of a few people at a time: their slice, float64[them, distinct logs, features]."""
        rows = np.bincount(self.release.log.user, minlength=len(self.release.log.users))[self.one]
        events = events_of(self.known)[targets.people]
        usual = np.log(max(rows.mean(), 1.0) / max(events.mean(), 1.0)) if len(rows) and len(events) else 0.0
        hours = self._hours(targets)
        step = max(PAIRS_AT_ONCE // max(len(self.one), 1), 1)
        match = shape_of(self.seen, self.seen_user[targets.people], self.release, 0.5)
        for part, shapes in match.blocks(step):
            cosines = self.similarity.distinct_cosines(self.known, targets.people[part])
            found = [*cosines, *(np.log1p(_ranks(c)) for c in cosines)]
            ratio = np.log(np.maximum(rows, 1))[None, :] - np.log(np.maximum(events[part], 1))[:, None]
            found.append(np.abs(ratio - usual))
            likely = shapes[:, self.one]
            found.append(np.maximum(likely - likely.max(axis=1, keepdims=True, initial=LEAST_LIKELY), LEAST_LIKELY))
            if hours is not None:
                found.append(hours[0][part] @ hours[1].T)
            yield part, np.stack(found, axis=2)

    def _hours(self, targets: Targets) -> tuple[Float64s, Float64s] | None:
        """Return the hours of day of people and of distinct logs, rows of length 1; None where there are no times."""
        ours, theirs = _hours_of(self.known), _hours_of(self.release.log)
        if ours is None or theirs is None:
            return None
        return ours[targets.people], theirs[self.one]


def _ranks(scores: Float64s) -> Float64s:
    """float64[people, logs]: how many logs have a higher score; equal scores have equal ranks. No score is below 0."""
    out = np.empty(scores.shape)
    for row, ranks in zip(scores, out, strict=True):
        above = np.flatnonzero(row)  # in a large release most are 0, and all of these have one rank
        ranks[:] = len(above)
        ranks[above] = np.searchsorted(np.sort(-row[above]), -row[above])
    return out


def _hours_of(log: QueryLog) -> Float64s | None:
    """float64[users, 24]: how often each user asks at each hour, as rows of length 1."""
    if log.time is None:
        return None
    has = log.time != MISSING_TIME
    cell = log.user[has].astype(np.int64) * 24 + (log.time[has] // 3600) % 24
    count = np.bincount(cell, minlength=24 * len(log.users)).reshape(-1, 24).astype(np.float64)
    return np.asarray(count / np.maximum(np.sqrt((count**2).sum(axis=1, keepdims=True)), 1.0))
