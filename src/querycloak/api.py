"""The package from Python: read a log, anonymize it, attack and measure the release, write it.

>>> import querycloak as qc
>>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
>>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
>>> release
LogRelease(sweep, 2 rows)
>>> {result.attack: round(result.rate, 2) for result in qc.attack(log, release, names=["record-linkage"])}
{'record-linkage': 0.5, 'record-linkage, all users': 0.33}

A keyword that a function does not take is refused with the nearest one:

>>> qc.attack(log, release, taxonmy="wordnet")
Traceback (most recent call last):
...
querycloak.errors.ParameterError: attack() has no argument 'taxonmy'. Did you mean 'taxonomy'? It takes: also, \
directory, learn_from_clicks, log, mapping, names, progress, release, rerun, resolver, seed, taxonomy.
"""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from querycloak.catalog import METHODS
from querycloak.catalog import method as find_method
from querycloak.descriptions import MethodDescription, describe_method, list_methods
from querycloak.errors import InputError, ParameterError
from querycloak.evaluation.workbench import Workbench, load_taxonomy, mapper_of
from querycloak.logs.query_log import QueryLog
from querycloak.logs.sink import write_log
from querycloak.logs.source import read_log
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.releases.files import read_release as read_release_files
from querycloak.releases.files import write_release
from querycloak.releases.release import Release
from querycloak.releases.truth_file import read_truth, write_truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.audit_result import Audit
    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.reproduce.run import Reproduction
    from querycloak.generator.generated_log import GeneratedLog
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.resolver import Resolver, TableResolver
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.measures.score import Score
    from querycloak.releases.verify import Finding
    from querycloak.settings import Settings

__all__ = [
    "MethodDescription",
    "QueryLog",
    "Release",
    "Workbench",
    "anonymize",
    "attack",
    "audit",
    "check",
    "compare",
    "describe_method",
    "explain",
    "generate",
    "list_methods",
    "load_directory",
    "load_resolver",
    "load_taxonomy",
    "map_log",
    "measure",
    "read_log",
    "read_release",
    "read_truth",
    "reproduce",
    "verify",
    "write_generated",
    "write_log",
    "write_release",
    "write_truth",
]

P = ParamSpec("P")
R = TypeVar("R")


def _checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a keyword that a function does not take with the nearest that it takes."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        _refuse_unknown(function.__name__, keywords, known)
        return function(*args, **keywords)

    return call


def _refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    names = set(known)
    for name in given:
        if name not in names:
            raise ParameterError.unknown(function, name, names)


