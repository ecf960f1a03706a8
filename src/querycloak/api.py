"""The package from Python: read a log, anonymize it, write the release.

>>> import querycloak as qc
>>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
>>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
>>> release
Release(sweep, 2 rows)
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from querycloak.catalog import ATTACKS, MEASURES
from querycloak.catalog import method as find_method
from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.io import read_log, read_release, read_truth, write_log, write_release, write_truth
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.records import NO_CODE, ConceptLog, QueryLog, Release

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from os import PathLike

    from querycloak.catalog import Check, Need
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.records import AttackResult, Score
    from querycloak.synthetic import GeneratedLog

__all__ = [
    "QueryLog",
    "Release",
    "anonymize",
    "attack",
    "explain",
    "generate",
    "load_taxonomy",
    "map_log",
    "measure",
    "read_log",
    "read_release",
    "read_release_of",
    "read_truth",
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

    return read_taxonomy(Path(source))


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
    needs = _needs(entry.needs, log, None, progress, taxonomy=taxonomy, directory=directory, resolver=resolver)
    return entry.function(log, checked, Randomness(seed), progress, **needs)


def attack(
    log: QueryLog,
    release: Release,
    *,
    names: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress = QUIET,
    **inputs: Any,
) -> list[AttackResult]:
    """Run every attack that fits the release, or those named. The release must hold its truth, to keep score."""
    if release.truth is None and release.kind != "counts":
        raise ParameterError("The release holds no truth: read it with read_truth, so that attacks can keep score.")
    return cast("list[AttackResult]", _run_checks(ATTACKS, "attack", log, release, names, seed, progress, inputs))


def measure(
    log: QueryLog,
    release: Release,
    *,
    names: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress = QUIET,
    **inputs: Any,
) -> list[Score]:
    """Run every measure that fits the release, or those named."""
    return cast("list[Score]", _run_checks(MEASURES, "measure", log, release, names, seed, progress, inputs))


def read_release_of(log: QueryLog, path: str | PathLike[str], truth: str | PathLike[str] | None) -> Release:
    """Read a release of this log with its truth; one that was made from another log is refused."""
    release = read_release(Path(path))
    rows = release.statement.counts_in.get("rows")
    if rows is not None and rows != len(log):
        raise InputError.at(
            path, f"does not belong to this log: it was made from {rows:,} rows, the log has {len(log):,}"
        )
    return release if truth is None else replace(release, truth=read_truth(Path(truth), log, release))


def _run_checks(
    catalog: dict[str, Check],
    what: str,
    log: QueryLog,
    release: Release,
    names: Sequence[str] | None,
    seed: int | None,
    progress: Progress,
    inputs: dict[str, Any],
) -> list[Any]:
    for name in names or ():
        if name not in catalog:
            raise UnknownNameError.of(what, name, catalog)
        if release.kind not in catalog[name].kinds:
            raise ParameterError(f"The {what} {name!r} does not fit a release of {release.statement.method}.")
    chosen = [c for c in catalog.values() if release.kind in c.kinds and (names is None or c.name in names)]
    wanted = {need for check in chosen for need in check.needs}
    made = _needs(wanted, log, release, progress, **inputs)
    random = Randomness(seed)
    out: list[Any] = []
    for check in chosen:
        needs = {need: made[need] for need in check.needs}
        found = check.function(log, release, random.child(check.name), progress, **needs)
        out += found if isinstance(found, list) else [found]
    return out


def _taxonomy(given: Taxonomy | str | PathLike[str]) -> Taxonomy:
    from querycloak.knowledge.taxonomy import Taxonomy

    return given if isinstance(given, Taxonomy) else load_taxonomy(given)


def _needs(
    wanted: Collection[Need],
    log: QueryLog,
    release: Release | None,
    progress: Progress,
    *,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    directory: SiteDirectory | None = None,
    resolver: Any = None,
) -> dict[Need, Any]:
    """Make what is asked for beside the log; what is not asked for costs nothing."""
    needs: dict[Need, Any] = {}
    if {"taxonomy", "concepts", "release_concepts"} & set(wanted):
        needs["taxonomy"] = _taxonomy(taxonomy)
    if "concepts" in wanted:
        needs["concepts"] = map_log(log, needs["taxonomy"], progress=progress)
    if "release_concepts" in wanted and release is not None:
        needs["release_concepts"] = _concepts_of_release(release, needs["taxonomy"], progress)
    if "directory" in wanted:
        needs["directory"] = directory
    if "resolver" in wanted:
        needs["resolver"] = resolver
    return {need: needs[need] for need in wanted}


def _concepts_of_release(release: Release, taxonomy: Taxonomy, progress: Progress) -> ConceptLog:
    """Give the concepts of what was published: by path where rows are items, else by mapping."""
    if release.kind != "items":
        return map_log(release.log, taxonomy, progress=progress)
    import numpy as np

    log = release.log
    assert log.category is not None
    assert log.categories is not None
    found = [taxonomy.concept_of_path.get(path, NO_CODE) for path in log.categories.to_list()]
    concept = np.array(found, dtype=np.int32)[log.category] if found else np.zeros(0, dtype=np.int32)
    return ConceptLog(np.arange(len(log), dtype=np.int64), log.user, log.query, concept)
