"""The distinct logs of a release: ids that share a log are a class, and count once.

>>> from querycloak.logs.query_log import QueryLog
>>> logs = PublishedLogs.of_table(QueryLog.of(["a", "a", "b", "b", "c"], ["x", "y", "y", "x", "x"]))
>>> sorted(zip(logs.size.tolist(), logs.texts.to_lists()))
[(1, [0]), (2, [0, 1])]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.logs.query_log import NO_CODE
from querycloak.releases.classes import class_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release, Truth

__all__ = ["PublishedLogs"]


@dataclass(frozen=True)
class PublishedLogs:
    """The distinct logs of a release."""

    size: npt.NDArray[np.int64]
    """int64[classes]: how many people have the log, or ids where nobody knows who is behind them"""
    texts: Ragged
    """the distinct texts of each, ascending"""
    members: Ragged | None
    """the people behind those ids; None without the truth"""

    @classmethod
    def of(cls, release: Release) -> PublishedLogs:
        """Find the distinct logs of a release, and who is behind them."""
        return cls.of_table(release.log, release.truth)

    @classmethod
    def of_table(cls, table: QueryLog, truth: Truth | None = None) -> PublishedLogs:
        """Find the distinct logs of a table; ids without a row have none."""
        present = np.unique(table.user)
        classes, of = np.unique(class_of(table)[present], return_inverse=True)
        class_of_user = np.full(len(table.users), -1, dtype=np.int64)
        class_of_user[present] = of
        has_text = table.query != NO_CODE
        texts = CountedRows.of(class_of_user[table.user[has_text]], table.query[has_text], len(classes)).uncounted
        if truth is None:
            return cls(np.bincount(of, minlength=len(classes)).astype(np.int64), texts, None)
        members = (
            Ragged.of(of, truth.user[present], len(classes)).ascending().distinct()
        )  # who has two of the ids hides once
        return cls(members.lengths, texts, members)
