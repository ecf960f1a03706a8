"""`querycloak policy`: the presets of rules, to read and to edit."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.cli.say import say, say_text

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Rules of regulators and services.", rich_markup_mode="markdown")


@app.callback()
def policy() -> None:
    """Presets of rules for the method `policy`: our reading of public reports, and no legal advice."""


@app.command("list")
def list_presets() -> None:
    """List the presets, one line each."""
    from querycloak.methods.policy.policy_text import parse_policy
    from querycloak.methods.policy.presets_list import PRESETS, policy_text

    width = max(map(len, PRESETS))
    for name in PRESETS:
        say(f"{name:<{width}}  {parse_policy(*policy_text(name)).about}")


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A preset, or a file of rules to check.", show_default=False)],
) -> None:
    """Print the rules of a preset as a file: save it, edit it, and use it as `--method policy:FILE.toml`.

    A file of rules that is wrong is refused with the line and what is allowed there.

    Example: `querycloak policy show google-2024 > mine.toml`
    """
    from querycloak.methods.policy.policy_text import parse_policy
    from querycloak.methods.policy.presets_list import policy_text

    text, path = policy_text(name)
    parse_policy(text, path)
    say_text(text, nl=False)
