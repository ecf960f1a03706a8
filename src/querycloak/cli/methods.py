"""`querycloak methods`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.catalog import METHODS, method
from querycloak.cli.method_options import settings_lines

__all__ = ["methods"]


def methods(
    name: Annotated[str | None, typer.Argument(help="Show one method with its options.", show_default=False)] = None,
) -> None:
    """List the methods, one line each; with a NAME, its guarantee and its options."""
    if name is None:
        width = max(len(n) for n in METHODS)
        for entry in METHODS.values():
            typer.echo(f"{entry.name:<{width}}  {entry.summary}")
        return
    entry = method(name)
    typer.echo(f"{entry.name}: {entry.summary}\nguarantee: {entry.guarantee}")
    for line in settings_lines(entry):
        typer.echo("  " + line.replace("`", ""))
