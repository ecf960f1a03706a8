"""Many releases: methods side by side, the proof of a bound, the experiments of the papers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.api.keywords import checked
from querycloak.catalog import METHODS
from querycloak.evaluation.workbench import Workbench, load_taxonomy
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from querycloak.evaluation.audit_result import Audit
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.reproduce.run import Reproduction
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.resolver import Resolver
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog

__all__ = ["audit", "compare", "reproduce"]


@checked
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
    safe_csv: bool = True,
    progress: Progress = QUIET,
) -> Comparison:
    """Run methods side by side on a log, attack and measure each release, and return what was found.

    `methods` are names (None = all), `grid` the values to try of their settings: `{"k": [2, 5]}`. `tasks` are what the
    release is for, `limits` what it may cost; `Comparison.advice` says which run to publish, if any. What is returned
    shows itself as a table, and `Comparison.table()` returns it as a Polars table, one row per run. Each run makes
    `draws` releases, with other seeds, for the spread of the papers' measures (`evaluation.spread`). A folder `output`
    gets `report.html`, `results.json`, `results.csv`, and every finished run, so that the same call continues after an
    interruption. Without it nothing is written. `safe_csv` keeps spreadsheets from taking a text of `results.csv` for
    a formula. The releases are for comparing: the one that is chosen is made again by `anonymize`, without a seed.

    For example `compare(log, ["sweep", "semantic-microaggregation"], {"k": [3, 5]}, tasks=["topics"])` tries `sweep`
    once and `semantic-microaggregation` twice, next to the log with new ids alone; examples/methods_side_by_side.py
    shows what is returned.
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
    known = digest_of_knowledge(directory, resolver) if folder is not None else ""
    found = run(
        bench,
        plans,
        folder,
        seed=seed,
        limits=LIMITS if limits is None else limits,
        tasks=tuple(tasks),
        knowledge=known,
        safe_csv=safe_csv,
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

    >>> import querycloak as qc
    >>> found = qc.audit("histogram-dp", epsilon=1.0, runs=100, pairs=["another interest"], seed=1)
    >>> found.passed, found.measured[0].claim
    (True, 1.0)
    """
    from querycloak.evaluation.audit import audit as run

    return run(
        method, runs=runs, pairs=pairs, seed=seed, taxonomy=taxonomy, mapping=mapping, progress=progress, **options
    )


@checked
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
    safe_csv: bool = True,
    progress: Progress = QUIET,
) -> Reproduction:
    """Repeat the experiments of a paper on a log, and say which of its findings are found there.

    Without a log, one like the paper's is generated for every draw. `users` (default: as many as the paper had, or as
    the log has) and `quick` make it smaller; `draws` is how often everything is run. Queries are read as in the paper,
    unless `mapping` says otherwise. The folder `output` gets
    `reproduction.html`, a picture per figure, `results.csv`, and every finished run, so that the same call continues
    after an interruption; `safe_csv` keeps spreadsheets from taking a text of it for a formula. These are experiments
    with known seeds: no release is written, and nothing of it is for publishing.

    For example `reproduce("batet-2013", output="batet", quick=True)`; docs/reproductions.md has the papers.
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
        source = sampled(bench, chosen, users, digest_of_knowledge(directory, resolver))
    source = replace(source, says=f"{source.says}; mapping: {mapping}")
    folder = Path(output)
    given = {"draws": draws, "seed": seed, "quick": quick, "repeat": repeat, "safe_csv": safe_csv}
    found = run(chosen, source, folder, **given, progress=progress)  # type: ignore[arg-type]
    write_reproduction(found, folder)
    return found


def digest_of_knowledge(*knowledge: object) -> str:
    """Return what tells one directory or resolver from another, so that runs of the other are not taken for done."""
    import hashlib
    import pickle

    return hashlib.sha256(pickle.dumps(knowledge)).hexdigest()
