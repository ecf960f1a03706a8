"""`querycloak reproduce`: the experiments of a paper on a log."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.command import effective_words
from querycloak.cli.log_options import reads_log
from querycloak.cli.options import (
    DirectoryOption,
    NamedTaxonomyOption,
    ResolverOption,
    SafeResultsOption,
    known_mapping,
)
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say
from querycloak.evaluation.reproduce.papers import PAPERS
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.run import Reproduction

__all__ = ["reproduce"]


@reads_log
def reproduce(
    context: typer.Context,
    paper: Annotated[
        str,
        typer.Argument(
            help=f"{', '.join(f'`{name}`' for name in PAPERS)}.",
            show_default=False,
            autocompletion=completion.papers,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Directory for reproduction.html, the pictures and results.csv.", show_default=False
        ),
    ],
    log: Annotated[
        Path | None,
        typer.Argument(help="The query log. Default: one like the paper's is generated.", show_default=False),
    ] = None,
    generated: Annotated[
        bool, typer.Option("--generated", help="Generate a log: the same as leaving LOG out.")
    ] = False,
    users: Annotated[
        int | None,
        typer.Option(
            help="Users of each draw. Default: as many as the paper had, or as the log has.", show_default=False
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(help="How often everything is run. Default: 3, and 2 with --quick.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small log, two draws, few points of each axis.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the first draw; the next draws have the next ones.")] = 1,
    taxonomy: NamedTaxonomyOption = "wordnet",
    mapping: Annotated[
        str | None,
        typer.Option(
            "--mapping",
            help="How queries are read to find their concepts: `phrases` or `segments`. Default: as in the paper.",
            callback=known_mapping,
            autocompletion=completion.mappings,
            show_default=False,
        ),
    ] = None,
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    as_json: JsonOption = False,
    *,
    options: ReadOptions,
    safe_csv: SafeResultsOption = True,
    quiet: QuietOption = False,
) -> None:
    """Repeat the tables and figures of a paper on a log, and say of each of its findings whether it is found there.

    Methods run as in the paper, with known seeds: these are experiments, and no release is written. Interrupted, the
    same command goes on where it stopped.

    Example: `querycloak reproduce milani-fard-2010 --quick -o reproduction`
    """
    from querycloak import api
    from querycloak.cli.early_checks import check_folder, check_knowledge
    from querycloak.cli.inputs import open_bench
    from querycloak.cli.progress import ShownProgress
    from querycloak.errors import UserError
    from querycloak.evaluation.reproduce.papers import find_paper
    from querycloak.logs.locks import locked_directory

    find_paper(paper)  # a wrong name is told before a log is read
    if generated and log is not None:
        raise UserError("--generated generates a log: leave LOG out, or --generated.")
    check_folder(output)
    check_knowledge(taxonomy, directory, resolver)
    with locked_directory(output), ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = None if log is None else open_bench(log, options, taxonomy, directory, resolver, progress)
        found = api.reproduce(
            paper,
            None if bench is None else bench.log,
            output=output,
            users=users,
            draws=draws,
            quick=quick,
            seed=seed,
            repeat=shlex.join(["querycloak", *effective_words(context)[1:]]),
            taxonomy=taxonomy if bench is None else bench.taxonomy,
            mapping=mapping,
            directory=None if bench is None else bench.directory,
            resolver=None if bench is None else bench.resolver,
            safe_csv=safe_csv,
            progress=progress,
        )
    if as_json:
        print_json(_plain(found, output))
        return
    _print(found)
    say(*(str(output / name) for name in ("reproduction.html", "results.csv")))


def _plain(found: Reproduction, output: Path) -> dict[str, object]:
    """Return what a program would want to know."""
    return {
        "paper": found.paper.name,
        "version": found.version,
        "log": found.log,
        "users": found.users,
        "seeds": list(found.seeds),
        "quick": found.quick,
        "seconds": found.seconds,
        "findings": [
            {"says": f.says, "where": f.where, "verdict": o.verdict, "figures": o.figures} for f, o in found.judged
        ],
        "not_repeated": {absent.name: absent.why for absent in found.paper.absent},
        "not_run": found.not_run,
        "page": output / "reproduction.html",
        "table": output / "results.csv",
    }


def _print(found: Reproduction) -> None:
    """Print one line per finding."""
    seeds = ", ".join(map(str, found.seeds))
    say(f"{found.paper.cite}")
    say(f"Experiment, not for release. Log: {found.log}. Seeds: {seeds}.{' Quick run.' if found.quick else ''}", "")
    for finding, outcome in found.judged:
        say(f"{outcome.verdict}: {finding.says} ({finding.where}) Here: {outcome.figures}.")
    for absent in found.paper.absent:
        say(f"not repeated: {absent.name}: {absent.why}.")
    for name, why in found.not_run.items():
        say(f"not run: {name}: {why}")
    say("")
