"""A release: a published table with its statement, in four kinds, and the truth about it.

Only the gate (`releases/publish.py`) makes a release that may be written; `releases/files.py` reads one back.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.concept_log import ConceptLog

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.releases.statement import PrivacyStatement

__all__ = [
    "CONCEPT_ID",
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
READING: Final = ("mapping", "mapping_learned")
"""Fields of a statement that the bench fills, after the gate: it knows how the queries were mapped."""
CONCEPT_ID: Final = "concept_id"
"""Column of a release of items with the key of each concept: paths may name several."""


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """Which original user a published id stands for: kept in memory, on disk only where asked."""

    user: Codes
    """int32[published users], code of the original user"""
    asker: Codes | None = None
    """int32[published rows], code of the user who asked; None = the user that the row's published id stands for"""


@dataclass(frozen=True, eq=False, repr=False)
class Seal:
    """What the gate has checked: the kind, the content of a table and its statement. Only the gate sets it."""

    kind: str
    table: str
    """digest of what the table holds: arrays can be written to, so that its identity says nothing"""
    promises: dict[str, object]
    """a copy of the statement, without what it does not cover, and without how queries were read: no promise"""
    open_to: frozenset[str]
    """what the statement does not cover: more may be added, nothing taken away"""
    original: QueryLog | None = None
    """the log that the table was checked against"""

    @classmethod
    def of(cls, kind: str, table: QueryLog, statement: PrivacyStatement, original: QueryLog | None = None) -> Seal:
        """Return the seal of a table and of its statement as they are now."""
        promises = asdict(statement)
        open_to = frozenset(promises.pop("does_not_cover"))
        promises = {name: value for name, value in promises.items() if name not in READING}
        return cls(kind, table_digest(table), promises, open_to, original)

    def fits(self, release: Release) -> bool:
        """Tell whether a release is still what was checked."""
        now = Seal.of(release.kind, release.log, release.statement)
        same = self.kind == now.kind and self.table == now.table and self.promises == now.promises
        return same and self.open_to <= now.open_to

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "original": None}  # a release that goes to another process does not take the log along


def table_digest(table: QueryLog) -> str:
    """Return a digest of everything in a table that can be written; texts enter by two 64-bit hashes of each.

    It notices what was changed by mistake, and is quick; the digest in a statement's file is over the file itself.
    """
    digest = hashlib.sha256()
    for name in ("user", "query", "time", "rank", "url", "category"):
        codes = getattr(table, name)
        digest.update(b"-" if codes is None else f"{name} {len(codes)} ".encode() + np.ascontiguousarray(codes).data)
    for words in (table.users, table.queries, table.urls, table.categories):
        if words is not None:
            for seed in (1, 2):
                digest.update(words.hash(seed).to_numpy().tobytes())
    if table.extra is not None:
        file = io.BytesIO()
        table.extra.write_ipc(file)
        digest.update(file.getvalue())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A published table with its statement. What differs between the kinds is in the subclasses.

    Returned by `querycloak.anonymize` and `read_release`: `log` is what is published, `statement` what that promises.
    `to_polars()`, `to_pandas()` and `to_arrow()` return the published rows; `write_release` writes table and statement.
    """

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

    def _repr_html_(self) -> str:
        from querycloak.releases.cards import release_card

        return release_card(self)

    def to_polars(self) -> pl.DataFrame:
        """Return the published rows as a Polars table: the columns that `write_release` would put into Parquet.

        What is written class by class has a row for each item of each member here. A table has no statement next to
        it: what is shared goes through `write_release`.
        """
        from querycloak.logs.tables import table_of

        return table_of(self.log, frozenset() if self.has_users else frozenset({"user"}))

    def to_pandas(self) -> pd.DataFrame:
        """Return the published rows as a pandas table; it needs pandas and pyarrow."""
        from querycloak.logs.tables import as_pandas

        return as_pandas(self.to_polars())

    def to_arrow(self) -> pa.Table:
        """Return the published rows as an Arrow table; it needs pyarrow."""
        from querycloak.logs.tables import as_arrow

        return as_arrow(self.to_polars())

    @property
    def passed(self) -> bool:
        """The gate let through just this table, as it is now, with just this statement."""
        return self.seal is not None and self.seal.fits(self)

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
    """Each row is a concept of a published user: `log.queries` holds labels, `log.categories` the path of each.

    `log.extra` holds the keys of concepts (`Taxonomy.keys`): in WordNet 835 paths name several. Releases of earlier
    versions, and of `histogram-dp`, are without.
    """

    kind = "items"
    holds_concepts = True

    @property
    def has_keys(self) -> bool:
        """Each row has the key of its concept."""
        return self.log.extra is not None and CONCEPT_ID in self.log.extra.columns

    def concept_of_row(self, taxonomy: Taxonomy) -> npt.NDArray[np.int32]:
        """int32[rows]: the concept of each by its key, else by its path, where that names the first of several.

        -1 where the taxonomy has no such concept.
        """
        log = self.log
        if self.has_keys:
            assert log.extra is not None
            concept = taxonomy.concept_of_key
            keys = log.extra[CONCEPT_ID].to_list()
            return np.fromiter((concept.get(key, NO_CODE) for key in keys), dtype=np.int32, count=len(keys))
        if log.category is None or log.categories is None:
            raise ValueError("a release of items has a path for each row")
        found = [taxonomy.concept_of_path.get(path, NO_CODE) for path in log.categories.to_list()]
        return np.array([*found, NO_CODE], dtype=np.int32)[log.category]

    def concepts(self, taxonomy: Taxonomy, map_log: Callable[[QueryLog], ConceptLog]) -> ConceptLog:  # noqa: ARG002
        """Find the concepts that were published."""
        log = self.log
        return ConceptLog(np.arange(len(log), dtype=np.int64), log.user, log.query, self.concept_of_row(taxonomy))


class CountRelease(Release):
    """Each row is a query with a count in `log.extra`, and no user: `log.user` is all 0, and not written."""

    kind = "counts"
    has_users = False
    sorted_by_id = False
    holds_user_logs = False

    def concepts(self, taxonomy: Taxonomy, map_log: Callable[[QueryLog], ConceptLog]) -> ConceptLog:  # noqa: ARG002
        """Map every row: without users, rows of one query with several URLs are no clicks of one query event."""
        return map_log(replace(self.log, time=None))

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
