"""Writes docs/cli.md from the command line itself: `python tools/build_cli_reference.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main

from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.cli.app import app
from querycloak.cli.setting_options import describe_options

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"


def reference() -> str:
    """Return the text of the page."""
    lines = [
        "# The command line",
        "",
        "Made by `python tools/build_cli_reference.py`; a test compares it with the commands.",
        "",
        "Exit codes: 0 done; 1 a check failed (`attack --max-risk`, `verify`); 2 the user's mistake, with one sentence",
        "that says where and what to do; 130 interrupted; 141 the reader of the output went away. A command that fails",
        "leaves no half-written file, but for `stream`, which writes while it reads and has its own ends",
        "([self-adjusting](methods/self-adjusting.md)).",
    ]
    for name, command in _commands(typer.main.get_command(app)):
        lines += ["", f"## querycloak {name}", "", *_paragraphs(command.help or "")]
        rows = [_row(p) for p in command.params if p.name != "help" and not getattr(p, "hidden", False)]
        if rows:
            lines += ["", "| | | |", "|---|---|---|", *rows]
    lines += ["", "## Options of the methods", ""]
    for method in (METHODS | STREAM_METHODS).values():
        lines += [f"### {method.name}", "", f"{method.summary[0].upper()}{method.summary[1:]}.", ""]
        lines += [f"- {line}" for line in describe_options(method.settings)] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _commands(group: Any, above: str = "") -> list[tuple[str, Any]]:
    """Return the commands by name, those of a group as `group command`."""
    out: list[tuple[str, Any]] = []
    for name, command in sorted(group.commands.items()):
        out += _commands(command, f"{name} ") if hasattr(command, "commands") else [(above + name, command)]
    return out


def _paragraphs(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", part).strip() if part.strip() else "" for part in re.split(r"(\n\s*\n)", text.strip())]


def _row(parameter: object) -> str:
    flags = [*getattr(parameter, "opts", []), *getattr(parameter, "secondary_opts", [])]
    names = ", ".join(f"`{flag}`" for flag in flags if flag.startswith("-"))
    shown = names or f"`{getattr(parameter, 'name', '').upper()}`"
    text = re.sub(r"\s+", " ", getattr(parameter, "help", "") or "")
    default = getattr(parameter, "default", None)
    required = getattr(parameter, "required", False)
    note = "required" if required else ("" if default in {None, False} else f"default: {default}")
    return f"| {shown} | {text} | {note} |"


if __name__ == "__main__":
    PAGE.write_text(reference())
