"""The command `querycloak` and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak._version import __version__
from querycloak.cli import (
    anonymize,
    attack,
    audit,
    check,
    compare,
    demo,
    generate,
    keys,
    ledger,
    mapping,
    measure,
    methods,
    policy,
    reproduce,
    stream,
    studio,
    verify,
)
from querycloak.cli.say import say
from querycloak.cli.setting_options import AuditCommand, CompareCommand, GenerateCommand, MethodCommand, StreamCommand

__all__ = ["app"]

app = typer.Typer(
    name="querycloak",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool) -> None:
    if show:
        say(f"querycloak {__version__}")
        raise typer.Exit


@app.callback()
def querycloak(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Publish or share a web-search query log without exposing the people who searched.

    Start with `querycloak demo`, then `querycloak methods`.
    """


app.command("demo")(demo.demo)
app.command("anonymize", cls=MethodCommand)(anonymize.anonymize)
app.command("studio")(studio.studio)
app.command("stream", cls=StreamCommand)(stream.stream)
app.command("attack")(attack.attack)
app.command("check")(check.check)
app.command("measure")(measure.measure)
app.command("compare", cls=CompareCommand)(compare.compare)
app.command("reproduce")(reproduce.reproduce)
app.command("audit", cls=AuditCommand)(audit.audit)
app.command("verify")(verify.verify)
app.command("map")(mapping.map_query)
app.command("generate", cls=GenerateCommand)(generate.generate)
app.command("methods")(methods.methods)
app.add_typer(policy.app, name="policy")
app.add_typer(ledger.app, name="ledger")
app.add_typer(keys.app, name="keys")
