"""`querycloak attack`: how risky a release is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.limit_options import RerunOption
from querycloak.cli.log_options import reads_log
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import (
    DirectoryOption,
    LearnOption,
    LogArgument,
    ReleaseArgument,
    ResolverOption,
    SensitiveOption,
    TaxonomyOption,
)
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["attack"]


@reads_log
@maps_queries
def attack(
    log: LogArgument,
    release: ReleaseArgument,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The release's truth, as `anonymize --truth` wrote it: needed to keep score, but for counts.",
            show_default=False,
        ),
    ] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option(
            help="Another release of the same log: `intersection` combines them. Repeat it for more.",
            show_default=False,
        ),
    ] = None,
    also_truth: Annotated[
        list[Path] | None,
        typer.Option(help="The truth of each --also, in the same order.", show_default=False),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Names of attacks, separated by commas.", show_default=False, autocompletion=completion.attacks
        ),
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            help="Exit with 1 where a release may add more than this to an attacker's rate: the upper end of the "
            "95 % interval of the lift, or the bound that the statement proves where that is smaller.",
            min=0,
            max=1,
            show_default=False,
        ),
    ] = None,
    taxonomy: TaxonomyOption = None,
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    learn: LearnOption = False,
    sensitive: SensitiveOption = None,
    rerun: RerunOption = True,
    seed: Annotated[int, typer.Option(help="Of the attackers' random choices.")] = 0,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Count what a release exposes, run every attack that fits it, and say how often each is right about a person.

    `right` is the attacker's rate, `without` that of the same attacker without the release, `lift` the difference and
    `at most` the upper end of its 95 % interval; `bound` is what the release's statement claims for just this rate.

    Example: `querycloak attack log.tsv release.tsv --truth truth.tsv --max-risk 0.2`
    """
    from querycloak.catalog import ATTACKS
    from querycloak.cli.early_checks import (
        check_header,
        check_knowledge,
        check_names,
        check_truth_given,
        release_statement,
        split_names,
    )
    from querycloak.cli.inputs import note_time, open_bench, read_for_judging
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import print_attacks, print_exposure
    from querycloak.errors import CheckFailedError
    from querycloak.evaluation.estimates import judge_seconds

    file = release_statement(release)
    names = check_names(ATTACKS, split_names(only), file)
    check_truth_given(file, truth, names)
    _check_others(also or [], also_truth or [])
    check_knowledge(taxonomy, directory, resolver, sensitive)
    check_header(log, options, learn=learn)
    with ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = open_bench(log, options, taxonomy, directory, resolver, progress, sensitive, mapping, learn=learn)
        published = read_for_judging(release, truth, bench.log)
        bench = bench.for_release(published)
        others = _read_others(also or [], also_truth or [], bench.log)
        if names is None and rerun:
            note_time(judge_seconds(file.statement.method, len(bench.log)), progress)
        found = bench.try_attacks(published, names, seed, rerun=rerun, also=others)
        progress.start("exposure")
        open_to_all = bench.exposure_of(published)
    if as_json:
        print_json(
            {"exposure": open_to_all, "attacks": found.results, "not_run": found.not_run, "nothing": found.nothing}
        )
    else:
        print_exposure(open_to_all)
        print_attacks(found.results, found.not_run, found.nothing)
    over = [r for r in found.results if max_risk is not None and r.names_people and r.targets and r.judged > max_risk]
    if over:
        worst = max(over, key=lambda r: r.judged)
        raise CheckFailedError(
            f"{worst.attack} may gain {worst.judged:.1%} by the release (right {worst.rate:.1%}, without it "
            f"{worst.baseline.rate:.1%}), above --max-risk {max_risk:g}."
        )


def _check_others(releases: list[Path], truths: list[Path]) -> None:
    """Refuse other releases without their truth, or that publish no logs of people, by their statements."""
    from querycloak.cli.early_checks import release_statement
    from querycloak.errors import UserError
    from querycloak.releases.release import KINDS

    if len(releases) != len(truths):
        raise UserError(
            f"Each --also needs its --also-truth, in the same order; found {len(releases)} of --also and "
            f"{len(truths)} of --also-truth."
        )
    for path in releases:
        file = release_statement(path)
        if not KINDS[file.kind].holds_user_logs:
            raise UserError(
                f"{path} is a release of {file.statement.method}, which publishes no logs of people: "
                "--also takes releases that do."
            )


def _read_others(releases: list[Path], truths: list[Path], log: QueryLog) -> list[Release]:
    """Read other releases of a log, each with its truth."""
    from dataclasses import replace

    from querycloak import api

    read = []
    for path, truth in zip(releases, truths, strict=True):
        other = api.read_release(path, log=log)
        read.append(replace(other, truth=api.read_truth(truth, log, other)))
    return read
