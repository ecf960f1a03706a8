"""`querycloak survey`: how a stream does while it runs, where the truth is known."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.log_options import reads_log
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import TAXONOMIES
from querycloak.cli.output import JsonOption, QuietOption
from querycloak.cli.setting_options import stream_method
from querycloak.cli.watch_options import MetricsOption, shown_door
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.live.survey.surveyor import Survey

__all__ = ["survey"]


@reads_log
@maps_queries
def survey(
    published: Annotated[
        str,
        typer.Option("--from", help="The published stream: a file that grows, `-`, or an address as for `stream`."),
    ],
    original: Annotated[
        str, typer.Option("--original", help="The original stream, in the same ways. It holds personal data.")
    ],
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The file that `stream --truth` writes. Without it there are counts, but no attackers and no EMD.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", "-m", help="As the stream runs.", autocompletion=completion.stream_methods),
    ] = "self-adjusting",
    k: Annotated[int, typer.Option(help="As the stream runs.", min=2)] = 10,
    depth: Annotated[int, typer.Option(help="As the stream runs.", min=1, max=999)] = 5,
    hold: Annotated[int, typer.Option(help="As the stream runs.", min=0)] = 0,
    pool: Annotated[int, typer.Option(help="As the stream runs, with `nearest`.", min=0)] = 300,
    max_delay: Annotated[
        int | None,
        typer.Option(help="As the stream runs. Default: that of the method.", min=0, show_default=False),
    ] = None,
    epoch: Annotated[str | None, typer.Option(help="As the stream runs.", show_default=False)] = None,
    time_grain: Annotated[str | None, typer.Option(help="As the stream runs.", show_default=False)] = None,
    window: Annotated[int, typer.Option(help="Published records on which the attackers run at once.", min=1)] = 10_000,
    idle: Annotated[
        float | None,
        typer.Option(
            help="End when nothing has come for so many seconds; 0 = when all that is there was read. Default: follow "
            "until Ctrl-C.",
            min=0.0,
            show_default=False,
        ),
    ] = None,
    taxonomy: Annotated[
        str,
        typer.Option(
            autocompletion=completion.taxonomies,
            help=f"Where there is no category column, queries are mapped to this: {TAXONOMIES}",
        ),
    ] = "topics",
    safe_csv: Annotated[
        bool, typer.Option("--safe-csv/--no-safe-csv", help="How the stream wrote CSV: with apostrophes, or without.")
    ] = True,
    metrics: MetricsOption = None,
    seed: Annotated[int, typer.Option(help="Of the attackers' random choices.")] = 0,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Follow a stream of a test deployment, and show how well it protects people and how much of it is left.

    Attackers (simple, full, activity, timing, pool) run on windows of published records. `right` is the share of
    records whose asker they name, with the upper end of its 95 % interval, beside 1/k; EMD is how far categories have
    moved, in percent of the largest distance and in edges per query. The last line is over all. With `--json` there is
    one object per line: one for each window, then one over all.

    Example: `querycloak survey --from release.tsv --original log.tsv --truth truth.tsv --k 3`
    """
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.survey_table import SurveyTable
    from querycloak.errors import UserError
    from querycloak.evaluation.workbench import load_taxonomy, mapper_of
    from querycloak.live.address import parse_place, refuse_addresses
    from querycloak.live.pipes import stopping
    from querycloak.live.survey.follow import follow
    from querycloak.live.survey.open_sources import open_followed
    from querycloak.live.survey.survey_board import SurveyBoard
    from querycloak.live.survey.surveyor import Surveyor
    from querycloak.live.survey.window import Known
    from querycloak.live.watch.door import read_door_address
    from querycloak.mapping.mapped_paths import LazyPaths
    from querycloak.mapping.modes import check_mapping

    refuse_addresses(truth=truth)
    places = [parse_place(original), parse_place(published), truth]
    if places[:2].count(None) > 1 or truth == Path("-"):
        raise UserError("Only one of --from and --original can be standard input, and the truth is a file.")
    if len({str(place) for place in places if place is not None}) < sum(place is not None for place in places):
        raise UserError("--from, --original and --truth must be different.")
    door = None if metrics is None else read_door_address(metrics)
    finder = LazyPaths(lambda: mapper_of(partial(load_taxonomy, taxonomy)(), check_mapping(mapping)))
    board, table = SurveyBoard(), SurveyTable(as_json=as_json)
    last: Survey | None = None
    with ShownProgress(quiet=quiet) as progress, stopping() as asked:
        sources = [
            None if i == 2 and place is None else open_followed(place, asked, progress)
            for i, place in enumerate(places)
        ]
        names = [None if source is None else source.name for source in sources]
        known = Known(k, depth, hold, seed, stream_method(method).name, pool, max_delay, epoch, time_grain)
        surveyor = Surveyor(known, options, finder, (names[0], names[1], names[2]), window=window, safe_csv=safe_csv)
        with shown_door(door, board, progress):
            progress.tell_compiling()
            assert sources[0] is not None
            assert sources[1] is not None
            for last in follow(surveyor, sources[0], sources[1], sources[2], idle, asked):
                if last.window is not None:
                    board.show(last, surveyor.so_far())
                table.add(last)
        signals = [number for number in asked if number]
    if last is not None and last.records == 0:
        with_truth = "" if truth is None else " with its truth"
        raise UserError(f"Nothing was surveyed: no published record has come{with_truth}.")
    if signals:
        raise typer.Exit(128 + signals[0])
