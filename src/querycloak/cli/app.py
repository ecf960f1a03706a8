"""The command `querycloak` and its subcommands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

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
    spark,
    stream,
    studio,
    survey,
    verify,
)
from querycloak.cli.command import EXIT_CODES, Command
from querycloak.cli.say import say
from querycloak.cli.setting_options import AuditCommand, CompareCommand, GenerateCommand, MethodCommand, StreamCommand
from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app"]

app = typer.Typer(
    name="querycloak",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


def _version(context: typer.Context, show: bool) -> None:
    if show and not context.resilient_parsing:
        if "--json" in sys.argv:
            from querycloak.cli.output import print_json

            print_json({"version": __version__})
        else:
            say(f"querycloak {__version__}")
        raise typer.Exit


@app.callback()
def querycloak(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --version: as JSON.")] = False,
) -> None:
    """Publish or share a web-search query log without exposing the people who searched.

    Start with `querycloak demo`, then `querycloak methods`.
    """
    if as_json:
        raise UserError("--json comes after the command: `querycloak methods --json`.")


def _add(name: str, function: Callable[..., Any], cls: type[Command] = Command) -> None:
    app.command(name, cls=cls)(function)


_add("demo", demo.demo)
_add("anonymize", anonymize.anonymize, MethodCommand)
_add("studio", studio.studio)
_add("stream", stream.stream, StreamCommand)
_add("survey", survey.survey)
_add("attack", attack.attack)
_add("check", check.check)
_add("measure", measure.measure)
_add("compare", compare.compare, CompareCommand)
_add("reproduce", reproduce.reproduce)
_add("audit", audit.audit, AuditCommand)
_add("verify", verify.verify)
_add("map", mapping.map_query)
_add("generate", generate.generate, GenerateCommand)
_add("methods", methods.methods)
app.add_typer(policy.app, name="policy")
app.add_typer(ledger.app, name="ledger")
app.add_typer(spark.app, name="spark")
app.add_typer(keys.app, name="keys")
