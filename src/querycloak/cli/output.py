"""What a command says, and to whom: results on standard output, everything else on standard error.

Three rules, which every command keeps (docs/json.md):

- With `--json`, standard output has one JSON document and nothing else. Where standard output is the data (`-o -`, a
  stream), the document is one line, the last one, on standard error.
- An error with `--json` is one line of JSON on standard error, the last one: `{"error": …, "kind": …, "code": 2}`.
- With `--quiet` nothing is said on the way: no progress, no notes.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Final

import typer

from querycloak.cli.say import say_json
from querycloak.visible import visible

__all__ = ["JsonOption", "QuietOption", "error_text", "expect_json", "print_json"]

QuietOption = Annotated[
    bool, typer.Option("--quiet", help="Say nothing on the way: no progress, no notes. Errors and results are shown.")
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON document, and errors as JSON on standard error; docs/json.md has the keys."
    ),
]


class _State:
    """What holds for the command that this process runs."""

    def __init__(self) -> None:
        self.as_json = False


_state: Final = _State()


def expect_json(asked: bool) -> None:
    """Set whether errors are to be JSON: a command line may be wrong before its options are read."""
    _state.as_json = asked


def error_text(message: str, code: int, kind: str) -> str:
    """Return what is printed for an error: one sentence, or one line of JSON.

    >>> error_text("There is no method 'swep'.", 2, "UnknownNameError")
    "querycloak: There is no method 'swep'."
    """
    if not _state.as_json:
        return visible(f"querycloak: {message}")
    return json.dumps({"error": message, "kind": kind, "code": code})  # in ASCII: nothing is hidden


def print_json(found: Any, *, to_stderr: bool = False) -> None:
    """Print results as JSON, with stable keys; on standard error as one line, since notes are above it."""
    import msgspec

    plain = msgspec.json.encode(found, enc_hook=_plain)
    if to_stderr:
        sys.stdout.flush()  # the data comes first
        say_json(plain.decode(), err=True)
    else:
        say_json(msgspec.json.format(plain, indent=2).decode())


def _plain(value: Any) -> Any:
    """Return a path as text, and one of NumPy's numbers as Python's."""
    from pathlib import PurePath

    return str(value) if isinstance(value, PurePath) else value.item()
