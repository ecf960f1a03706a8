"""`querycloak check`: one verdict on one release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.limit_options import ForOption, RerunOption, has_limits, parse_tasks
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
from querycloak.cli.say import say
from querycloak.evaluation.limits import Limits
from querycloak.logs.read_options import ReadOptions

__all__ = ["check"]


@reads_log
@maps_queries
@has_limits
def check(
    log: LogArgument,
    release: ReleaseArgument,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The release's truth, as `anonymize --truth` wrote it; without it most attacks cannot keep score.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a page that a person can read.", show_default=False)
    ] = None,
    public_key: Annotated[
        Path | None, typer.Option(help="Who must have signed the statement.", show_default=False)
    ] = None,
    tasks: ForOption = "popularity,topics",
    method: Annotated[
        str | None,
        typer.Option(
            help="The method that made it. Default: as the statement says.",
            show_default=False,
            autocompletion=completion.methods,
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
    limits: Limits,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Say whether a release may leave the house: RELEASE, DO NOT RELEASE or NEEDS A HUMAN, and why.

    Exit codes: 0 release, 1 do not release, 2 a mistake on the command line, 3 needs a human.

    Example: `querycloak check log.tsv release.tsv --truth truth.tsv -o check.html`
    """
    from querycloak import api
    from querycloak.catalog import method as find_method
    from querycloak.cli.early_checks import (
        check_header,
        check_knowledge,
        check_tasks_possible,
        refuse_standard_output,
        release_statement,
    )
    from querycloak.cli.inputs import check_outputs, note_time, open_bench, read_for_judging
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import print_check
    from querycloak.errors import UserError
    from querycloak.evaluation.assess import Assessor
    from querycloak.evaluation.check import check_release
    from querycloak.evaluation.estimates import judge_seconds
    from querycloak.releases.signing import read_public_key
    from querycloak.releases.statement_file import statement_path
    from querycloak.report.check_page import write_check_page

    named = parse_tasks(tasks)
    inputs = [log, release, statement_path(release), truth, public_key, taxonomy, directory, resolver]
    check_outputs(inputs, [output])
    refuse_standard_output(output=output)
    file = release_statement(release)
    if method is not None and find_method(method).name != file.statement.method:
        raise UserError(f"{release} was made by {file.statement.method}, not by {method}.")
    check_tasks_possible(file, named, truth)
    if public_key is not None:
        read_public_key(public_key)
    check_knowledge(taxonomy, directory, resolver, sensitive)
    check_header(log, options, learn=learn)
    with ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = open_bench(log, options, taxonomy, directory, resolver, progress, sensitive, mapping, learn=learn)
        published = read_for_judging(release, truth, bench.log)
        bench = bench.for_release(published)
        note_time(judge_seconds(file.statement.method, len(bench.log)), progress)
        found = check_release(
            Assessor(bench, seed, progress),
            published,
            limits=limits,
            tasks=named,
            rerun=rerun,
            findings=api.verify(release, bench.log, truth=truth, public_key=public_key),
        )
        if output is not None:
            progress.start("writing the page")
            write_check_page(found, output)
    if as_json:
        print_json(found)
    else:
        print_check(found)
        if output is not None:
            say(f"page: {output}")
    raise typer.Exit(found.exit_code)