def anonymize(
    log: QueryLog,
    method: str,
    *,
    settings: Settings | None = None,
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    learn_from_clicks: bool = False,
    progress: Progress = QUIET,
    **options: Any,
) -> Release:
    """Run a method on a log, and return the release with its privacy statement.

    `options` are the settings of the method; or give all at once as `settings`, an object of its settings class.
    `taxonomy` is WordNet by default; a stream method has the categories of queries from `topics`, unless as in the
    paper.
    Without a seed, randomness is the operating system's; a release made with a seed is for experiments only.
    `taxonomy`, `directory` and `resolver` are used by the methods that need them (`querycloak.describe_method`);
    `mapping` is how they read queries: `layers`, the default, `certain` ones alone, `segments`, or `phrases`, as the
    papers do; `layers:FILE` uses word vectors of one's own.

    Methods and their settings, with defaults; `print(querycloak.describe_method("sweep"))` explains those of one:

    .. methods
    sweep: min_query_users=None, rare=None, identifiers=None, famous=30, max_rows_per_user=None, kinds='none',
        as_in_paper=False, keep='none', time_grain='day', hash_tokens=False
    semantic-microaggregation: k=5, min_query_users=None, rare=None, identifiers=None, famous=30,
        max_rows_per_user=None, kinds='none', as_in_paper=False, keep='none', time_grain='day', refine=False,
        blocks='auto'
    plain-microaggregation: k=5, min_query_users=None, rare=None, identifiers=None, famous=30, max_rows_per_user=None,
        kinds='none', as_in_paper=False, keep='none', time_grain='day', refine=False, blocks='auto'
    syntactic-microaggregation: k=5, min_query_users=None, rare=None, identifiers=None, famous=30,
        max_rows_per_user=None, kinds='none', as_in_paper=False, keep='none', time_grain='day', refine=False
    url-microaggregation: k=5, min_query_users=None, rare=None, identifiers=None, famous=30, max_rows_per_user=None,
        kinds='none', as_in_paper=False, keep='none', time_grain='day', levels=5, similarity=None
    word-microaggregation: k=5, min_query_users=None, rare=None, identifiers=None, famous=30, max_rows_per_user=None,
        kinds='none', as_in_paper=False, keep='none', time_grain='day', levels=5, similarity=None, categories='all'
    click-graph-removal: k=2, sites=2, min_query_users=None, rare=None, identifiers=None, famous=30,
        max_rows_per_user=None, kinds='none', as_in_paper=False
    policy: rules='google-2024'
    clump: k=5, output_form='users', prune=None, search=10, order='decreasing', duplicates='keep',
        transactions='sets', choose=None, leftovers='all', lcg=None, refine=None, passes=4, as_in_paper=False
    partition: k=5, output_form='users', prune=None
    semantic-dp: epsilon=1.0, shape='user', rows_per_user=20, criterion='sqc1', domain='all', topics='paper',
        per_user_queries=None, epsilon_for='user', epsilon_times=1, weights='calibrated', rebuild='label',
        ledger=None, ledger_log=None
    histogram-dp: epsilon=1.0, per_user_queries=100, domain='topics', topics='paper', sensitivity='replace',
        ledger=None, ledger_log=None
    frequent-queries: epsilon=2.302585092994046, delta=1e-05, choose='sips', items='queries', clicks=False,
        per_user=None, counted_per_user=10, count_share=None, phrase_share=0.2, click_share=0.2, rounds=2,
        weights='short', output_form='table', ledger=None, ledger_log=None
    synthetic-dp: epsilon=3.0, delta=1e-06, choose='sips', per_user=50, clusters=16, clicks=True, start='2000-01-03',
        days=91, ledger=None, ledger_log=None
    self-adjusting: k=10, depth=5, ids='new', unclassified='keep', separator='/', min_query_users=None, rare=None,
        identifiers=None, famous=30, max_rows_per_user=None, kinds='none', as_in_paper=False, max_phrases=10000000,
        hold=0
    fixed-depth: k=10, depth=5, ids='new', unclassified='keep', separator='/', min_query_users=None, rare=None,
        identifiers=None, famous=30, max_rows_per_user=None, kinds='none', as_in_paper=False, max_phrases=10000000
    flat: k=10, depth=1, ids='new', unclassified='keep', separator='/', min_query_users=None, rare=None,
        identifiers=None, famous=30, max_rows_per_user=None, kinds='none', as_in_paper=False, max_phrases=10000000
    .. end of methods

    >>> log = QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> anonymize(log, "sweep", min_query_users=2)
    LogRelease(sweep, 2 rows)
    >>> from querycloak.methods.suppression.sweep import Sweep
    >>> anonymize(log, "sweep", settings=Sweep(min_query_users=2))
    LogRelease(sweep, 2 rows)
    """
    entry = find_method(method)
    names = [f.name for f in fields(entry.settings)]
    _refuse_unknown("anonymize", options, [*names, *_ANONYMIZE])
    if settings is not None:
        if options:
            raise ParameterError(f"anonymize() takes `settings` or {min(options)!r} as a keyword, not both.")
        if not isinstance(settings, entry.settings):
            raise ParameterError.of("settings", f"a {entry.settings.__name__} for {method!r}", type(settings).__name__)
        options = settings.to_json()
    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    return bench.anonymize(method, seed=seed, **options)


_ANONYMIZE = [name for name in inspect.signature(anonymize).parameters if name != "options"]


@_checked
def attack(
    log: QueryLog,
    release: Release,
    *,
    names: Sequence[str] | None = None,
    rerun: bool = True,
    also: Sequence[Release] = (),
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    learn_from_clicks: bool = False,
    progress: Progress = QUIET,
) -> list[AttackResult]:
    """Run every attack that fits the release, or those named. The release must hold its truth, to keep score.

    With `rerun` the method is run again on parts of the log, for the baseline of people held out and for attacks that
    need further releases. `also` are other releases of the same log, with their truth. Queries are read by the mapping
    of the release's statement, unless `mapping` names another.
    """
    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    bench = bench.for_release(release)
    return bench.attack(release, names, seed, rerun=rerun, also=also)


@_checked
def measure(
    log: QueryLog,
    release: Release,
    *,
    names: Sequence[str] | None = None,
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    learn_from_clicks: bool = False,
    progress: Progress = QUIET,
) -> list[Score]:
    """Run every measure that fits the release, or those named."""
    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    bench = bench.for_release(release)
    return bench.measure(release, names, seed)


