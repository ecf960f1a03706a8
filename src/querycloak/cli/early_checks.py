"""Refusals that arguments, the header of the log and the statement of a release are enough for: before any work.

A log may take minutes to read and hours to judge. What can be known first is said first.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from querycloak.catalog import Check
    from querycloak.catalog.entries import Method
    from querycloak.logs.read_options import ReadOptions
    from querycloak.plugins import Catalog
    from querycloak.releases.statement_file import StatementFile

__all__ = [
    "check_folder",
    "check_header",
    "check_knowledge",
    "check_method",
    "check_names",
    "check_release_there",
    "check_tasks_possible",
    "check_truth_given",
    "columns_to_keep",
    "refuse_missing_columns",
    "refuse_standard_output",
    "release_statement",
    "split_names",
]


def split_names(text: str | None) -> list[str] | None:
    """Return names that are separated by commas; None where none are given."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()] or None


def check_method(method: Method, given: dict[str, Any]) -> Any:
    """Refuse settings that make no sense, and a ledger that cannot be read; return the settings."""
    settings = method.settings.from_json({**method.given, **given})
    if given.get("ledger"):
        from querycloak.releases.ledger import read_ledger

        read_ledger(Path(given["ledger"]))
    return settings


def check_header(log: Path, options: ReadOptions, settings: Any = None, *, learn: bool = False) -> None:
    """Refuse to keep columns that the log does not have, or to learn from clicks where there are none.

    Only the first lines of a file are looked at. Of a pipe nothing is: it can be read once.
    """
    wanted = columns_to_keep(settings)
    if not any(wanted.values()) and not learn:
        return
    from querycloak.logs.source import peek_roles

    roles = peek_roles(log, options)
    if roles is None:
        return
    refuse_missing_columns(log, wanted, roles)
    if learn:
        from querycloak.evaluation.learning import check_learning

        check_learning(clicks="url" in roles)


def columns_to_keep(settings: Any) -> dict[str, bool]:
    """Return role → whether the settings ask to keep its column."""
    keep = str(getattr(settings, "keep", "none") or "none").split(",")
    return {"time": "time" in keep, "url": "clicks" in keep}


def refuse_missing_columns(log: object, wanted: Mapping[str, bool], roles: Collection[str]) -> None:
    """Refuse to keep columns that a log does not have."""
    if wanted["time"] and "time" not in roles:
        raise UserError(
            f"{log} has no column of times, so --keep time has nothing to keep: leave it out, or name the "
            "column with --columns time=…."
        )
    if wanted["url"] and "url" not in roles:
        raise UserError(
            f"{log} has no column of clicked URLs, so --keep clicks has nothing to keep: leave it out, or "
            "name the column with --columns url=…."
        )


def check_knowledge(
    taxonomy: str | None = None,
    directory: Path | None = None,
    resolver: Path | None = None,
    sensitive: Path | None = None,
) -> None:
    """Refuse knowledge that is not there, in the words of whoever would read it; small files are read."""
    if taxonomy is not None and not Path(taxonomy).exists():
        from querycloak.knowledge.named import KNOWLEDGE, load_taxonomy

        if taxonomy not in KNOWLEDGE.built_in:
            load_taxonomy(taxonomy)
    if directory is not None and not directory.exists():
        from querycloak import api

        api.load_directory(directory)
    if resolver is not None:
        from querycloak.knowledge.resolver import read_resolver

        read_resolver(resolver)
    if sensitive is not None:
        from querycloak.texts.sensitive import read_sensitive

        read_sensitive(sensitive)


def release_statement(release: Path) -> StatementFile:
    """Read the statement of a release; a release or a statement that is missing is refused."""
    from querycloak.logs.source import guarded
    from querycloak.releases.folder import open_release
    from querycloak.releases.statement_file import read_statement_file

    with guarded(release):
        open_release(release)  # a missing table is told before its missing statement
        return read_statement_file(release)


def check_release_there(release: Path) -> None:
    """Refuse a release or a statement that is missing; whether they are in order is what `verify` finds out."""
    from querycloak.logs.source import guarded
    from querycloak.releases.folder import open_release
    from querycloak.releases.statement_file import statement_content

    with guarded(release):
        open_release(release)
        statement_content(release)


def check_names(catalog: Catalog[Check], names: Sequence[str] | None, file: StatementFile) -> list[str] | None:
    """Return the attacks or measures named; refuse one that does not exist, or does not fit this kind of release."""
    if names is None:
        return None
    found = [catalog.find(name) for name in names]
    for check in found:
        if file.kind not in check.kinds:
            fit = ", ".join(sorted(c.name for c in catalog.values() if file.kind in c.kinds))
            raise UserError(
                f"The {catalog.what} {check.name!r} does not fit a release of {file.statement.method}. "
                f"These fit: {fit}."
            )
    return [check.name for check in found]


def check_truth_given(file: StatementFile, truth: Path | None, names: Sequence[str] | None) -> None:
    """Refuse to attack people without the truth, which alone tells whether an attacker is right."""
    from querycloak.catalog import ATTACKS

    if truth is not None or not _has_people(file):
        return
    if names is None or not all(ATTACKS[name].without_truth for name in names):
        raise UserError("The attacks need the release's truth to keep score: add --truth FILE.")


def check_tasks_possible(file: StatementFile, tasks: Sequence[str], truth: Path | None) -> None:
    """Refuse to judge a release by what its kind can never do."""
    from querycloak.tasks.task import TASKS_OF_USERS

    for task in tasks:
        if file.kind == "counts" and task in TASKS_OF_USERS:
            raise UserError(
                f"{file.statement.method} publishes counts without users, and {task} needs the rows of a user: leave "
                f"{task} out of --for, or take a method that publishes logs."
            )
        if task == "profiles" and truth is None and _has_people(file):
            raise UserError("profiles compares people before and after: add --truth FILE, or leave it out of --for.")


def _has_people(file: StatementFile) -> bool:
    return file.kind != "counts" and file.statement.ids != "invented"


def check_folder(output: Path) -> None:
    """Refuse a folder of results that cannot be one, before it is made."""
    from querycloak.logs.atomic import is_standard_output

    if is_standard_output(output):
        raise UserError(f"--output {output}: several files are written, so name a folder; `--json` prints results.")
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is not a directory and cannot be made one; choose another.")


def refuse_standard_output(**options: Path | None) -> None:
    """Refuse `-` where standard output has the results: only a release or a log may go there."""
    from querycloak.logs.atomic import is_standard_output

    for name, path in options.items():
        if is_standard_output(path):
            raise UserError(f"--{name.replace('_', '-')} {path}: standard output has the results here; name a file.")
