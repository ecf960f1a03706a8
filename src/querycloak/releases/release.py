"""A release, and the truth about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Release", "ReleaseKind", "Truth"]

ReleaseKind = Literal["log", "items", "counts", "stream"]


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """Which original user a published id stands for: kept in memory, on disk only where asked."""

    user: Codes
    """int32[published users], code of the original user"""
    asker: Codes | None = None
    """int32[published rows], code of the user who asked; None = the user that the row's published id stands for"""


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A published table with its statement.

    `kind` says what a row is: 'log' = a query of a published user; 'items' = a concept of a published user, `queries`
    holding labels and `categories` the path of each; 'counts' = a query with a count in `extra`, and no user
    (`user` is all 0, and not written); 'stream' = a query published under the id of another user, `truth.asker` saying
    who asked.
    """

    log: QueryLog
    statement: PrivacyStatement
    truth: Truth | None = None
    kind: ReleaseKind = "log"

    def __repr__(self) -> str:
        return f"Release({self.statement.method}, {len(self.log):,} rows)"
