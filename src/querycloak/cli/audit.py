"""`querycloak audit`: whether the epsilon that a method claims is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import TAXONOMIES
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say
from querycloak.cli.setting_options import given_settings

if TYPE_CHECKING:
    from querycloak.evaluation.audit_result import Audit, AuditedPair

__all__ = ["audit"]


@maps_queries
def audit(
    context: typer.Context,
    method: Annotated[
        str,
        typer.Argument(
            help="Name of a differentially private method; see `querycloak methods`.",
            show_default=False,
            autocompletion=completion.private_methods,
        ),
    ],
    runs: Annotated[int, typer.Option(help="Runs of each side of each pair of logs that is measured.")] = 2000,
    pairs: Annotated[
        str | None,
        typer.Option(help="Names of pairs of logs, separated by commas. Default: all that fit.", show_default=False),
    ] = None,
    taxonomy: Annotated[
        str | None,
        typer.Option(
            help=f"{TAXONOMIES} For methods that use one. Default: a tree of seven concepts.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Repeatable runs, with other noise than releases have. Default: none.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    quiet: QuietOption = False,
) -> None:
    """Run a method thousands of times on pairs of small logs that differ in one user, and bound its epsilon from below.

    `bound` is what epsilon is at least, by how often an event happens with the user and without; all bounds are true
    together with a probability of 99.9 %. Exit 1 where one is above `claim`: then the method is wrong. A bound below
    the claim proves nothing.

    Example: `querycloak audit frequent-queries --epsilon 1 --delta 1e-6`
    """
    from querycloak import api
    from querycloak.cli.progress import ShownProgress
    from querycloak.errors import CheckFailedError

    names = None if pairs is None else [name.strip() for name in pairs.split(",") if name.strip()]
    with ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        found = api.audit(
            method,
            runs=runs,
            pairs=names,
            seed=seed,
            taxonomy=taxonomy,
            mapping=mapping,
            progress=progress,
            **given_settings(context),
        )
    if as_json:
        print_json({**vars(found), "passed": found.passed})
    else:
        _print(found)
    if not found.passed:
        worst = max(found.measured, key=lambda pair: pair.bound - pair.claim)
        raise CheckFailedError(
            f"{found.method} does not keep its promise: epsilon is at least {worst.bound:.3g}, claimed is "
            f"{worst.claim:g} (pair {worst.pair!r})."
        )


def _print(found: Audit) -> None:
    """Print the pairs that were measured, then those that showed less, then what it means."""
    from querycloak.cli.tables import print_table
    from querycloak.releases.account import RELATIONS

    relation = RELATIONS[found.relation]
    say(f"{found.method}: {found.runs:,} runs; neighbours: {relation}; {_noise(found)}")
    say("")
    head = ["measured pair", "others", "delta", "likely", "unlikely", "bound", "claim", ""]
    print_table(head, [_row(pair) for pair in found.measured])
    say("")
    for pair in found.measured:
        say(f"{pair.pair}: the user {pair.what}. More likely in {_log(found, pair)}: {pair.event}")
    others = sorted({pair.pair for pair in found.pairs if not pair.runs})
    if others:
        say(f"looked at, and less telling: {', '.join(others)}")
    say(
        f"Bounds are lower bounds of epsilon, all true together with a probability of {1 - found.error:.1%}; a bound "
        "below its claim proves nothing."
    )


def _log(found: Audit, pair: AuditedPair) -> str:
    if found.relation == "add-remove":
        return "the log with the user" if pair.likely == "first" else "the log without the user"
    return f"the {pair.likely} log"


def _noise(found: Audit) -> str:
    return "noise of releases" if found.seed is None else "noise of a seed, not that of releases"


def _row(pair: AuditedPair) -> list[str]:
    rates = [f"{hits / pair.runs:.2%}" for hits in (pair.hits, pair.other_hits)]
    verdict = "within" if pair.passed else "BROKEN"
    return [pair.pair, f"{pair.people}", f"{pair.delta:g}", *rates, f"{pair.bound:.3f}", f"{pair.claim:g}", verdict]
