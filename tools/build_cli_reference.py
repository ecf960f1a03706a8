"""Writes docs/cli.md from the command line itself: `python tools/build_cli_reference.py`."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.cli.app import app
from querycloak.cli.commands import all_commands
from querycloak.cli.setting_options import describe_options

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"


def reference() -> str:
    """Return the text of the page."""
    lines = [
        "# The command line",
        "",
        "Made by `python tools/build_cli_reference.py`; a test compares it with the commands.",
        "",
        "Exit codes: 0 done; 1 a check failed (`attack --max-risk`, `verify`, `check`, `audit`); 2 the user's mistake,",
        "with one sentence that says where and what to do; 3 `check` needs a human; 130 interrupted; 141 the reader of",
        "the output went away. A command that fails leaves no half-written file, but for `stream`, which writes while",
        "it reads and has its own ends ([self-adjusting](methods/self-adjusting.md)).",
        "",
        "Every command takes `--json` and `--quiet` ([results as JSON](json.md)), and `--config FILE` or `--no-config`",
        "([options in a file](config.md)). Names of methods, attacks, measures, tasks, papers, presets and formats are",
        'taken in any spelling: `record-linkage`, `record_linkage` and `"Record linkage"` are one.',
        "`querycloak --install-completion` lets the shell complete them.",
    ]
    for name, command in all_commands(typer.main.get_command(app)).items():
        lines += ["", f"## querycloak {name}", "", *_paragraphs(command.help or "")]
        rows = [_row(p) for p in command.params if p.name != "help" and not getattr(p, "hidden", False)]
        if rows:
            lines += ["", "| | | |", "|---|---|---|", *rows]
    lines += ["", "## Options of the methods", ""]
    for method in (METHODS | STREAM_METHODS).values():
        lines += [f"### {method.name}", "", f"{method.summary[0].upper()}{method.summary[1:]}.", ""]
        lines += [f"- {line}" for line in describe_options(method.settings)] + [""]
    return "\n".join(lines).rstrip() + "\n"


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
