"""The command line of a comparison, in parts: enough to write the commands that make and judge a real release."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from querycloak.catalog import method

if TYPE_CHECKING:
    from querycloak.evaluation.run import Run

__all__ = ["CommandWords", "ReleaseCommands", "release_commands"]

_FORMS: Final = frozenset({".parquet", ".csv", ".tsv", ".jsonl", ".json"})
_PACKED: Final = frozenset({".gz", ".zst"})


@dataclass(frozen=True, kw_only=True)
class CommandWords:
    """What was given on the command line of a comparison."""

    log: str
    """the log, as it was named"""
    reading: tuple[str, ...] = ()
    """options that say how the log is read and what is known: of every command"""
    judging: tuple[str, ...] = ()
    """options that say by which limits and for which tasks it is judged: of `check`"""


class ReleaseCommands(NamedTuple):
    """Two command lines."""

    make: str
    check: str


def release_commands(words: CommandWords, run: Run) -> ReleaseCommands:
    """Return the commands that make a release with the method and settings of a run, without a seed, and judge it.

    >>> from querycloak.evaluation.run import Run
    >>> run = Run(name="sweep min_query_users=5", method="sweep", settings={"min_query_users": 5})
    >>> for line in release_commands(CommandWords(log="log.tsv"), run): print(line)
    querycloak anonymize log.tsv -o release.tsv --method sweep --min-query-users 5 --truth truth.tsv
    querycloak check log.tsv release.tsv --truth truth.tsv -o check.html
    """
    release = f"release{_suffix(words.log)}"
    truth = ["--truth", "truth.tsv"] if _has_truth(run) else []
    named = run.name.split()[0] if run.name else ""
    entry = method(named if ":" in named else run.method)
    chosen = named if entry.given else run.method
    settings = [
        word for name, value in run.settings.items() if name not in entry.given for word in _option(name, value)
    ]
    make = ["anonymize", words.log, *words.reading, "-o", release, "--method", chosen, *settings, *truth]
    check = ["check", words.log, release, *words.reading, *words.judging, *truth, "-o", "check.html"]
    return ReleaseCommands(*(shlex.join(["querycloak", *line]) for line in (make, check)))


def _option(name: str, value: object) -> list[str]:
    """Write a setting as an option.

    >>> _option("min_query_users", 5), _option("refine", False), _option("rare", None)
    (['--min-query-users', '5'], ['--no-refine'], [])
    """
    flag = name.replace("_", "-")
    if value is None:
        return []
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", str(value)]


def _suffix(log: str) -> str:
    """Return the form of a log by its name, for a release in the same form.

    >>> _suffix("a/log.csv.gz"), _suffix("my.2006.log")
    ('.csv.gz', '.tsv')
    """
    ends = [end.lower() for end in PurePath(log).suffixes[-2:]]
    packed = ends[-1] if ends and ends[-1] in _PACKED else ""
    form = ends[-2] if packed and len(ends) > 1 else ends[-1] if ends and not packed else ""
    return (form if form in _FORMS else ".tsv") + packed


def _has_truth(run: Run) -> bool:
    """Tell whether published ids stand for people: else there is no truth, and `--truth` is refused."""
    if run.statement is not None and run.statement.ids in {"none", "invented"}:
        return False
    settings = method(run.method).settings.from_json({} if run.statement is None else run.statement.settings)
    return bool(getattr(settings, "has_truth", True))
