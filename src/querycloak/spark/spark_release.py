"""A release on a cluster: what a method hands to the gate, and what the gate lets through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from querycloak.releases.budget import Budget
    from querycloak.releases.release import ReleaseKind
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Draft", "SparkRelease"]


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


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease:
    """A published table with its statement: the gate has let it through."""

    kind: ReleaseKind
    frame: DataFrame
    statement: PrivacyStatement
    truth: DataFrame | None = None

    def __repr__(self) -> str:
        return f"SparkRelease({self.statement.method}, {self.statement.counts_out.get('rows', 0):,} rows)"
