"""`querycloak attack`: how risky a release is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.log_options import QuietOption, reads_log
from querycloak.cli.options import DirectoryOption, ResolverOption, TaxonomyOption
from querycloak.logs.read_options import ReadOptions

__all__ = ["attack"]


@reads_log
def attack(
    log: Annotated[Path, typer.Argument(help="The original log.", show_default=False)],
    release: Annotated[
        Path, typer.Argument(help="A release of it, with its statement next to it.", show_default=False)
    ],
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The release's truth, as `anonymize --truth` wrote it: needed to keep score, but for counts.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[str | None, typer.Option(help="Names of attacks, separated by commas.", show_default=False)] = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            help="Exit with 1 where an attack names users at a rate above this.", min=0, max=1, show_default=False
        ),
    ] = None,
    taxonomy: TaxonomyOption = "wordnet",
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    seed: Annotated[int, typer.Option(help="Of the attackers' random choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Run every attack that fits a release, and say how often each is right.

    Each has a 95 % interval, the rate of blind guessing, and the bound that the release's statement claims.
    """
    from querycloak import api
    from querycloak.cli.inputs import open_bench
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import attack_rows, print_json, print_table
    from querycloak.errors import CheckFailedError, UserError

    with ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = open_bench(log, options, taxonomy, directory, resolver, progress)
        published = api.read_release(release, log=bench.log, truth=truth)
        if len(published.log) == 0:
            raise UserError(f"{release} is empty: there is nothing to attack.")
        if truth is None and published.has_users:
            raise UserError("The attacks need the release's truth to keep score: add --truth FILE.")
        results = bench.attack(published, only.split(",") if only else None, seed)
    if as_json:
        print_json(results)
    else:
        print_table(["attack", "rate", "95 % interval", "guessing", "bound", "targets"], attack_rows(results))
    over = [r for r in results if max_risk is not None and r.names_people and r.rate > max_risk]
    if over:
        worst = max(over, key=lambda r: r.rate)
        raise CheckFailedError(
            f"{worst.attack} is right on {worst.rate:.1%} of its targets, above --max-risk {max_risk:g}."
        )
