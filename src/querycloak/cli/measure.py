"""`querycloak measure`: what a release is still good for."""

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
    from querycloak.evaluation.utility import Utility

__all__ = ["measure"]


@reads_log
@maps_queries
def measure(
    log: LogArgument,
    release: ReleaseArgument,
    truth: Annotated[
        Path | None, typer.Option(help="The release's truth, for measures that compare users.", show_default=False)
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Names of measures, separated by commas.", show_default=False, autocompletion=completion.measures
        ),
    ] = None,
    taxonomy: TaxonomyOption = None,
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    learn: LearnOption = False,
    sensitive: SensitiveOption = None,
    rerun: RerunOption = True,
    seed: Annotated[int, typer.Option(help="Of the measures' random choices.")] = 0,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Say what a release is still good for: tasks, and the measures of the papers; what it exposes comes first.

    A task has 1 where the release does as well as the original log, and 0 where it does as well as the same method run
    blindly. With `--only`, the measures of the papers that are named are run, and nothing else.
    """
    from querycloak import api
    from querycloak.catalog import MEASURES
    from querycloak.cli.early_checks import check_header, check_knowledge, check_names, release_statement, split_names
    from querycloak.cli.inputs import open_bench
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import print_exposure, print_measures, print_utility
    from querycloak.evaluation.assess import Assessor

    names = check_names(MEASURES, split_names(only), release_statement(release))
    check_knowledge(taxonomy, directory, resolver, sensitive)
    check_header(log, options, learn=learn)
    with ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = open_bench(log, options, taxonomy, directory, resolver, progress, sensitive, mapping, learn=learn)
        published = api.read_release(release, log=bench.log, truth=truth)
        bench = bench.for_release(published)
        open_to_all = bench.exposure_of(published)
        useful: tuple[Utility, ...] = ()
        if names is None:
            assessor = Assessor(bench, seed, progress)
            useful = assessor.utility(published, assessor.trials(published, rerun=rerun))
        scores = bench.measure(published, names, seed)
    if as_json:
        print_json({"exposure": open_to_all, "tasks": useful, "measures": scores})
        return
    print_exposure(open_to_all)
    if useful:
        print_utility(useful)
    print_measures(scores)
