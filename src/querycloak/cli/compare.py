"""`querycloak compare`: methods side by side, and a report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.command import effective_words
from querycloak.cli.limit_options import ForOption, has_limits, parse_tasks
from querycloak.cli.log_options import reads_log
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import DirectoryOption, LearnOption, ResolverOption, SafeResultsOption, TaxonomyOption
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say
from querycloak.cli.setting_options import given_settings
from querycloak.evaluation.limits import Limits
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.evaluation.comparison import Comparison

__all__ = ["compare"]


@reads_log
@maps_queries
@has_limits
def compare(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(help="The query log.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Directory for report.html, results.json, results.csv.", show_default=False
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(
            help="Names of methods, separated by commas, or `all`.",
            show_default=False,
            autocompletion=completion.several_methods,
        ),
    ] = "all",
    grid: Annotated[
        str | None, typer.Option(help='Values of settings at once: `"k=2,3,5 epsilon=1,5"`.', show_default=False)
    ] = None,
    tasks: ForOption = "popularity,topics",
    taxonomy: TaxonomyOption = None,
    directory: DirectoryOption = None,
    resolver: ResolverOption = None,
    learn: LearnOption = False,
    draws: Annotated[
        int,
        typer.Option(
            help="Releases of each run, with other seeds, of which the measures of the papers are taken; attacks and "
            "tasks look at the first.",
            min=1,
            max=100,
        ),
    ] = 3,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results.")] = 1,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    limits: Limits,
    options: ReadOptions,
    safe_csv: SafeResultsOption = True,
    quiet: QuietOption = False,
) -> None:
    """Run methods side by side on a log, attack and measure each release, and write a report with advice.

    A run is recommended only if its statement proves a bound for people, every attack stays within its limit by the
    upper end of its interval, no text of one person and no identifier is published, and the release is better than the
    same method run blindly for every task named by `--for`. "Publish none of these" is a possible answer.

    Any setting of a method is an option that takes several values: `--k 2,3,5`. Interrupted, the same command goes on
    where it stopped.

    Example: `querycloak compare log.tsv --methods sweep --min-query-users 2,5,20 -o comparison`
    """
    from querycloak.catalog import METHODS, method
    from querycloak.cli.early_checks import check_folder, check_header, check_knowledge
    from querycloak.cli.given_options import command_words
    from querycloak.cli.inputs import digest_of_files, open_bench, parse_grid
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import print_advice
    from querycloak.errors import UserError
    from querycloak.evaluation.compare import compare as run
    from querycloak.evaluation.compare import plan_runs
    from querycloak.evaluation.learning import refuse_learning
    from querycloak.logs.locks import locked_directory
    from querycloak.report.html import write_report

    if methods == "all":
        chosen = sorted(name for name, entry in METHODS.items() if not (learn and entry.is_private))
    else:
        chosen = [m.strip() for m in methods.split(",")]
    for name in chosen if learn else ():
        refuse_learning(name, private=method(name).is_private)
    plans = plan_runs(chosen, parse_grid(chosen, grid, given_settings(context)), draws)
    named = parse_tasks(tasks)
    check_folder(output)
    check_knowledge(taxonomy, directory, resolver)
    check_header(log, options, learn=learn)
    for plan in plans:
        check_header(log, options, method(plan.method).settings.from_json(plan.settings))
    with locked_directory(output), ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        bench = open_bench(log, options, taxonomy, directory, resolver, progress, mapping=mapping, learn=learn)
        known = digest_of_files(None if taxonomy is None else Path(taxonomy), directory, resolver)
        repeat = shlex.join(["querycloak", *effective_words(context)[1:]])
        found = run(
            bench,
            plans,
            output,
            seed=seed,
            limits=limits,
            tasks=named,
            repeat=repeat,
            command=command_words(context),
            knowledge=known,
            safe_csv=safe_csv,
            progress=progress,
        )
        progress.start("writing the report")
        write_report(found, output)
    if as_json:
        print_json(_plain(found, output))
    else:
        for r in found.runs:
            if r.error is not None:
                say(f"failed: {r.name}: {r.error}")
    if all(r.error is not None or r.baseline for r in found.runs):
        raise UserError(f"None of the runs came through; {output / 'report.html'} says why.")
    if as_json:
        return
    print_advice(found)
    say(*(str(output / name) for name in ("report.html", "results.json", "results.csv")))


def _plain(found: Comparison, output: Path) -> dict[str, object]:
    """Return the advice, what is said of each run, and where everything else is."""
    advice = found.advice
    return {
        "publish": advice.publish,
        "advice": advice.text,
        "runs": [
            {
                "name": run.name,
                "method": run.method,
                "settings": run.settings,
                "error": run.error,
                "failed": judged.failed,
            }
            for run, judged in zip(found.runs, advice.verdicts, strict=True)
        ],
        "report": output / "report.html",
        "results": output / "results.json",
        "table": output / "results.csv",
    }
