"""The package from Python: read a log, anonymize it, attack and measure the release, write it.

>>> import querycloak as qc
>>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
>>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
>>> release
Release(sweep, 2 rows)
>>> [round(result.rate, 2) for result in qc.attack(log, release, names=["uniqueness"])]
[0.0, 0.0]
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.errors import InputError
from querycloak.evaluation.workbench import Workbench, load_taxonomy, mapper_of
from querycloak.logs.query_log import QueryLog
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.releases.files import read_release, write_release
from querycloak.releases.release import Release
from querycloak.releases.truth_file import read_truth, write_truth

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from querycloak.attacks.result import AttackResult
    from querycloak.generator.generated_log import GeneratedLog
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.resolver import TableResolver
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.measures.score import Score
    from querycloak.releases.verify import Finding

__all__ = [
    "QueryLog",
    "Release",
    "Workbench",
    "anonymize",
    "attack",
    "explain",
    "generate",
    "load_directory",
    "load_resolver",
    "load_taxonomy",
    "map_log",
    "measure",
    "read_log",
    "read_release",
    "read_release_of",
    "read_truth",
    "verify",
    "write_generated",
    "write_log",
    "write_release",
    "write_truth",
]


def anonymize(
    log: QueryLog,
    method: str,
    *,
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    directory: SiteDirectory | None = None,
    resolver: Any = None,
    progress: Progress = QUIET,
    **settings: Any,
) -> Release:
    """Run a method by its catalog name. Without a seed, randomness is the operating system's."""
    return Workbench(log, taxonomy, directory, resolver, progress).anonymize(method, seed=seed, **settings)


def attack(
    log: QueryLog,
    release: Release,
    *,
    names: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress = QUIET,
    **knowledge: Any,
) -> list[AttackResult]:
    """Run every attack that fits the release, or those named. The release must hold its truth, to keep score."""
    return _bench(log, knowledge, progress).attack(release, names, seed)


def measure(
    log: QueryLog,
    release: Release,
    *,
    names: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress = QUIET,
    **knowledge: Any,
) -> list[Score]:
    """Run every measure that fits the release, or those named."""
    return _bench(log, knowledge, progress).measure(release, names, seed)


def map_log(
    log: QueryLog,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    *,
    mode: str | None = None,
    progress: Progress = QUIET,
) -> ConceptLog:
    """Find the concepts that the queries of a log are about."""
    from querycloak.mapping import map_log as run

    return run(log, mapper_of(load_taxonomy(taxonomy), mode), progress=progress)


def explain(
    query: str, *, taxonomy: str | PathLike[str] = "wordnet", mode: str | None = None
) -> list[tuple[str, list[str]]]:
    """Show what a query maps to, step by step: (title, lines) of each step."""
    return mapper_of(load_taxonomy(taxonomy), mode).explain(query)


def load_directory(path: str | PathLike[str], *, progress: Progress = QUIET) -> SiteDirectory:
    """Load a directory of sites: a table of site and category path, or an Open Directory dump of content."""
    from querycloak.knowledge.table import read_directory

    return read_directory(Path(path), progress=progress)


def load_resolver(path: str | PathLike[str]) -> TableResolver:
    """Load a table of query and URL, which gives the site of queries without a click."""
    from querycloak.knowledge.resolver import read_resolver

    return read_resolver(Path(path))


def verify(path: str | PathLike[str], log: QueryLog | None = None) -> list[Finding]:
    """Check from its files alone whether a release keeps what its statement says; with the log, its ids too."""
    from querycloak.releases.verify import verify as run

    return run(path, log)


def generate(
    *,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    seed: int | None = None,
    progress: Progress = QUIET,
    **settings: Any,
) -> GeneratedLog:
    """Generate a log with known truth; settings are those of `synthetic.Generate`."""
    from querycloak.generator.generated_log import generate as run
    from querycloak.generator.settings import Generate

    return run(Generate.from_json(settings), load_taxonomy(taxonomy), Randomness(seed), progress)


def write_generated(generated: GeneratedLog, path: str | PathLike[str], *, truth: bool = False) -> list[Path]:
    """Write a generated log, its directory and, where asked, its truth; gives the paths written."""
    from querycloak.generator.write import write_generated as run

    return run(generated, Path(path), truth=truth)


def read_release_of(log: QueryLog, path: str | PathLike[str], truth: str | PathLike[str] | None) -> Release:
    """Read a release of this log with its truth; one that was made from another log is refused."""
    release = read_release(Path(path))
    rows = release.statement.counts_in.get("rows")
    if rows is not None and rows != len(log):
        raise InputError.at(
            path, f"does not belong to this log: it was made from {rows:,} rows, the log has {len(log):,}"
        )
    return release if truth is None else replace(release, truth=read_truth(Path(truth), log, release))


def _bench(log: QueryLog, knowledge: dict[str, Any], progress: Progress) -> Workbench:
    return Workbench(
        log, knowledge.get("taxonomy", "wordnet"), knowledge.get("directory"), knowledge.get("resolver"), progress
    )
