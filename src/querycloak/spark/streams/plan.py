"""What all branches of a stream share: the method, its settings, the columns, and what their random words are made of.

Top-level categories are independent of each other in every method of a stream, so each is an engine of its own, with
random words of its own: by (secret, category), and by how many were drawn, which is part of the engine's state. A
micro-batch that runs again from the same state therefore draws the same again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak.errors import ParameterError
from querycloak.knowledge.named import usual_categories
from querycloak.spark.knowledge import Knowledge

if TYPE_CHECKING:
    from os import PathLike

    from pyspark.sql import SparkSession

    from querycloak.keyed_randomness import KeyedRandomness
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.methods.stream.stream_statement import StreamSettings

__all__ = ["Plan", "categories_of", "check_settings"]

REFUSED: Final = {
    "epoch": "the branches of a stream run apart, and none knows when an epoch of all of them ends",
    "max_age": "the branches of a stream have no clock in common; max_delay bounds the waiting by records",
}


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What a branch is made of. It is sent to executors, and its repr shows nothing of it."""

    method: str
    settings: StreamSettings
    roles: tuple[str, ...]
    """the columns of the log, by their roles"""
    words: KeyedRandomness
    """the random words of each engine, by its top-level category"""
    knowledge: Knowledge | None
    """of what the categories of queries are, by number; None = the log has categories, by name"""
    id_key: bytes | None = None
    """what published ids are made of; None = rows are given original ids, and get theirs later"""
    skips: bool = False
    """rows without a user or a query are left out and counted; else they end the run"""

    def __repr__(self) -> str:
        return f"Plan({self.method})"


def check_settings(settings: StreamSettings, roles: tuple[str, ...]) -> None:
    """Refuse, before anything runs, what no cluster can do, and what needs times where the log has none."""
    name = type(settings).__name__
    for setting, why in REFUSED.items():
        value = getattr(settings, setting)
        if value is not None:
            raise ParameterError(f"{name}.{setting} is {value}; on Spark it cannot be had: {why}.")
    if settings.ids == "day" and "time" not in roles:
        raise ParameterError(f"{name}.ids is day, and the log has no times.")
    if settings.time_grain is not None and "time" not in roles:
        raise ParameterError(f"{name}.time_grain is {settings.time_grain}, and the log has no times.")


def categories_of(
    session: SparkSession,
    settings: StreamSettings,
    taxonomy: Taxonomy | str | PathLike[str] | None,
    mapping: str | None,
) -> Knowledge:
    """Return the knowledge that finds the categories of queries, where the log has none: as on one machine."""
    usual = usual_categories(as_in_paper=settings.as_in_paper)
    return Knowledge.of(session, usual if taxonomy is None else taxonomy, mapping)