@_checked
def compare(
    log: QueryLog,
    methods: Sequence[str] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    output: str | PathLike[str] | None = None,
    limits: Limits | None = None,
    tasks: Sequence[str] = ("popularity", "topics"),
    draws: int = 3,
    seed: int = 1,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    learn_from_clicks: bool = False,
    progress: Progress = QUIET,
) -> Comparison:
    """Run methods side by side on a log, attack and measure each release, and return what was found.

    `methods` are names (None = all), `grid` the values to try of their settings: `{"k": [2, 5]}`. `tasks` are what the
    release is for, `limits` what it may cost; `Comparison.advice` says which run to publish, if any. Each run makes
    `draws` releases, with other seeds, for the spread of the papers' measures (`evaluation.spread`). A folder `output`
    gets `report.html`, `results.json`, `results.csv`, and every finished run, so that the same call continues after an
    interruption. Without it nothing is written.
    """
    from querycloak.evaluation.compare import compare as run
    from querycloak.evaluation.compare import plan_runs
    from querycloak.evaluation.limits import LIMITS
    from querycloak.report.html import write_report

    if methods is None:
        methods = sorted(name for name, entry in METHODS.items() if not (learn_from_clicks and entry.is_private))
    plans = plan_runs(methods, grid or {}, draws)
    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    folder = None if output is None else Path(output)
    known = _digest(directory, resolver) if folder is not None else ""
    found = run(
        bench,
        plans,
        folder,
        seed=seed,
        limits=LIMITS if limits is None else limits,
        tasks=tuple(tasks),
        knowledge=known,
        progress=progress,
    )
    if folder is not None:
        write_report(found, folder)
    return found


def audit(
    method: str,
    *,
    runs: int = 2000,
    pairs: Iterable[str] | None = None,
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    progress: Progress = QUIET,
    **options: Any,
) -> Audit:
    """Run a differentially private method many times on neighbouring logs, and bound its epsilon from below.

    `options` are the settings of the method. `runs` are those of each side of each pair that is measured, `pairs` names
    of pairs (None = all that fit). Without a seed the noise is that of releases. Without a taxonomy, one of seven
    concepts is used. `Audit.passed` is False where a bound is above the claim: then the claim is wrong, up to an error
    of 0.1 %. That it is True proves nothing.
    """
    from querycloak.evaluation.audit import audit as run

    return run(
        method, runs=runs, pairs=pairs, seed=seed, taxonomy=taxonomy, mapping=mapping, progress=progress, **options
    )


@_checked
def check(
    log: QueryLog,
    release: Release,
    *,
    limits: Limits | None = None,
    tasks: Sequence[str] = ("popularity", "topics"),
    rerun: bool = True,
    output: str | PathLike[str] | None = None,
    seed: int = 0,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    learn_from_clicks: bool = False,
    progress: Progress = QUIET,
) -> ReleaseCheck:
    """Judge one release: `verdict` is RELEASE, DO NOT RELEASE or NEEDS A HUMAN, `reasons` says why.

    With `rerun` the method is run again on parts of the log, for baselines. `output` gets a page for a person to read.
    """
    from querycloak.evaluation.assess import Assessor
    from querycloak.evaluation.check import check_release
    from querycloak.evaluation.limits import LIMITS, check_tasks
    from querycloak.report.check_page import write_check_page

    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    bench = bench.for_release(release)
    found = check_release(
        Assessor(bench, seed, progress),
        release,
        limits=LIMITS if limits is None else limits,
        tasks=check_tasks(tuple(tasks)),
        rerun=rerun,
    )
    if output is not None:
        write_check_page(found, Path(output))
    return found


