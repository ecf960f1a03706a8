"""`querycloak stream`: records in, records out, while they come."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.command import effective_words
from querycloak.cli.log_options import reads_log
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import TAXONOMIES, SafeCsvOption, SeedOption, SignOption
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say_text
from querycloak.cli.setting_options import given_settings, stream_method
from querycloak.cli.shard_options import Parts, is_sharded, of_shard, secret_of
from querycloak.cli.watch_options import Watch, is_watched
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.live.run import Run

__all__ = ["stream"]


@reads_log
@maps_queries
@is_watched
@is_sharded
def stream(
    context: typer.Context,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="self-adjusting, nearest, fixed-depth or flat.",
            autocompletion=completion.stream_methods,
        ),
    ] = "self-adjusting",
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--input",
            "-i",
            metavar="ADDRESS",
            help="The log: a file, nats://host:port/SUBJECT, redis://host:port/KEY or kafka://host:port/TOPIC. "
            "Default, or `-`: standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--to",
            "--output",
            "-o",
            metavar="ADDRESS",
            help="Where records go as they leave: the same kinds of address. Default, or `-`: standard output.",
            show_default=False,
        ),
    ] = None,
    statement: Annotated[
        Path | None,
        typer.Option(help="Where the privacy statement goes. Default: next to the output.", show_default=False),
    ] = None,
    taxonomy: Annotated[
        str | None,
        typer.Option(
            autocompletion=completion.taxonomies,
            help=f"Where there is no category column, queries are mapped to this: {TAXONOMIES} Default: `topics`; with "
            "--as-in-paper `wordnet`.",
            show_default=False,
        ),
    ] = None,
    max_wait: Annotated[float, typer.Option(help="Seconds after which an unfinished batch is handled.", min=0.0)] = 1.0,
    stats: Annotated[
        Path | None,
        typer.Option(
            help="Also write the summary, with more figures, as JSON; and every 10 s on the way.", show_default=False
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the state: after a crash the same command goes on. It holds personal data while the "
            "run lasts (mode 0600). Needs --from and --to that are files or brokers.",
            show_default=False,
        ),
    ] = None,
    checkpoint_records: Annotated[int, typer.Option(help="Save after so many records,", min=1)] = 1_000_000,
    checkpoint_seconds: Annotated[float, typer.Option(help="or after so many seconds.", min=0.0)] = 30.0,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Also write who asked each published query, to keep score of attacks. "
            "This file undoes the release: mode 0600, never share it.",
            show_default=False,
        ),
    ] = None,
    safe_csv: SafeCsvOption = True,
    sign: SignOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
    *,
    watch: Watch,
    parts: Parts,
    mapping: str | None,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Anonymize a stream: each record leaves as it came, under the id of another user of its category.

    What still waits when the input ends cannot leave under the rules, and is dropped. Ctrl-C ends a live stream. With
    `--json` the summary is JSON: on standard output, or where that has the records, on standard error as one line.

    Example: `tail -f log.tsv | querycloak stream --k 10 --depth 5 > release.tsv`
    """
    from querycloak.cli.command_line import shown_command
    from querycloak.cli.early_checks import refuse_standard_output
    from querycloak.cli.inputs import announce_input, check_outputs
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.shards import ChildProgress, follow_parent
    from querycloak.cli.stream_summary import short_summary
    from querycloak.cli.watched_run import watched_run
    from querycloak.errors import UserError
    from querycloak.evaluation.workbench import load_taxonomy, mapper_of
    from querycloak.knowledge.named import usual_categories
    from querycloak.live.address import parse_place, refuse_addresses
    from querycloak.live.runner import Run, run_stream
    from querycloak.logs.atomic import is_pipe
    from querycloak.mapping.mapped_paths import LazyPaths
    from querycloak.mapping.modes import check_mapping
    from querycloak.releases.signing import read_signing_key

    begin, end = parse_place(source), parse_place(output)
    refuse_addresses(statement=statement, truth=truth, stats=stats, checkpoint=checkpoint, log=watch.log)
    file_in, file_out = (place if isinstance(place, Path) else None for place in (begin, end))
    announce_input(file_in)
    entry = stream_method(method)
    settings = entry.settings.from_json(given_settings(context))
    if taxonomy is None:
        taxonomy = usual_categories(as_in_paper=bool(settings.to_json()["as_in_paper"]))
    run = Run(
        method=entry.name,
        settings=settings,  # type: ignore[arg-type]
        source=begin,
        output=end,
        statement=statement,
        truth=truth,
        stats=stats,
        checkpoint=checkpoint,
        checkpoint_records=checkpoint_records,
        checkpoint_seconds=checkpoint_seconds,
        options=options,
        max_wait=max_wait,
        safe_csv=safe_csv,
        seed=seed,
        taxonomy=taxonomy,
        mapping=check_mapping(mapping),
        key=None if sign is None else read_signing_key(sign),
        command=shown_command([word for word in effective_words(context) if word != "--child"]),
        take_over=parts.take_over,
    )
    if parts.count is not None:
        watch.check_shards(parts.count)
        _run_shards(run, parts, as_json=as_json, quiet=quiet)
        return
    if parts.shard is not None:
        run = replace(of_shard(run, parts.shard), secret=secret_of(parts, settings.to_json()["ids"], seed))
        watch = watch.of_shard(parts.shard)
        begin, end, truth, stats = run.source, run.output, run.truth, run.stats
        file_out = end if isinstance(end, Path) else None
    if run.key is not None and run.statement_path is None:
        raise UserError("--sign signs the statement, and none is written here: say where with --statement FILE.")
    refuse_standard_output(statement=statement, truth=truth, stats=stats, log=watch.log)
    read = [Path("/dev/stdin") if begin is None else file_in, taxonomy, sign]
    check_outputs(read, [file_out, run.statement_path, truth, stats, watch.log])
    quiet = quiet or watch.instead_of_notes
    shown = ChildProgress() if parts.child else ShownProgress(quiet=quiet)
    if parts.child:
        follow_parent()
    with shown as progress, watched_run(watch, run, progress) as watcher:
        progress.tell_compiling()
        if truth is not None:
            progress.note(f"{truth} tells who asked each query of the release: keep it, never share it.")
        known = partial(load_taxonomy, taxonomy)
        found = run_stream(run, LazyPaths(lambda: mapper_of(known(), run.mapping)), progress, known, watcher)
    if found is None:
        return
    signature = "unsigned" if run.key is None else f"Ed25519, key {run.key.public.fingerprint}"
    if as_json or parts.child:
        ended = {"finished": found.finished, "signal": found.signal, "kept_in_checkpoint": found.kept}
        files = {"release": "-" if end is None else str(end), "statement_file": run.statement_path, "truth": truth}
        about = {"signature": signature, "command": run.command, "stats": found.stats, "statement": found.statement}
        document = {"method": entry.name, **files, **ended, **about}
        if isinstance(shown, ChildProgress):
            shown.summary(document)
        else:
            print_json(document, to_stderr=end is None or is_pipe(file_out))
    elif not quiet:
        say_text(short_summary(found, signature), err=True)
    if found.signal:
        raise typer.Exit(128 + found.signal)


def _run_shards(run: Run, parts: Parts, *, as_json: bool, quiet: bool) -> None:
    """Run all shards, and say what they came to."""
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.shards import joined_summary, run_children

    with ShownProgress(quiet=quiet) as progress:
        code, found = run_children(run, parts, progress)
    if as_json:
        print_json({"method": run.method, "shards": found, "finished": code == 0})
    elif found and not quiet:
        say_text(joined_summary(found, parts.count or 1), err=True)
    if code:
        raise typer.Exit(code)
