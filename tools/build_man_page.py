"""Writes man/querycloak.1 from the command line itself: `python tools/build_man_page.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main

from querycloak._version import __version__
from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.cli.app import app
from querycloak.cli.setting_options import describe_options

PAGE = Path(__file__).parents[1] / "man" / "querycloak.1"

EXITS = {
    0: "Done.",
    1: "A check failed: attack with --max-risk, check, verify, audit.",
    2: "The user's mistake; one sentence says where, and what to do.",
    130: "Interrupted.",
    141: "The reader of the output went away.",
}
HIDDEN = {"help", "install_completion", "show_completion"}


def man_page() -> str:
    """Return the page in the man macros, for `man ./querycloak.1`."""
    command = typer.main.get_command(app)
    lines = [
        '.\\" Made by python tools/build_man_page.py; a test compares it with the commands.',
        f'.TH QUERYCLOAK 1 "" "QueryCloak {__version__}" "User Commands"',
        ".SH NAME",
        "querycloak \\- publish or share a web\\-search query log without exposing the people who searched",
        ".SH SYNOPSIS",
        ".B querycloak",
        "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]...",
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
        ".SH OPTIONS",
        *_parameters(command),
        ".SH COMMANDS",
    ]
    for name, below in _commands(command):
        lines += [f".SS {_text(f'querycloak {name}')}", *_paragraphs(below.help or ""), *_parameters(below)]
    lines += [".SH METHODS", "Options of a method follow its name in the commands anonymize and compare."]
    for method in (METHODS | STREAM_METHODS).values():
        lines += [f".SS {_text(method.name)}", _line(f"{method.summary[0].upper()}{method.summary[1:]}.")]
        for option in describe_options(method.settings):
            flag, _, rest = option.removeprefix("`").partition("` ")
            lines += [".TP", f"\\fB{_text(flag)}\\fR", _line(_plain(rest))]
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXITS.items():
        lines += [".TP", f"\\fB{code}\\fR", _line(meaning)]
    return "\n".join(line for line in lines if line) + "\n"


def _commands(group: Any, above: str = "") -> list[tuple[str, Any]]:
    """Return the commands by name, those of a group as `group command`."""
    out: list[tuple[str, Any]] = []
    for name, command in sorted(group.commands.items()):
        if not getattr(command, "hidden", False):
            out += _commands(command, f"{name} ") if hasattr(command, "commands") else [(above + name, command)]
    return out


def _parameters(command: Any) -> list[str]:
    """Return one tagged paragraph per argument and option."""
    lines: list[str] = []
    for parameter in command.params:
        if parameter.name in HIDDEN or getattr(parameter, "hidden", False):
            continue
        flags = [flag for flag in [*parameter.opts, *parameter.secondary_opts] if flag.startswith("-")]
        names = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in flags) or f"\\fI{_text(parameter.name.upper())}\\fR"
        default = parameter.default
        note = "" if default in {None, False} or callable(default) else f" Default: {default}."
        help_text = re.sub(r"\s+", " ", getattr(parameter, "help", "") or "").strip()
        lines += [
            ".TP",
            names,
            _line(f"{_plain(help_text)}{' Required.' if parameter.required else note}".strip() or "\\&"),
        ]
    return lines


def _paragraphs(text: str) -> list[str]:
    """Return a help text, its paragraphs apart."""
    parts = [re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n\s*\n|\x08", text.strip())]
    return [line for part in parts if part for line in (".PP", _line(_plain(part)))]


def _plain(text: str) -> str:
    """Leave out the markup of terminals and of Markdown."""
    return re.sub(r"\[/?(?:bold|dim|cyan|green|yellow|red|italic)[^\]]*\]|`", "", text)


def _line(text: str) -> str:
    """Escape a line of text: one that begins with a dot or quote would be a request."""
    escaped = _text(text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _text(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(man_page())