@_checked
def reproduce(
    paper: str,
    log: QueryLog | None = None,
    *,
    output: str | PathLike[str],
    users: int | None = None,
    draws: int | None = None,
    quick: bool = False,
    seed: int = 1,
    repeat: str = "",
    taxonomy: Taxonomy | str | PathLike[str] = "wordnet",
    mapping: str | None = None,
    directory: SiteDirectory | None = None,
    resolver: Resolver | None = None,
    progress: Progress = QUIET,
) -> Reproduction:
    """Repeat the experiments of a paper on a log, and say which of its findings are found there.

    Without a log, one like the paper's is generated for every draw. `users` (default: as many as the paper had, or as
    the log has) and `quick` make it smaller; `draws` is how often everything is run. Queries are read as in the paper,
    unless `mapping` says otherwise. The folder `output` gets
    `reproduction.html`, a picture per figure, `results.csv`, and every finished run, so that the same call continues
    after an interruption. These are experiments with known seeds: no release is written, and nothing of it is for
    publishing.
    """
    from querycloak.evaluation.reproduce.papers import find_paper
    from querycloak.evaluation.reproduce.run import reproduce as run
    from querycloak.evaluation.reproduce.source import sampled
    from querycloak.mapping.modes import check_mapping
    from querycloak.report.reproduction import write_reproduction

    chosen = find_paper(paper)
    mapping = check_mapping(mapping or chosen.mapping)
    tree = load_taxonomy(taxonomy)
    if users is None and quick:
        users = chosen.quick_users if log is None else min(chosen.quick_users, len(log.users))
    if log is None:
        from querycloak.generator.draws import generated_logs

        source = generated_logs(chosen, tree, users, progress, mapping=mapping)
    else:
        bench = Workbench(log, tree, directory, resolver, mapping=mapping)
        source = sampled(bench, chosen, users, _digest(directory, resolver))
    source = replace(source, says=f"{source.says}; mapping: {mapping}")
    folder = Path(output)
    found = run(chosen, source, folder, draws=draws, seed=seed, quick=quick, repeat=repeat, progress=progress)
    write_reproduction(found, folder)
    return found


def _digest(*knowledge: object) -> str:
    """Return what tells one directory or resolver from another, so that runs of the other are not taken for done."""
    import hashlib
    import pickle

    return hashlib.sha256(pickle.dumps(knowledge)).hexdigest()


@_checked
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


@_checked
def explain(
    query: str, *, taxonomy: Taxonomy | str | PathLike[str] = "wordnet", mapping: str | None = None
) -> list[tuple[str, list[str]]]:
    """Show what a query maps to, step by step: (title, lines) of each step."""
    return mapper_of(load_taxonomy(taxonomy), mapping).explain(query)


@_checked
def load_directory(path: str | PathLike[str], *, progress: Progress = QUIET) -> SiteDirectory:
    """Load a directory of sites: a table of site and category path, or an Open Directory dump of content."""
    from querycloak.knowledge.table import read_directory

    return read_directory(Path(path), progress=progress)


@_checked
def load_resolver(path: str | PathLike[str]) -> TableResolver:
    """Load a table of query and URL, which finds the site of queries without a click."""
    from querycloak.knowledge.resolver import read_resolver

    return read_resolver(Path(path))


@_checked
def verify(
    path: str | PathLike[str],
    log: QueryLog | None = None,
    *,
    truth: str | PathLike[str] | None = None,
    public_key: str | PathLike[str] | None = None,
) -> list[Finding]:
    """Check from its files alone whether a release keeps what its statement says.

    With the log its ids are checked too, with log and truth whether the release was made from exactly this log, with a
    public key who signed the statement.
    """
    from querycloak.releases.verify import verify as run

    return run(path, log, truth=truth, public_key=public_key)


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

    _refuse_unknown("generate", options, [*(f.name for f in fields(Generate)), "taxonomy", "seed", "progress"])
    return run(Generate.from_json(options), load_taxonomy(taxonomy), Randomness(seed), progress)


@_checked
def write_generated(generated: GeneratedLog, path: str | PathLike[str], *, truth: bool = False) -> list[Path]:
    """Write a generated log, its directory and, where asked, its truth; return the paths written."""
    from querycloak.generator.write import write_generated as run

    return run(generated, Path(path), truth=truth)


@_checked
def read_release(
    path: str | PathLike[str], *, log: QueryLog | None = None, truth: str | PathLike[str] | None = None
) -> Release:
    """Read a release with its statement.

    With the `log` that it was made from, a release of another log is refused; with the file of its `truth` too, it can
    be attacked.
    """
    release = read_release_files(Path(path))
    if log is None:
        if truth is not None:
            raise ParameterError("read_release() needs `log` to read a truth: its ids are those of the log.")
        return release
    rows = release.statement.counts_in.get("rows")
    if rows is not None and rows != len(log):
        raise InputError.at(
            path, f"does not belong to this log: it was made from {rows:,} rows, the log has {len(log):,}"
        )
    return release if truth is None else replace(release, truth=read_truth(Path(truth), log, release))
