"""The published ids of each person: one, or several where a release gives a new one each day or each session.

A link is right where the id that is named is one of the person's.

>>> ids = PublishedIds.one_each(np.array([4, 2]))
>>> ids[np.array([1])].single.tolist(), ids.hits(np.array([[0, 0, 1, 0, 1], [0, 0, 1, 0, 1]])).tolist()
([2], [1.0, 1.0])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.releases.release import Release

__all__ = ["PublishedIds", "published_ids"]

Float64s = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublishedIds:
    """The published ids of some people."""

    ids: Ragged
    """int32, the ids of each person, ascending; an empty row = the person is not published"""

    @classmethod
    def one_each(cls, ids: Codes) -> PublishedIds:
        """Take one id for each person: int32[people]."""
        return cls(Ragged(np.arange(len(ids) + 1), ids.astype(np.int32)))

    def __len__(self) -> int:
        return self.ids.rows

    def __getitem__(self, which: slice | npt.NDArray[Any]) -> PublishedIds:
        index = np.arange(len(self))[which]
        return PublishedIds(self.ids.take(index))

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """int64[people]: how many ids each has."""
        return self.ids.lengths

    @property
    def is_published(self) -> npt.NDArray[np.bool_]:
        """bool[people]: has an id."""
        return self.counts > 0

    @property
    def single(self) -> Codes:
        """int32[people]: the id of each, where a release gives one to everybody."""
        assert (self.counts == 1).all()
        return self.ids.values

    def hits(self, named: npt.NDArray[Any]) -> Float64s:
        """float64[people]: how much of named[person, published ids] is on the person's own ids."""
        found = named[self.ids.owner, self.ids.values]
        return np.bincount(self.ids.owner, weights=found, minlength=len(self)).astype(np.float64)


def published_ids(log: QueryLog, release: Release) -> PublishedIds:
    """Return the published ids of each user of the log."""
    assert release.truth is not None
    named = np.flatnonzero(release.truth.user != NO_CODE).astype(np.int32)  # an id may stand for nobody
    return PublishedIds(Ragged.of(release.truth.user[named], named, len(log.users)))
