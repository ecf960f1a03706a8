"""A release on a cluster: what a method hands to the gate, and what the gate lets through."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from querycloak.spark.kept import kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from querycloak.releases.budget import Budget
    from querycloak.releases.release import ReleaseKind
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Draft", "Seal", "SparkRelease"]


@dataclass(frozen=True, eq=False, repr=False)
class Draft:
    """What a method would publish."""

    kind: ReleaseKind
    frame: DataFrame
    """columns by their roles: `user` (but for counts), `query` (of items: a path of concepts, and `concept_id`),
    `time` as bigint seconds, `rank`, `url`, `category`, `count`, `kind`: those that are published and no others"""
    statement: PrivacyStatement
    """without `counts_out`, which the gate counts"""
    truth: DataFrame | None = None
    """`id` and `user`: the original user behind each published id; None = there are no ids, or they are invented"""
    budget: Budget | None = None
    """what was spent, for differential privacy"""
    readings: DataFrame | None = None
    """`text` and `reading`: the text of the log behind each published one; None = texts are published as they are"""
    public: DataFrame | None = None
    """`text`: texts of public knowledge, such as the labels of a taxonomy; None = there are none"""
    also: Mapping[str, Any] = field(default_factory=dict)
    """what else the checks of one method need, by name"""

    @cached_property
    def texts(self) -> DataFrame:
        """The distinct published texts, kept: `query`."""
        return kept(self.frame.select("query").distinct())

    @cached_property
    def ids(self) -> DataFrame:
        """The distinct published ids, kept: `user`."""
        return kept(self.frame.select("user").distinct())

    def stating(self, statement: PrivacyStatement) -> Draft:
        """Return the same table with another statement; what was kept of it stays."""
        other = copy(self)
        object.__setattr__(other, "statement", statement)
        return other


@dataclass(frozen=True, eq=False, repr=False)
class Seal:
    """What the gate has checked: a table, which nobody can change, and its statement. Only the gate sets it."""

    frame: DataFrame
    promises: Mapping[str, Any]
    """a copy of the statement, without what it does not cover"""
    open_to: frozenset[str]
    """what the statement does not cover: more may be added, nothing taken away"""

    @classmethod
    def of(cls, frame: DataFrame, statement: PrivacyStatement) -> Seal:
        """Return the seal of a table and its statement."""
        promises = asdict(statement)
        return cls(frame, promises, frozenset(promises.pop("does_not_cover")))

    def fits(self, release: SparkRelease) -> bool:
        """Tell whether a release is still what was checked."""
        now = Seal.of(release.frame, release.statement)
        return self.frame is now.frame and self.promises == now.promises and self.open_to <= now.open_to


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease:
    """A published table with its statement: the gate has let it through."""

    kind: ReleaseKind
    frame: DataFrame
    statement: PrivacyStatement
    truth: DataFrame | None = None
    seal: Seal | None = None

    def __repr__(self) -> str:
        return f"SparkRelease({self.statement.method}, {self.statement.counts_out.get('rows', 0):,} rows)"
