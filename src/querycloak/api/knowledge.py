"""What queries are about, logs to try things on, and tables that are read."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.api.keywords import checked, refuse_unknown
from querycloak.evaluation.workbench import load_taxonomy, mapper_of
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from os import PathLike

    from querycloak.generator.generated_log import GeneratedLog
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.resolver import TableResolver
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog

__all__ = ["explain", "generate", "load_directory", "load_resolver", "map_log", "write_generated"]


@checked
def map_log(
    log: QueryLog,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    *,
    mapping: str | None = None,
    progress: Progress = QUIET,
) -> ConceptLog:
    """Find the concepts that the queries of a log are about."""
    from querycloak.mapping import map_log as run

    return run(log, mapper_of(load_taxonomy(taxonomy), mapping), progress=progress)


@checked
def explain(
    query: str, *, taxonomy: Taxonomy | str | PathLike[str] = "wordnet", mapping: str | None = None
) -> list[tuple[str, list[str]]]:
    """Show what a query maps to, step by step: (title, lines) of each step."""
    return mapper_of(load_taxonomy(taxonomy), mapping).explain(query)


@checked
def load_directory(path: str | PathLike[str], *, progress: Progress = QUIET) -> SiteDirectory:
    """Load a directory of sites: a table of site and category path, or an Open Directory dump of content."""
    from querycloak.knowledge.table import read_directory

    return read_directory(Path(path), progress=progress)


@checked
def load_resolver(path: str | PathLike[str]) -> TableResolver:
    """Load a table of query and URL, which finds the site of queries without a click."""
    from querycloak.knowledge.resolver import read_resolver

    return read_resolver(Path(path))


def generate(
    *,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    seed: int | None = None,
    progress: Progress = QUIET,
    **options: Any,
) -> GeneratedLog:
    """Generate a log with known truth; `options` are the settings of `querycloak.generator.Generate`."""
    from querycloak.generator.generated_log import generate as run
    from querycloak.generator.settings import Generate

    refuse_unknown("generate", options, [*(f.name for f in fields(Generate)), "taxonomy", "seed", "progress"])
    return run(Generate.from_json(options), load_taxonomy(taxonomy), Randomness(seed), progress)


@checked
def write_generated(
    generated: GeneratedLog, path: str | PathLike[str], *, truth: bool = False, safe_csv: bool = True
) -> list[Path]:
    """Write a generated log, its directory and, where asked, its truth; return the paths written.

    `safe_csv` is that of `write_log`.
    """
    from querycloak.generator.write import write_generated as run

    return run(generated, Path(path), truth=truth, safe_csv=safe_csv)
