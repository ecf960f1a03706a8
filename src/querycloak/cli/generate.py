"""`querycloak generate`: a log with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.options import NamedTaxonomyOption, SafeCsvOption
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say
from querycloak.cli.setting_options import given_settings

__all__ = ["generate"]


def generate(
    context: typer.Context,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the log goes; `-`: standard output.", show_default=False)
    ],
    truth: Annotated[
        bool, typer.Option("--truth", help="Also write what each query is about, as `<OUTPUT's stem>.truth.tsv`.")
    ] = False,
    taxonomy: NamedTaxonomyOption = "wordnet",
    safe_csv: SafeCsvOption = True,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same log.", show_default=False)] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Generate a log in the AOL format, and the directory of its sites next to it. No real person is in it.

    Example: `querycloak generate --users 1000 --queries 56000 --seed 1 -o log.tsv`
    """
    from querycloak import api
    from querycloak.cli.progress import ShownProgress
    from querycloak.logs.atomic import check_output, is_pipe, is_standard_output
    from querycloak.logs.locks import locked

    check_output(output)
    with locked(None if is_pipe(output) else output), ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        made = api.generate(taxonomy=taxonomy, seed=seed, progress=progress, **given_settings(context))
        progress.start("writing the log")
        written = api.write_generated(made, output, truth=truth, safe_csv=safe_csv)
    log, to_stderr = made.log, is_standard_output(output)
    rows, events, users = len(log), int(log.event.sum()), len(log.users)
    if as_json:
        files = {"log": output, "files": written}
        print_json({**files, "rows": rows, "query_events": events, "users": users}, to_stderr=to_stderr)
        return
    say(f"{rows:,} rows, {events:,} query events, {users:,} users", err=to_stderr)
    for path in written:
        say(str(path), err=to_stderr)
