"""The options of every command that reads a log, written once: `@reads_log` adds them to a command.

A command asks for them by a keyword-only parameter `options: ReadOptions`. What the user types is turned into that
object here, so that a command never sees the single options, and a new one is added in one place.
"""

from __future__ import annotations

import inspect
import re
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from querycloak.cli import completion
from querycloak.cli.output import QuietOption
from querycloak.errors import ParameterError, UserError
from querycloak.logs.read_options import ENCODINGS, ON_ERROR, ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["QuietOption", "parse_columns", "parse_size", "reads_log", "with_options"]

LOG_OPTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "columns": (
        Annotated[
            str | None,
            typer.Option(
                "--columns",
                help="Which column of the log has which role, by name, `user=uid,query=q`, or by position, "
                "`user=1,query=3`. Needed where the header does not say by common names.",
                show_default=False,
            ),
        ],
        None,
    ),
    "format": (
        Annotated[
            str | None,
            typer.Option(
                "--format",
                help="aol, excite, tsv, csv, jsonl, ubi, parquet. Default: by content.",
                autocompletion=completion.formats,
                show_default=False,
            ),
        ],
        None,
    ),
    "header": (
        Annotated[
            bool | None,
            typer.Option(
                "--header/--no-header",
                help="The first line names the columns, or is data. Default: by content, where that is certain.",
                show_default=False,
            ),
        ],
        None,
    ),
    "encoding": (
        Annotated[
            str,
            typer.Option(
                "--encoding",
                help="auto, utf-8, utf-16, latin-1. auto: UTF-8, or UTF-16 where a byte order mark is.",
                autocompletion=completion.choices(ENCODINGS),
            ),
        ],
        "auto",
    ),
    "unescape": (
        Annotated[
            bool,
            typer.Option(
                "--unescape",
                help="The log is CSV that was written with --safe-csv: take its apostrophes away. A release needs no "
                "such word: its statement says it.",
            ),
        ],
        False,
    ),
    "on_error": (
        Annotated[
            str,
            typer.Option(
                "--on-error",
                help="Bad lines: `stop` at the first, or `skip` and count them.",
                autocompletion=completion.choices(ON_ERROR),
            ),
        ],
        "stop",
    ),
    "max_memory": (
        Annotated[
            str | None,
            typer.Option(
                "--max-memory",
                help="Memory that reading the log may take, such as 4G or 500M. Default: what the machine has.",
                show_default=False,
            ),
        ],
        None,
    ),
    "assume_yes": (
        Annotated[bool, typer.Option("--yes", help="Go on where a column does not look like what it was taken for.")],
        False,
    ),
}
"""field of ReadOptions → its option, and the default"""
SIZES: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def reads_log(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameter `options` of a command by the options on the command line that make it."""

    def make(**taken: Any) -> ReadOptions:
        taken["columns"] = parse_columns(taken["columns"])
        taken["max_memory"] = parse_size(taken["max_memory"], "--max-memory")
        return ReadOptions(**taken)

    return with_options(command, "options", LOG_OPTIONS, make)


def with_options(
    command: Callable[..., Any], replaced: str, options: Mapping[str, tuple[Any, Any]], make: Callable[..., Any]
) -> Callable[..., Any]:
    """Replace one parameter of a command by options (name → type and default), from which `make` makes its value."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name != replaced:
            parameters.append(parameter)
            continue
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in options.items()
        ]

    @wraps(command)
    def run(**given: Any) -> Any:
        taken = {name: given.pop(name) for name in options}
        return command(**{replaced: make(**taken)}, **given)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def parse_columns(text: str | None) -> dict[str, str]:
    """Read `user=uid,query=q` as {role: column}."""
    out: dict[str, str] = {}
    for part in (text or "").split(",") if text is not None else ():
        role, equals, column = part.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise UserError(f"--columns takes role=column pairs, such as user=uid,query=q; {part!r} is not one.")
        if role.strip() in out:
            raise UserError(f"--columns names the role {role.strip()!r} twice.")
        out[role.strip()] = column.strip()
    return out


def parse_size(text: str | None, option: str) -> int | None:
    """Read a size in bytes.

    >>> parse_size("1.5G", "--max-memory"), parse_size("500MB", "--max-memory"), parse_size(None, "--max-memory")
    (1610612736, 524288000, None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    size = int(float(found[1]) * SIZES[found[2]]) if found else 0
    if size < 1:
        raise ParameterError.of(option, "a size such as 500M or 4G", text)
    return size
