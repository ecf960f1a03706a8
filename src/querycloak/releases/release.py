"""A release: a published table with its statement, in four kinds, and the truth about it.

Only the gate (`releases/publish.py`) makes a release that may be written; `releases/files.py` reads one back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.concept_log import ConceptLog

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.releases.statement import PrivacyStatement

__all__ = [
    "KINDS",
    "CountRelease",
    "ItemRelease",
    "LogRelease",
    "Release",
    "ReleaseKind",
    "Seal",
    "StreamRelease",
    "Truth",
]

ReleaseKind = Literal["log", "items", "counts", "stream"]


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """Which original user a published id stands for: kept in memory, on disk only where asked."""

    user: Codes
    """int32[published users], code of the original user"""
    asker: Codes | None = None
    """int32[published rows], code of the user who asked; None = the user that the row's published id stands for"""


@dataclass(frozen=True, eq=False, repr=False)
class Seal:
    """What the gate has checked: one table and the promises of one statement. Only the gate sets it."""

    table: QueryLog
    promises: tuple[object, ...]

    @classmethod
    def of(cls, table: QueryLog, statement: PrivacyStatement) -> Seal:
        """Return the seal of a table, by identity, and of what its statement promises."""
        s = statement
        return cls(table, (s.method, s.unit, s.parameters, s.text_users, s.identifiers_dropped, s.new_ids))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seal) and self.table is other.table and self.promises == other.promises

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A published table with its statement. What differs between the kinds is in the subclasses."""

    log: QueryLog
    statement: PrivacyStatement
    truth: Truth | None = None
    seal: Seal | None = None
    """set by the gate; None where a release was read from a file, or put together by hand"""

    kind: ClassVar[ReleaseKind]
    has_users: ClassVar[bool] = True
    """rows are published under user ids"""
    sorted_by_id: ClassVar[bool] = True
    """rows are ordered by published id"""
    holds_user_logs: ClassVar[bool] = True
    """all rows of a published id are of one person, so that whole logs can be compared"""
    holds_concepts: ClassVar[bool] = False
    """rows are concepts of a taxonomy, not queries"""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.statement.method}, {len(self.log):,} rows)"

    @property
    def passed(self) -> bool:
        """The gate let through just this table with just these promises."""
        return self.seal is not None and self.seal == Seal.of(self.log, self.statement)

    def row_weights(self) -> npt.NDArray[np.float64]:
        """float64[rows]: how many query events a row stands for."""
        return np.ones(len(self.log))

    def concepts(self, taxonomy: Taxonomy, map_log: Callable[[QueryLog], ConceptLog]) -> ConceptLog:  # noqa: ARG002
        """Return what the published rows are about; `map_log` maps queries."""
        return map_log(self.log)


class LogRelease(Release):
    """Each row is a query of a published user."""

    kind = "log"


class ItemRelease(Release):
    """Each row is a concept of a published user: `log.queries` holds labels, `log.categories` the path of each."""

    kind = "items"
    holds_concepts = True

    def concepts(self, taxonomy: Taxonomy, map_log: Callable[[QueryLog], ConceptLog]) -> ConceptLog:  # noqa: ARG002
        """Find the concepts by their published paths."""
        log = self.log
        if log.category is None or log.categories is None:
            raise ValueError("a release of items has a path for each row")
        found = [taxonomy.concept_of_path.get(path, NO_CODE) for path in log.categories.to_list()]
        concept = np.array(found, dtype=np.int32)[log.category] if found else np.zeros(0, dtype=np.int32)
        return ConceptLog(np.arange(len(log), dtype=np.int64), log.user, log.query, concept)


class CountRelease(Release):
    """Each row is a query with a count in `log.extra`, and no user: `log.user` is all 0, and not written."""

    kind = "counts"
    has_users = False
    sorted_by_id = False
    holds_user_logs = False

    def row_weights(self) -> npt.NDArray[np.float64]:
        """float64[rows]: the published counts; a negative one counts as 0."""
        if self.log.extra is None:
            raise ValueError("a release of counts has a column of counts")
        return np.asarray(np.maximum(self.log.extra["count"].to_numpy(), 0), dtype=np.float64)


class StreamRelease(Release):
    """Each row is a query published under the id of another user; `truth.asker` says who asked."""

    kind = "stream"
    sorted_by_id = False
    holds_user_logs = False


KINDS: dict[ReleaseKind, type[Release]] = {
    "log": LogRelease,
    "items": ItemRelease,
    "counts": CountRelease,
    "stream": StreamRelease,
}
