"""`querycloak anonymize`: a log in, a release and its statement out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.command import effective_words
from querycloak.cli.log_options import reads_log
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import (
    DirectoryOption,
    LearnOption,
    ResolverOption,
    SafeCsvOption,
    SeedOption,
    SignOption,
    TaxonomyOption,
)
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say, say_text
from querycloak.cli.setting_options import given_settings
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.progress import Progress
    from querycloak.releases.release import Release

__all__ = ["anonymize"]


@reads_log
@maps_queries
def anonymize(
    context: typer.Context,
    log: Annotated[
        Path, typer.Argument(help="The query log; its format is recognised by content.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Where the release goes; .parquet, .csv, .tsv, .jsonl or .json, with .gz or .zst after it, say in "
            "which form, else it is that of the log. `-`: standard output.",
            show_default=False,
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="Name of the method; see `querycloak methods`.",
            show_default=False,
            autocompletion=completion.methods,
        ),
    ],
    taxonomy: TaxonomyOption = None,
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    learn: LearnOption = False,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Also write which original user is behind each published id, to keep score of attacks. "
            "This file undoes the release: mode 0600, never share it.",
            show_default=False,
        ),
    ] = None,
    statement: Annotated[
        Path | None,
        typer.Option(
            help="Where the privacy statement goes. Default: next to the release, or nowhere for standard output.",
            show_default=False,
        ),
    ] = None,
    safe_csv: SafeCsvOption = True,
    sign: SignOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Turn a log into a release, and write its privacy statement next to it as `OUTPUT.statement.json`.

    With `-o -`, or a named pipe, the table goes there and all messages go to standard error; `--json` too.

    Example: `querycloak anonymize log.tsv -o release.tsv --method sweep --min-query-users 5`
    """
    from querycloak import api
    from querycloak.catalog import method as find_method
    from querycloak.cli.command_line import shown_command
    from querycloak.cli.early_checks import check_header, check_knowledge, check_method, refuse_standard_output
    from querycloak.cli.inputs import check_outputs, note_time, open_bench
    from querycloak.cli.people_checks import check_people, check_truth
    from querycloak.cli.progress import ShownProgress
    from querycloak.errors import UserError
    from querycloak.evaluation.estimates import release_seconds
    from querycloak.evaluation.learning import refuse_learning
    from querycloak.logs.atomic import is_pipe, is_standard_output
    from querycloak.logs.locks import locked
    from querycloak.releases.files import statement_path
    from querycloak.releases.signing import read_signing_key

    if statement is None and not is_pipe(output):
        statement = statement_path(output)
    settings = given_settings(context)
    entry = find_method(method)
    if learn:
        refuse_learning(entry.name, private=entry.is_private)
    ledger = settings.get("ledger")
    inputs = [log, taxonomy, directory, resolver, settings.get("topics"), ledger, f"{ledger}.key" if ledger else None]
    inputs += [settings.get("rules"), entry.given.get("rules")]
    refuse_standard_output(statement=statement, truth=truth)
    check_outputs([*inputs, sign], [output, statement, truth])
    checked = check_method(entry, settings)
    if truth is not None:
        check_truth(entry, checked)
    key = None if sign is None else read_signing_key(sign)  # a wrong key ends the command before any work is done
    if key is not None and statement is None:
        raise UserError("--sign signs the statement, and none is written here: say where with --statement FILE.")
    check_knowledge(taxonomy, directory, resolver)
    check_header(log, options, checked, learn=learn)
    files = [None if is_pipe(path) else path for path in (output, statement, truth)]
    with locked(*files), ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        _note_size(context, log, options, progress)
        bench = open_bench(log, options, taxonomy, directory, resolver, progress, mapping=mapping, learn=learn)
        check_people(entry, settings, bench.log, progress)
        note_time(release_seconds(entry.name, len(bench.log)), progress)
        release = bench.anonymize(method, seed=seed, **settings)
        _warn(release, progress)
        if truth is not None and release.truth is None:
            raise UserError(f"{entry.name} publishes no users here, so there is no truth to write: leave --truth out.")
        progress.start("writing the release")
        commitment = ""
        if truth is not None:  # before the release: a commitment whose salt is lost could never be opened
            commitment = api.write_truth(release, bench.log, truth)
        command = shown_command(effective_words(context))
        api.write_release(
            release,
            output,
            statement_to=statement,
            sign=key,
            command=command,
            commitment=commitment,
            safe_csv=safe_csv,
        )
        if truth is not None:
            progress.note(f"{truth} tells who is who in the release: keep it, never share it.")
        if statement is None:
            progress.note("No statement was written; without one nobody can verify the release. Use --statement FILE.")
    to_stderr = is_standard_output(output)
    signature = "unsigned" if key is None else f"Ed25519, key {key.public.fingerprint}"
    if as_json:
        written = {"release": output, "statement_file": statement, "truth": truth}
        about = {"rows": len(release.log), "signature": signature, "command": command, "statement": release.statement}
        print_json({"method": release.statement.method, **written, **about}, to_stderr=to_stderr)
        return
    say_text(release.statement.short(signature), err=to_stderr)
    say(f"release:   {output}", *(() if statement is None else (f"statement: {statement}",)), err=to_stderr)


def _note_size(context: typer.Context, log: Path, options: ReadOptions, progress: Progress) -> None:
    """Say before reading where a log is probably too large for memory, and what Spark would be told."""
    from querycloak.cli.spark_hint import spark_command
    from querycloak.logs.expected_size import too_large

    problem = too_large(log, options)
    if not problem:
        return
    progress.note(f"{problem}. Where it does not fit, reading stops and says so. With Spark it need not fit:")
    progress.note(spark_command(effective_words(context)))


def _warn(release: Release, progress: Progress) -> None:
    """Say so where little is left."""
    before = release.statement.counts_in.get("query events", 0)
    if len(release.log) == 0:
        progress.note("The release is empty: nothing passed the settings.")
    elif release.holds_user_logs and not release.holds_concepts and len(release.log) < before / 10:
        progress.note(f"Only {len(release.log):,} of {before:,} query events are published; the statement says why.")
