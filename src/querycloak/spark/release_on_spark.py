"""Anonymize a DataFrame: the method, then the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark import StorageLevel

from querycloak.catalog import method as find_method
from querycloak.errors import GateError
from querycloak.mapping.modes import stated_mapping
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.spark.gate import publish
from querycloak.spark.knowledge import Knowledge
from querycloak.spark.methods import method_on_spark, roles_read
from querycloak.spark.refusals import refuse_on_spark
from querycloak.spark.spark_log import SparkLog

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pyspark.sql import DataFrame

    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.progress import Progress
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.spark_release import Draft, SparkRelease

__all__ = ["KEY_OF_DRIVER", "anonymize", "make_draft", "make_release"]

KEY_OF_DRIVER = "a secret key of the driver's operating system, used for this release alone and kept nowhere"


def anonymize(
    frame: DataFrame,
    method: str,
    columns: Mapping[str, str] | None = None,
    *,
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    on_error: str = "stop",
    progress: Progress = QUIET,
    **settings: Any,
) -> tuple[DataFrame, PrivacyStatement]:
    """Anonymize a query log of Spark; return the published table, which passed the gate, and its statement.

    `columns` says which column is which (role → name) where names do not tell. `settings` are those of the method on
    one machine, `directory` is a directory of sites. The table is kept by Spark (memory, then disk), so that what is
    written is what the gate looked at.
    """
    entry = find_method(method)
    checked = entry.settings.from_json({**entry.given, **settings})
    refuse_on_spark(entry.name, checked)
    log = SparkLog.of(frame, columns, on_error=on_error, only=roles_read(entry.name, checked))
    knowledge = Knowledge.of(frame.sparkSession, taxonomy, mapping, directory)
    draft = make_draft(log, method, knowledge, seed=seed, settings=settings)
    kept = replace(draft, frame=draft.frame.persist(StorageLevel.MEMORY_AND_DISK))
    progress.start(f"{method}: running and checking")
    release = make_release(kept, log, knowledge, seed=seed)
    return release.frame, release.statement


def make_draft(
    log: SparkLog, method: str, knowledge: Knowledge, *, seed: int | None, settings: Mapping[str, Any]
) -> Draft:
    """Run a method by its name; the draft is mostly lazy, and has not passed the gate."""
    entry = find_method(method)
    function = method_on_spark(entry.name)
    checked = entry.settings.from_json({**entry.given, **settings})
    refuse_on_spark(entry.name, checked)
    draft = function(log, checked, Randomness(seed).child(entry.name), knowledge)
    public = getattr(checked, "public", checked.to_json)()
    if "epsilon" in draft.statement.parameters and draft.statement.settings != public:
        raise GateError(f"{method}: its statement has settings that were not asked for, or counts among them.")
    statement = draft.statement
    if seed is None:
        noise = statement.randomness.partition("; ")[2]  # by whom it is drawn
        statement = replace(statement, randomness="; ".join(filter(None, [KEY_OF_DRIVER, noise])))
    if "concepts" in entry.needs or ("paths" in entry.needs and not log.has("category")):
        statement = replace(statement, mapping=stated_mapping(knowledge.mapper.mapping))
    return replace(draft, statement=statement)


def make_release(draft: Draft, log: SparkLog, knowledge: Knowledge, *, seed: int | None) -> SparkRelease:
    """Let a draft through the gate."""
    release = publish(draft, log, knowledge)
    return release if seed is None else replace(release, statement=release.statement.seeded())
