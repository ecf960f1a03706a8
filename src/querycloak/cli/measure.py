"""`querycloak measure`: what a release is still good for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["measure"]


def measure(
    log: Annotated[Path, typer.Argument(help="The original log.", show_default=False)],
    release: Annotated[Path, typer.Argument(help="A release of it, with its statement beside.", show_default=False)],
    truth: Annotated[
        Path | None, typer.Option(help="The release's truth, for measures that compare users.", show_default=False)
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Names of measures, separated by commas.", show_default=False)
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns of the log: `user=uid,query=q`.", show_default=False)
    ] = None,
    taxonomy: Annotated[str, typer.Option(help="`wordnet`, or a file.")] = "wordnet",
    seed: Annotated[int, typer.Option(help="Of the measures' random choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run every measure that fits a release."""
    from querycloak import api
    from querycloak.cli.inputs import parse_columns
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import measure_rows, print_json, print_table

    with ShownProgress() as progress:
        progress.tell_compiling()
        original = api.read_log(log, columns=parse_columns(columns), progress=progress)
        published = api.read_release_of(original, release, truth)
        names = only.split(",") if only else None
        scores = api.measure(original, published, names=names, seed=seed, taxonomy=taxonomy, progress=progress)
    if as_json:
        print_json(scores)
    else:
        print_table(["measure", "value", "better"], measure_rows(scores))
