"""`querycloak methods`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.catalog import METHODS, STREAM_METHODS, method
from querycloak.cli.say import say
from querycloak.cli.setting_options import describe_options

__all__ = ["methods"]


def methods(
    name: Annotated[str | None, typer.Argument(help="Show one method with its options.", show_default=False)] = None,
) -> None:
    """List the methods, one line each; with a NAME, its guarantee and its options."""
    if name is None:
        there_are = METHODS | STREAM_METHODS
        width = max(len(n) for n in there_are)
        for entry in there_are.values():
            say(f"{entry.name:<{width}}  {entry.summary}")
        return
    entry = method(name)
    say(f"{entry.name}: {entry.summary}", f"guarantee: {entry.guarantee}")
    if entry.package:
        say(f"from: {entry.package}")
    needs = ["taxonomy" if need == "paths" else need for need in entry.needs]  # paths of queries are in a taxonomy
    takes = [f"--{need}" for need in needs if need in {"taxonomy", "directory", "resolver"}]
    if takes:
        say(f"also takes: {', '.join(takes)}")
    for line in describe_options(entry.settings):
        say("  " + line.replace("`", ""))
