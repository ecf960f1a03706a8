r"""The one way from this package to a terminal: whatever is printed is printed here, with nothing hidden in it.

A line is one line: a line end inside it, such as that of a file name, is shown as `\n` and begins no other line. Data
that a command writes to standard output is data, and does not pass here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from querycloak.visible import visible, visible_json, visible_lines

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["complain", "say", "say_crash", "say_error", "say_heading", "say_json", "say_text"]


def say(*lines: str, err: bool = False, nl: bool = True) -> None:
    """Print lines; without `nl` the last has no line end."""
    typer.echo("\n".join(map(visible, lines)), err=err, nl=nl)


def say_text(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text of several lines, such as a whole file."""
    typer.echo(visible_lines(text), err=err, nl=nl)


def say_heading(line: str) -> None:
    """Print a line in bold."""
    typer.secho(visible(line), bold=True)


def say_json(text: str, *, err: bool = False) -> None:
    """Print JSON; what it means is not changed."""
    typer.echo(visible_json(text), err=err)


def complain(message: str) -> None:
    """Print an error or a warning to standard error: one line."""
    print(f"querycloak: {visible(message)}", file=sys.stderr)


def say_error(text: str) -> None:
    """Print the text of an error, a sentence or JSON, to standard error."""
    print(visible_lines(text), file=sys.stderr)  # typer would take escape sequences away where nobody sees them


def say_crash(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
    """Print the traceback of a fault of ours, in place of `sys.excepthook`."""
    import traceback  # 10 ms

    print(visible_lines("".join(traceback.format_exception(kind, error, at))), end="", file=sys.stderr)
