"""`querycloak measure`: what a release is still good for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.log_options import QuietOption, reads_log
from querycloak.cli.options import DirectoryOption, ResolverOption, TaxonomyOption
from querycloak.logs.read_options import ReadOptions

__all__ = ["measure"]


@reads_log
def measure(
    log: Annotated[Path, typer.Argument(help="The original log.", show_default=False)],
    release: Annotated[
        Path, typer.Argument(help="A release of it, with its statement next to it.", show_default=False)
    ],
    truth: Annotated[
        Path | None, typer.Option(help="The release's truth, for measures that compare users.", show_default=False)
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Names of measures, separated by commas.", show_default=False)
    ] = None,
    taxonomy: TaxonomyOption = "wordnet",
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    seed: Annotated[int, typer.Option(help="Of the measures' random choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Run every measure that fits a release."""
    from querycloak import api
    from querycloak.cli.inputs import open_bench
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import measure_rows, print_json, print_table

    with ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = open_bench(log, options, taxonomy, directory, resolver, progress)
        published = api.read_release(release, log=bench.log, truth=truth)
        scores = bench.measure(published, only.split(",") if only else None, seed)
    if as_json:
        print_json(scores)
    else:
        print_table(["measure", "value", "better"], measure_rows(scores))
