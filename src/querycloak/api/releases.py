"""Releases: making one, reading it, and trying what it keeps and exposes."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.api.keywords import checked, refuse_unknown
from querycloak.catalog import method as find_method
from querycloak.display import ResultList
from querycloak.errors import InputError, ParameterError
from querycloak.evaluation.workbench import Workbench
from querycloak.progress import QUIET, Progress
from querycloak.releases.files import read_release as read_release_files
from querycloak.releases.truth_file import read_truth

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.evaluation.limits import Limits
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.resolver import Resolver
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.measures.score import Score
    from querycloak.releases.release import Release
    from querycloak.releases.verify import Finding
    from querycloak.settings import Settings

__all__ = ["anonymize", "attack", "check", "measure", "read_release", "verify"]


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

    `log` is what `read_log` returns, `method` one of the names below. `options` are the settings of the method; or give
    all at once as `settings`, an object of its settings class. What is returned has passed the gate: the published
    table was checked against every promise of its statement. `release.statement` says what is promised and what is not,
    `release.to_polars()` returns the rows, `write_release` writes both, and `check` says whether to publish them.

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
    self-adjusting: k=10, depth=5, unclassified='keep', separator='/', ids='run', epoch=None, time_grain=None,
        max_delay=None, max_age=None, min_query_users=None, rare=None, identifiers=None, famous=30,
        max_rows_per_user=None, kinds='none', as_in_paper=False, max_phrases=10000000, hold=0
    fixed-depth: k=10, depth=5, unclassified='keep', separator='/', ids='run', epoch=None, time_grain=None,
        max_delay=None, max_age=None, min_query_users=None, rare=None, identifiers=None, famous=30,
        max_rows_per_user=None, kinds='none', as_in_paper=False, max_phrases=10000000
    nearest: k=10, depth=5, unclassified='keep', separator='/', ids='run', epoch=None, time_grain=None,
        max_delay=5000, max_age=None, min_query_users=None, rare=None, identifiers=None, famous=30,
        max_rows_per_user=None, kinds='none', as_in_paper=False, max_phrases=10000000, pool=300
    flat: k=10, depth=1, unclassified='keep', separator='/', ids='run', epoch=None, time_grain=None, max_delay=None,
        max_age=None, min_query_users=None, rare=None, identifiers=None, famous=30, max_rows_per_user=None,
        kinds='none', as_in_paper=False, max_phrases=10000000
    .. end of methods

    >>> from querycloak.logs.query_log import QueryLog
    >>> log = QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> anonymize(log, "sweep", min_query_users=2)
    LogRelease(sweep, 2 rows)
    >>> from querycloak.methods.suppression.sweep import Sweep
    >>> anonymize(log, "sweep", settings=Sweep(min_query_users=2))
    LogRelease(sweep, 2 rows)
    """
    entry = find_method(method)
    names = [f.name for f in fields(entry.settings)]
    refuse_unknown("anonymize", options, [*names, *_ANONYMIZE])
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


@checked
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
) -> ResultList[AttackResult]:
    """Run every attack that fits the release, or those named. The release must hold its truth, to keep score.

    The list that is returned shows itself as a table: how often each attacker is right about people, how often without
    the release, and how much the release adds, at most. `names` are those of `querycloak attack --help`.

    With `rerun` the method is run again on parts of the log, for the baseline of people held out and for attacks that
    need further releases. `also` are other releases of the same log, with their truth. Queries are read by the mapping
    of the release's statement, unless `mapping` names another. With a `seed` the same call finds the same.

    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
    >>> found = qc.attack(log, release, names=["uniqueness"])
    >>> found.to_polars().select("attack", "rate", "targets").rows()
    [('uniqueness, queries', 0.0, 1), ('uniqueness, pairs', 0.0, 3)]
    """
    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    bench = bench.for_release(release)
    return bench.attack(release, names, seed, rerun=rerun, also=also)


@checked
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
) -> ResultList[Score]:
    """Run every measure that fits the release, or those named: what the papers measure of what is kept.

    The list that is returned shows itself as a table. `taxonomy` and `mapping` are those by which queries are read,
    `directory` and `resolver` what measures of categories of sites need; `check` and `compare` also try the release on
    tasks.

    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
    >>> qc.measure(log, release, names=["kept"])
    measure                 value  better
    volume kept            0.6667  higher
    distinct queries kept  0.5000  higher
    rows per user          1.0000  higher
    """
    bench = Workbench(
        log, taxonomy, directory, resolver, progress, mapping=mapping, learn_from_clicks=learn_from_clicks
    )
    bench = bench.for_release(release)
    return bench.measure(release, names, seed)


@checked
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

    Every attack and every task is tried. `limits` are what the release may cost people (`Limits`), `tasks` what it is
    for: it must be better for each of them than the same method run blindly. `print` shows the verdict, the reasons,
    what to change, and the regulators' three questions; `run` has every figure.

    With `rerun` the method is run again on parts of the log, for baselines. `output` gets a page for a person to read.

    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
    >>> found = qc.check(log, release, rerun=False)
    >>> found
    ReleaseCheck(sweep: DO NOT RELEASE)
    >>> found.reasons[0]
    'it was made with a seed: whoever guesses the seed can undo it'
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


@checked
def verify(
    path: str | PathLike[str],
    log: QueryLog | None = None,
    *,
    truth: str | PathLike[str] | None = None,
    public_key: str | PathLike[str] | None = None,
) -> ResultList[Finding]:
    """Check from its files alone whether a release keeps what its statement says.

    With the log its ids are checked too, with log and truth whether the release was made from exactly this log, with a
    public key who signed the statement. `holds` of a finding is None where the files cannot tell; the list that is
    returned shows itself as a table.

    >>> import tempfile
    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qc.write_release(qc.anonymize(log, "sweep", min_query_users=2), f"{folder}/release.tsv")
    ...     found = qc.verify(f"{folder}/release.tsv", log)
    >>> [finding.check for finding in found if finding.holds is False]
    []
    """
    from querycloak.releases.verify import verify as run

    return ResultList(run(path, log, truth=truth, public_key=public_key))


@checked
def read_release(
    path: str | PathLike[str], *, log: QueryLog | None = None, truth: str | PathLike[str] | None = None
) -> Release:
    """Read a release with its statement.

    `path` is that of the table; its statement is next to it. One without the other, or one that was edited, is refused.
    With the `log` that it was made from, a release of another log is refused; with the file of its `truth` too, it can
    be attacked.

    >>> import tempfile
    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qc.write_release(qc.anonymize(log, "sweep", min_query_users=2), f"{folder}/release.tsv")
    ...     release = qc.read_release(f"{folder}/release.tsv", log=log)
    >>> release
    LogRelease(sweep, 2 rows)
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
