"""What leaves the studio: a run as command lines, as a Python program, and as a zip of what may be handed on.

Command line and program make the same release again, with other random draws: a release has no seed. They name the log
by its whole path and write into the folder in which they are run.
"""

from __future__ import annotations

import shlex
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from querycloak.evaluation.limits import LIMITS
from querycloak.tasks.task import TASKS_OF_USERS

if TYPE_CHECKING:
    from querycloak.evaluation.limits import Limits
    from querycloak.studio.model import Reading

__all__ = ["ARCHIVE", "Recipe", "as_command", "as_script", "shown_command", "write_archive"]

ARCHIVE: Final = "release.zip"
CHECK: Final = "check.html"
STATEMENT: Final = ".statement.json"
LIMIT_OPTIONS: Final = {name: f"--max-{name.replace('_', '-')}" for name in (f.name for f in fields(LIMITS))} | {
    "link": "--max-risk"
}
"""field of Limits → its option"""
README: Final = """\
{name}

{release}
    The release: this is what may be handed on, if the verdict of the check says so.
{statement}
    Its privacy statement: what the release promises and what it does not. Hand it on with the release.
{check}
    The check of the release, for you: open it in a browser. It holds figures about people of the log and masked rows
    of it. It is internal: do not publish it.

Whoever has release and statement can check that they belong together and keep what they say:

    querycloak verify {release}

Neither the log nor the truth, which tells who is behind each published id, is in this archive. The truth was deleted
after the check.
"""


class Recipe:
    """Everything that a run was made of."""

    def __init__(
        self,
        *,
        log: Path,
        reading: Reading,
        method: str,
        settings: dict[str, Any],
        tasks: tuple[str, ...],
        limits: Limits,
        release: str,
        has_truth: bool,
        kind: str = "",
        directory: Path | None = None,
        resolver: Path | None = None,
    ) -> None:
        self.log, self.reading = log, reading
        self.method, self.settings = method, settings
        self.tasks, self.limits = tasks, limits
        self.release, self.has_truth, self.kind = release, has_truth, kind
        self.knowledge = {n: p for n, p in (("directory", directory), ("resolver", resolver)) if p is not None}

    @property
    def changed_limits(self) -> dict[str, float]:
        """The limits that are not the usual ones."""
        return {f.name: v for f in fields(LIMITS) if (v := getattr(self.limits, f.name)) != getattr(LIMITS, f.name)}


def as_command(recipe: Recipe) -> str:
    """Return the command lines that make, judge and clean up, to be run in any folder by a shell."""
    truth = ["--truth", "truth.tsv"] if recipe.has_truth else []
    made = ["querycloak", *_anonymize(recipe), *truth]
    check = ["querycloak", "check", str(recipe.log), recipe.release, *truth, "-o", CHECK]
    impossible = [task for task in recipe.tasks if recipe.kind == "counts" and task in TASKS_OF_USERS]
    check += ["--for", ",".join(task for task in recipe.tasks if task not in impossible) or "popularity"]
    for name, value in recipe.changed_limits.items():
        check += _option(LIMIT_OPTIONS[name], value)
    check += [*_reading(recipe.reading), *_knowledge(recipe)]
    lines = [shlex.join(made), shlex.join(check)]
    if impossible:
        lines.insert(0, f"# Counts without users cannot do {', '.join(impossible)}, which `check` is not asked for.")
    if recipe.has_truth:
        lines.append("rm truth.tsv")
    if any("," in column or column != column.strip() for column in recipe.reading.columns.values()):
        lines.insert(0, "# The name of a column has a comma, or a space at its end, which --columns cannot hold:")
        lines.insert(1, "# rename that column, or use the Python program.")
    return "\n".join(lines) + "\n"


def shown_command(recipe: Recipe) -> str:
    """Return the command that a statement shows: files by their names alone."""
    words = _anonymize(recipe)
    paths = {str(path): path.name for path in (recipe.log, *recipe.knowledge.values())}
    paths |= {str(v): Path(v).name for v in recipe.settings.values() if isinstance(v, str) and Path(v).is_absolute()}
    return shlex.join(["querycloak", *(paths.get(word, word) for word in words)])


