"""`querycloak methods`: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.catalog import METHODS, STREAM_METHODS, method
from querycloak.cli import completion
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say
from querycloak.cli.setting_options import describe_options

__all__ = ["methods"]


def methods(
    name: Annotated[
        str | None,
        typer.Argument(help="Show one method with its options.", show_default=False, autocompletion=completion.methods),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
) -> None:
    """List the methods, one line each; with a NAME, its guarantee and its options."""
    if as_json:
        print_json(_plain(name))
        return
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


def _plain(name: str | None) -> dict[str, object]:
    """Return all methods, or one with its options."""
    if name is None:
        listed = (METHODS | STREAM_METHODS).values()
        return {"methods": [{"name": m.name, "summary": m.summary, "guarantee": m.guarantee} for m in listed]}
    from dataclasses import MISSING

    from querycloak.descriptions import describe_method

    about = describe_method(name)
    return {
        "name": about.name,
        "summary": about.summary,
        "guarantee": about.guarantee,
        "takes": about.takes,
        "package": about.package,
        "options": [
            {
                "option": f"--{s.name.replace('_', '-')}",
                "setting": s.name,
                "type": s.type.__name__,
                "required": s.default is MISSING,
                "default": None if s.default is MISSING else s.default,
                "help": s.help,
            }
            for s in about.settings
        ],
    }
