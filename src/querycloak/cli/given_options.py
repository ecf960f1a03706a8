"""The options that a user gave, as words of a command line: for a command that continues where another ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.cli.limit_options import LIMIT_OPTIONS, PREFIX
from querycloak.cli.log_options import LOG_OPTIONS
from querycloak.cli.mapping_options import OPTIONS as MAPPING_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Collection

    from typer import Context

    from querycloak.evaluation.command_words import CommandWords

__all__ = ["command_words"]

READING = (*LOG_OPTIONS, *MAPPING_OPTIONS, "taxonomy", "directory", "resolver", "learn")
JUDGING = (*(PREFIX + name for name in LIMIT_OPTIONS), "tasks")


def command_words(context: Context) -> CommandWords:
    """Return what was given to a command that reads a log and judges releases of it."""
    from querycloak.evaluation.command_words import CommandWords

    return CommandWords(
        log=str(context.params["log"]), reading=_given(context, READING), judging=_given(context, JUDGING)
    )


def _given(context: Context, names: Collection[str]) -> tuple[str, ...]:
    """Return those of the options named that do not have their default, with their values."""
    out: list[str] = []
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if option.name not in names or value == option.default or value is None:
            continue
        if isinstance(value, bool):
            out.append(option.opts[0] if value else (option.secondary_opts or option.opts)[0])
        else:
            out += [option.opts[0], str(value)]
    return tuple(out)