def as_script(recipe: Recipe) -> str:
    """Return a Python program that makes and judges the release, to be run in any folder."""
    reading = {f.name: getattr(recipe.reading, f.name) for f in fields(recipe.reading) if f.name != "roles"}
    usual: dict[str, Any] = {
        "columns": {},
        "header": None,
        "format": None,
        "encoding": "auto",
        "on_error": "stop",
        "assume_yes": False,
    }
    log = _call("qc.read_log", repr(str(recipe.log)), **{n: repr(v) for n, v in reading.items() if v != usual[n]})
    load = {name: f"qc.load_{name}({str(path)!r})" for name, path in recipe.knowledge.items()}
    known = {name: name for name in load}
    settings = {name: repr(value) for name, value in recipe.settings.items()}
    limits = {name: repr(value) for name, value in recipe.changed_limits.items()}
    judged = {"limits": _call("qc.Limits", **limits)} if limits else {}
    release = repr(recipe.release)
    truth = {"truth": "'truth.tsv'"} if recipe.has_truth else {}
    lines = ["import os", ""] if recipe.has_truth else []
    lines += ["import querycloak as qc", "", f"log = {log}"]
    lines += [f"{name} = {call}" for name, call in load.items()]
    lines.append(f"release = {_call('qc.anonymize', 'log', repr(recipe.method), **settings, **known)}")
    if recipe.has_truth:
        lines.append("commitment = qc.write_truth(release, log, 'truth.tsv')  # it undoes the release: never share it")
        lines.append(_call("qc.write_release", "release", release, commitment="commitment"))
    else:
        lines.append(_call("qc.write_release", "release", release))
    lines.append(f"written = {_call('qc.read_release', release, log='log', **truth)}")
    call = _call("qc.check", "log", "written", tasks=repr(recipe.tasks), **judged, output=repr(CHECK), **known)
    lines += [f"check = {call}", "print(check.verdict, *check.reasons, sep='\\n')"]
    if recipe.has_truth:
        lines.append("os.remove('truth.tsv')")
    return "\n".join(lines) + "\n"


def write_archive(folder: Path, name: str, release: str) -> Path:
    """Write the zip of a run's folder: four files by name, so that nothing else can get in."""
    path = folder / ARCHIVE
    readme = README.format(name=name, release=release, statement=release + STATEMENT, check=CHECK)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside in (release, release + STATEMENT, CHECK):
            archive.write(folder / inside, inside)
        archive.writestr("README.txt", readme)
    return path


def _anonymize(recipe: Recipe) -> list[str]:
    words = ["anonymize", str(recipe.log), "-o", recipe.release, "--method", recipe.method]
    for name, value in recipe.settings.items():
        words += _option("--" + name.replace("_", "-"), value)
    return [*words, *_reading(recipe.reading), *_knowledge(recipe)]


def _reading(reading: Reading) -> list[str]:
    words = []
    if reading.columns:
        words += ["--columns", ",".join(f"{role}={column}" for role, column in reading.columns.items())]
    if reading.header is not None:
        words.append("--header" if reading.header else "--no-header")
    if reading.format is not None:
        words += ["--format", reading.format]
    if reading.encoding != "auto":
        words += ["--encoding", reading.encoding]
    if reading.on_error != "stop":
        words += ["--on-error", reading.on_error]
    return [*words, *(["--yes"] if reading.assume_yes else [])]


def _knowledge(recipe: Recipe) -> list[str]:
    return [word for name, path in recipe.knowledge.items() for word in (f"--{name}", str(path))]


def _option(flag: str, value: object) -> list[str]:
    """Return an option with its value; a value that begins with a dash is tied to it."""
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]


def _call(function: str, *given: str, **named: str) -> str:
    return f"{function}({', '.join([*given, *(f'{name}={value}' for name, value in named.items())])})"
