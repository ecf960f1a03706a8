"""`querycloak anonymize`: a log in, a release and its statement out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.setting_options import given_settings

__all__ = ["anonymize"]


def anonymize(
    context: typer.Context,
    log: Annotated[
        Path, typer.Argument(help="The query log; its format is recognised by content.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the release goes.", show_default=False)],
    method: Annotated[
        str, typer.Option("--method", "-m", help="Name of the method; see `querycloak methods`.", show_default=False)
    ],
    columns: Annotated[
        str | None,
        typer.Option(help="Which column plays which role: `user=uid,query=q`.", show_default=False),
    ] = None,
    taxonomy: Annotated[str, typer.Option(help="`wordnet`, or a file.")] = "wordnet",
    directory: Annotated[
        Path | None,
        typer.Option(
            help="Sites and their categories, for methods that look sites up: a table, or `content.rdf.u8`.",
            show_default=False,
        ),
    ] = None,
    resolver: Annotated[
        Path | None,
        typer.Option(help="Query and URL, a line each: the site of queries without a click.", show_default=False),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Also write which original user each published id stands for, to keep score of attacks. "
            "This file undoes the release: mode 0600, never share it.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Repeatable randomness, for experiments only. Default: the operating system's.", show_default=False
        ),
    ] = None,
) -> None:
    """Turn a log into a release, and write its privacy statement beside it as `OUTPUT.statement.json`.

    Example: `querycloak anonymize log.tsv -o release.tsv --method sweep --min-query-users 5`
    """
    from querycloak import api
    from querycloak.cli.inputs import check_outputs, parse_columns
    from querycloak.cli.progress import ShownProgress

    check_outputs(log, output, truth)
    with ShownProgress() as progress:
        progress.tell_compiling()
        progress.start("reading the log")
        queries = api.read_log(log, columns=parse_columns(columns), progress=progress)
        for kind, count in queries.problems.items():
            progress.note(f"{log}: {count:,} {kind}")
        release = api.anonymize(
            queries,
            method,
            seed=seed,
            taxonomy=taxonomy,
            directory=None if directory is None else api.load_directory(directory, progress=progress),
            resolver=None if resolver is None else api.load_resolver(resolver),
            progress=progress,
            **given_settings(context),
        )
        progress.start("writing the release")
        api.write_release(release, output)
        if truth is not None:
            api.write_truth(release, queries, truth)
            progress.note(f"{truth} tells who is who in the release: keep it, never share it.")
    typer.echo(release.statement.short())
    typer.echo(f"release:   {output}\nstatement: {output}.statement.json")
