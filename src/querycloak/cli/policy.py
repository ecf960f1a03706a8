"""`querycloak policy`: the presets of rules, to read and to edit."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.command import EXIT_CODES, Command
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say, say_text

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Rules of regulators and services.", rich_markup_mode="markdown", epilog=EXIT_CODES
)


@app.callback()
def policy() -> None:
    """Presets of rules for the method `policy`: our reading of public reports, and no legal advice."""


@app.command("list", cls=Command)
def list_presets(as_json: JsonOption = False, quiet: QuietOption = False) -> None:  # noqa: ARG001
    """List the presets, one line each."""
    from querycloak.methods.policy.policy_text import parse_policy
    from querycloak.methods.policy.presets_list import PRESETS, policy_text

    about = {name: parse_policy(*policy_text(name)).about for name in PRESETS}
    if as_json:
        print_json({"presets": [{"name": name, "about": text} for name, text in about.items()]})
        return
    width = max(map(len, PRESETS))
    for name, text in about.items():
        say(f"{name:<{width}}  {text}")


@app.command("show", cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A preset, or a file of rules to check.", show_default=False, autocompletion=completion.presets
        ),
    ],
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
) -> None:
    """Print the rules of a preset as a file: save it, edit it, and use it as `--method policy:FILE.toml`.

    A file of rules that is wrong is refused with the line and what is allowed there.

    Example: `querycloak policy show google-2024 > mine.toml`
    """
    from querycloak.methods.policy.policy_text import parse_policy
    from querycloak.methods.policy.presets_list import policy_text

    text, path = policy_text(name)
    rules = parse_policy(text, path)
    if as_json:
        print_json({"name": rules.name, "about": rules.about, "rules": rules.rules, "text": text})
        return
    say_text(text, nl=False)
