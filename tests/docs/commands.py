"""Checks a command of a page without running it: the command exists and takes these words."""

from __future__ import annotations

import argparse
import re
import runpy
import shlex
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

import typer.main
from places import ROOT

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings
from querycloak.cli.app import app
from querycloak.generator.settings import Generate

__all__ = ["WrongCommandError", "check_command", "check_mention"]

OPERATORS = re.compile(r"\s(?:\||&&|;|>>?|<|2>)(?:\s|$).*")


class WrongCommandError(Exception):
    """A command that cannot work as it is written."""


class _ParsedError(BaseException):
    """The words of a script were read; its work must not begin."""


def check_command(line: str) -> bool:
    """Check a whole command; return False where it is none of ours and nothing can be checked."""
    if line.startswith("$") or "$(" in line:
        raise WrongCommandError(f"{line}: what a shell fills in can only be run")
    if " | " in line:
        ours = [check_command(part.strip()) for part in line.split(" | ")]  # all of them, not only up to the first
        return any(ours)
    words = shlex.split(OPERATORS.sub("", line))
    match words:
        case ["querycloak", *rest]:
            _parse(rest)
        case ["python", script, *rest] if script.startswith(("tools/", "benchmarks/")):
            _check_script(script, rest)
        case ["pip", "install", *rest] | ["python", "-m", "pip", "install", *rest]:
            return _check_packages(rest)
        case ["make", *targets]:
            known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
            if wrong := [target for target in targets if "=" not in target and target not in known]:
                raise WrongCommandError(f"the Makefile has no target {', '.join(wrong)}")
        case _:
            return False
    return True


def check_mention(text: str) -> None:
    """Check a command in running text, which may be shortened: names and options, not the rest."""
    words = text.replace("…", " ").split()
    if words[0] == "python":
        words = words[1:]
    if words[0].startswith(("tools/", "benchmarks/")):
        _check_script(words[0], ["1" if re.fullmatch("[A-Z]", word) else word for word in words[1:]], shortened=True)
        return
    command, rest = _find(words[1:])
    if command is None:
        return
    known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
    for settings in (Generate, *(m.settings for m in (METHODS | STREAM_METHODS).values())):
        for setting in describe_settings(settings):
            flag = setting["name"].replace("_", "-")
            known |= {f"--{flag}", f"--no-{flag}"}
    options = (re.match(r"--[\w-]+", word) for word in rest)
    if wrong := [found[0] for found in options if found and found[0] not in known]:
        raise WrongCommandError(f"`{text}`: {command.name} has no {', '.join(wrong)}")


def _find(words: list[str]):
    """Return the command that the first words name, and the other words; None where only the program is named."""
    command = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands"):
        if not rest or rest[0].startswith("-") or (command.name != "querycloak" and rest[0] not in command.commands):
            return None, rest
        name = rest.pop(0)
        if name not in command.commands:
            raise WrongCommandError(f"querycloak {' '.join(words)}: there is no command {name}")
        command = command.commands[name]
    return command, rest


def _parse(words: list[str]) -> None:
    command, rest = _find(words)
    if command is None:
        return
    try:
        command.make_context(command.name, rest)
    except Exception as error:
        raise WrongCommandError(f"querycloak {' '.join(words)}: {getattr(error, 'message', error)}") from error


def _check_script(script: str, words: list[str], *, shortened: bool = False) -> None:
    """Let a script of ours read its arguments, where it has a parser; else see that it knows them."""
    place = ROOT / script
    if not place.exists():
        raise WrongCommandError(f"{script} is not there")
    if shortened and not words:
        return
    source = place.read_text()
    if "argparse" not in source:
        named = [word for word in words if re.fullmatch(r"[a-z]+", word) and f'"{word}"' not in source]
        options = [word for word in words if word.startswith("-")]
        if (words and "sys.argv" not in source) or options or (named and "methods" not in source + script):
            raise WrongCommandError(f"{script} does not take {' '.join(words)}")
        return
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(*arguments, **keywords):
        parse(*arguments, **keywords)
        raise _ParsedError

    said = StringIO()
    path = [str(place.parent), *sys.path]
    with (
        patch.object(argparse.ArgumentParser, "parse_args", parse_and_stop),
        patch.object(sys, "argv", [script, *words]),
        patch.object(sys, "path", path),
        redirect_stdout(said),
        redirect_stderr(said),
    ):
        try:
            runpy.run_path(str(place), run_name="__main__")
        except _ParsedError:
            return
        except SystemExit as end:
            raise WrongCommandError(f"{script} {' '.join(words)}: {said.getvalue().strip()[-300:]}") from end
    raise WrongCommandError(f"{script} ended without reading its arguments")


def _check_packages(words: list[str]) -> bool:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours = [found for word in words if (found := re.fullmatch(r"querycloak(?:\[([\w,-]+)\])?", word))]
    for found in ours:
        wrong = set((found[1] or "").split(",")) - set(project["optional-dependencies"]) - {""}
        if wrong:
            raise WrongCommandError(f"there is no extra {', '.join(sorted(wrong))}")
    return bool(ours)
