"""`querycloak ledger show`: what users have spent over all releases of a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Ledgers of privacy budget.", rich_markup_mode="markdown")


@app.callback()
def ledger() -> None:
    """Ledgers of privacy budget, kept by `querycloak anonymize --method semantic-dp --ledger FILE`."""


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(help="The ledger.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the budget, what has been spent, and the releases. No user is named: the ledger itself has only hashes."""
    from querycloak.cli.tables import print_table
    from querycloak.releases.ledger import read_ledger

    found = read_ledger(file)
    n, per_draw = len(found.spent), found.epsilon / found.draws
    used_up = sum(d == found.draws for d in found.spent)
    median, most = (found.spent[n // 2], found.spent[-1]) if n else (0, 0)
    if as_json:
        import json

        values = {
            "epsilon": found.epsilon,
            "draws": found.draws,
            "users": n,
            "users_used_up": used_up,
            "median_epsilon_spent": median * per_draw,
            "most_epsilon_spent": most * per_draw,
            "releases": [{"at": at, "users": users, "draws": draws} for at, users, draws in found.releases],
        }
        typer.echo(json.dumps(values, indent=2))
        return
    typer.echo(f"budget:  epsilon {found.epsilon:g} per user, in {found.draws:,} draws of {per_draw:g}")
    typer.echo(f"users:   {n:,}, of whom {used_up:,} have nothing left")
    typer.echo(f"spent:   epsilon {median * per_draw:g} (median), {most * per_draw:g} (most)")
    print_table(
        ["release (UTC)", "users", "draws", "epsilon in all"],
        [[at, f"{users:,}", f"{draws:,}", f"{draws * per_draw:g}"] for at, users, draws in found.releases],
    )
