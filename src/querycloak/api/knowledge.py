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
    """Find the concepts that the queries of a log are about.

    `taxonomy` is `wordnet`, `topics`, the name of one that another package adds, or a file; `mapping` how queries are
    read: `layers` (the default), `certain`, `segments` or `phrases`. What is returned has a row for each query event
    and concept; -1 = the taxonomy has none.

    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob"], ["green tea", "xqzzy"])
    >>> taxonomy = qc.load_taxonomy("wordnet")
    >>> [taxonomy.label(c) if c >= 0 else None for c in qc.map_log(log, taxonomy).concept.tolist()]
    ['green tea', None]
    """
    from querycloak.mapping import map_log as run

    return run(log, mapper_of(load_taxonomy(taxonomy), mapping), progress=progress)


@checked
def explain(
    query: str, *, taxonomy: Taxonomy | str | PathLike[str] = "wordnet", mapping: str | None = None
) -> list[tuple[str, list[str]]]:
    """Show what a query maps to, step by step: (title, lines) of each step.

    >>> explain("green tea")[0]
    ('words', ['green tea'])
    """
    return mapper_of(load_taxonomy(taxonomy), mapping).explain(query)


@checked
def load_directory(path: str | PathLike[str], *, progress: Progress = QUIET) -> SiteDirectory:
    r"""Load a directory of sites: a table of site and category path, or an Open Directory dump of content.

    Methods and attacks that work with categories of clicked sites take it as `directory`. What was read of a large file
    is kept in the user's cache folder.

    >>> import tempfile
    >>> import querycloak as qc
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("tea.example\tShopping/Food/Tea\n")
    ...     file.flush()
    ...     qc.load_directory(file.name)
    SiteDirectory(1 sites, 3 categories)
    """
    from querycloak.knowledge.table import read_directory

    return read_directory(Path(path), progress=progress)


@checked
def load_resolver(path: str | PathLike[str]) -> TableResolver:
    r"""Load a table of query and URL, which finds the site of queries without a click.

    Tab-separated, the most significant address of a query first; a first line that names the columns is optional.
    `anonymize` and the others take it as `resolver`.

    >>> import tempfile
    >>> import querycloak as qc
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("green tea\thttp://tea.example\n")
    ...     file.flush()
    ...     qc.load_resolver(file.name)("green tea")
    ['http://tea.example']
    """
    from querycloak.knowledge.resolver import read_resolver

    return read_resolver(Path(path))


def generate(
    *,
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    seed: int | None = None,
    progress: Progress = QUIET,
    **options: Any,
) -> GeneratedLog:
    """Generate a log with known truth, to try methods on; nobody asked any of its queries.

    `options` are the settings of `querycloak.generator.Generate`: `users`, `queries`, `days`, `clicks`, `order` and
    others, whose defaults follow the AOL log of 2006. What is returned has the log as `.log`, and what each query was
    made from. With a `seed` the same call returns the same log.

    >>> import querycloak as qc
    >>> qc.generate(users=3, queries=20, clicks=False, seed=1).log
    QueryLog(20 rows, 3 users, 13 distinct queries)
    """
    from querycloak.generator.generated_log import generate as run
    from querycloak.generator.settings import Generate

    refuse_unknown("generate", options, [*(f.name for f in fields(Generate)), "taxonomy", "seed", "progress"])
    return run(Generate.from_json(options), load_taxonomy(taxonomy), Randomness(seed), progress)


@checked
def write_generated(
    generated: GeneratedLog, path: str | PathLike[str], *, truth: bool = False, safe_csv: bool = True
) -> list[Path]:
    """Write a generated log, its directory and, where asked, its truth; return the paths written.

    The suffix of `path` says in which form, and `safe_csv` is for spreadsheets, as for `write_log`.

    >>> import tempfile
    >>> import querycloak as qc
    >>> generated = qc.generate(users=3, queries=20, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in qc.write_generated(generated, f"{folder}/log.tsv")]
    ['log.tsv', 'log.directory.tsv']
    """
    from querycloak.generator.write import write_generated as run

    return run(generated, Path(path), truth=truth, safe_csv=safe_csv)
