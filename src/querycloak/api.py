"""The package from Python: read a log, anonymize it, write the release.

>>> import querycloak as qc
>>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
>>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
>>> release
Release(sweep, 2 rows)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak.catalog import method as find_method
from querycloak.io import read_log, read_release, write_log, write_release, write_truth
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.records import QueryLog, Release

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from querycloak.catalog import Method, Need
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.records import ConceptLog
    from querycloak.synthetic import GeneratedLog

__all__ = [
    "QueryLog",
    "Release",
    "anonymize",
    "explain",
    "generate",
    "load_taxonomy",
    "map_log",
    "read_log",
    "read_release",
    "write_generated",
    "write_log",
    "write_release",
    "write_truth",
]


def load_taxonomy(source: str | PathLike[str] = "wordnet") -> Taxonomy:
    """Load a taxonomy: the embedded WordNet nouns, or a file of paths, of (child, parent), or of the Open Directory."""
    if str(source) == "wordnet":
        from querycloak.knowledge.wordnet import load_wordnet

        return load_wordnet()
    from querycloak.knowledge.table import read_taxonomy

    return read_taxonomy(source)


def map_log(log: QueryLog, taxonomy: Taxonomy, *, mode: str | None = None, progress: Progress = QUIET) -> ConceptLog:
    """Find the concepts that the queries of a log are about."""
    from querycloak.mapping import Mapper
    from querycloak.mapping import map_log as run

    return run(log, Mapper(taxonomy) if mode is None else Mapper(taxonomy, mode=mode), progress=progress)


def explain(
    query: str, *, taxonomy: str | PathLike[str] = "wordnet", mode: str | None = None
) -> list[tuple[str, list[str]]]:
    """Show what a query maps to, step by step: (title, lines) of each step."""
    from querycloak.mapping import Mapper

    tree = load_taxonomy(taxonomy)
    mapper = Mapper(tree) if mode is None else Mapper(tree, mode=mode)
    return mapper.explain(query)


def generate(
    *,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    seed: int | None = None,
    progress: Progress = QUIET,
    **settings: Any,
) -> GeneratedLog:
    """Generate a log with known truth; settings are those of `synthetic.Generate`."""
    from querycloak.synthetic import Generate
    from querycloak.synthetic import generate as run

    return run(Generate.from_json(settings), _taxonomy(taxonomy), Randomness(seed), progress)


def write_generated(generated: GeneratedLog, path: str | PathLike[str], *, truth: bool = False) -> list[Path]:
    """Write a generated log, its directory and, where asked, its truth; gives the paths written."""
    from querycloak.synthetic import write_generated as run

    return run(generated, path, truth=truth)


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
    entry = find_method(method)
    checked = entry.settings.from_json(settings)
    needs = _needs(entry, log, taxonomy, directory, resolver, progress)
    return entry.function(log, checked, Randomness(seed), progress, **needs)


def _taxonomy(given: Taxonomy | str | PathLike[str]) -> Taxonomy:
    from querycloak.knowledge.taxonomy import Taxonomy

    return given if isinstance(given, Taxonomy) else load_taxonomy(given)


def _needs(
    entry: Method,
    log: QueryLog,
    taxonomy: Taxonomy | str | PathLike[str],
    directory: SiteDirectory | None,
    resolver: Any,
    progress: Progress,
) -> dict[Need, Any]:
    """Make what the method asks for beside the log; what it does not ask for costs nothing."""
    needs: dict[Need, Any] = {}
    if "taxonomy" in entry.needs or "concepts" in entry.needs:
        tree = _taxonomy(taxonomy)
        if "taxonomy" in entry.needs:
            needs["taxonomy"] = tree
        if "concepts" in entry.needs:
            needs["concepts"] = map_log(log, tree, progress=progress)
    if "directory" in entry.needs:
        needs["directory"] = directory
    if "resolver" in entry.needs:
        needs["resolver"] = resolver
    return needs
