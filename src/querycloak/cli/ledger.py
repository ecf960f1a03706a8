"""`querycloak ledger`: make a ledger of privacy budget, look at it, and check that nobody changed it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.command import EXIT_CODES, Command
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Ledgers of privacy budget.", rich_markup_mode="markdown", epilog=EXIT_CODES
)

FileArgument = Annotated[Path, typer.Argument(help="The ledger.", show_default=False)]


@app.callback()
def ledger() -> None:
    """Ledgers of privacy budget: what each person has spent over all differentially private releases of a log."""


@app.command("make", cls=Command)
def make(
    file: Annotated[Path, typer.Argument(help="Where the ledger goes; its key goes to FILE.key.", show_default=False)],
    log: Annotated[
        str, typer.Option(help="Name of the log: the one set of ids in which an id is one person.", show_default=False)
    ],
    epsilon: Annotated[float, typer.Option(help="What each person may spend over all releases.", show_default=False)],
    delta: Annotated[float, typer.Option(help="What each person may spend of delta over all releases.")] = 0.0,
    case_matters: Annotated[bool, typer.Option("--case-matters", help='"Ann" and "ann" are two people.')] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
) -> None:
    """Make a ledger, once; then give it to each release with `--ledger FILE --ledger-log NAME`.

    Example: `querycloak ledger make budget.db --log search-logs --epsilon 3 --delta 1e-6`
    """
    from querycloak.releases.ledger import make_ledger

    made = make_ledger(file, log=log, epsilon=epsilon, delta=delta, fold_case=not case_matters)
    if as_json:
        print_json({"ledger": file, "key": f"{file}.key", "head": made.head})
        return
    say(f"ledger: {file} (its key: {file}.key; keep both, share neither)")
    say(f"head:   {made.head}")


@app.command("show", cls=Command)
def show(
    file: FileArgument,
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
) -> None:
    """Show the budget, what has been spent, and the releases. No person is named: the ledger itself has only hashes."""
    from dataclasses import asdict

    from querycloak.cli.tables import print_table
    from querycloak.releases.ledger import read_ledger

    found = read_ledger(file)
    spent = found.epsilons()
    n = len(spent)
    median, most = (float(spent[n // 2]), float(spent[-1])) if n else (0.0, 0.0)
    if as_json:
        values = {
            "log": found.log,
            "epsilon": found.epsilon,
            "delta": found.delta,
            "case_matters": not found.fold_case,
            "people": n,
            "median_epsilon_spent": median,
            "most_epsilon_spent": most,
            "head": found.head.hex(),
            "releases": [
                {
                    "at": row.at,
                    "method": row.method,
                    "people": len(row.hashes),
                    "account": [asdict(line) for line in row.account],
                    "head": row.head.hex(),
                }
                for row in found.rows
            ],
        }
        print_json(values)
        return
    say(f"log:     {found.log}")
    say(f"budget:  epsilon {found.epsilon:g}, delta {found.delta:g} per person, over all releases")
    say(f"people:  {n:,}")
    say(f"spent:   epsilon {median:.4g} (median), {most:.4g} (most)")
    say(f"head:    {found.head.hex()}")
    print_table(
        ["row", "release (UTC)", "method", "people", "cost of each"],
        [
            [str(row.number), row.at, row.method, f"{len(row.hashes):,}", "; ".join(map(str, row.account))]
            for row in found.rows
        ],
    )


@app.command("head", cls=Command)
def head(file: FileArgument, as_json: JsonOption = False, quiet: QuietOption = False) -> None:  # noqa: ARG001
    """Print the head of the chain: the hash that covers every row. Keep it elsewhere, for `ledger verify --head`."""
    from querycloak.releases.ledger import read_ledger

    found = read_ledger(file).head.hex()
    if as_json:
        print_json({"ledger": file, "head": found})
        return
    say(found)


@app.command("verify", cls=Command)
def verify(
    file: FileArgument,
    kept: Annotated[
        str | None,
        typer.Option("--head", help="A head that was printed before and kept elsewhere.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
) -> None:
    """Check that no row was changed or taken out, and that nobody has spent more than the budget; else exit with 1.

    An older copy of the ledger is in order by itself: only `--head` notices it.
    """
    from querycloak.errors import ParameterError
    from querycloak.releases.ledger import read_ledger
    from querycloak.releases.ledger_chain import verify_state

    if kept is not None and not kept.strip():  # a variable of a script that was never set is no head
        raise ParameterError("--head is empty: give the head that was kept, or leave the option out.")
    found = read_ledger(file)
    since = verify_state(found, (kept or "").strip().lower())
    if as_json:
        print_json({"ledger": file, "rows": found.length, "since_head": since if kept else None})
        return
    say(f"{file}: {found.length:,} rows, none changed or missing, nobody above the budget.")
    if kept:
        say(f"The head given is in it; {since:,} rows were added since.")
    else:
        say("Whether this is an older copy cannot be told without a head kept elsewhere (--head).")
