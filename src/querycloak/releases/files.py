"""A release on disk: the published table, and its statement next to it, bound to each other by digests.

The digests find an edited statement and a table that it does not belong to. They are no signature: whoever can change
both files can write a new pair.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from querycloak.errors import GateError, InputError
from querycloak.logs.atomic import is_pipe, writing
from querycloak.logs.form import LogForm  # noqa: TC001 - msgspec reads the types of fields
from querycloak.logs.output_form import form_for_name
from querycloak.logs.sink import TSV, fit_form, write_to
from querycloak.logs.source import guarded, read_with_form
from querycloak.releases.release import KINDS, Release, ReleaseKind
from querycloak.releases.statement import PrivacyStatement  # noqa: TC001

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = ["is_intact", "read_release", "read_statement", "statement_path", "write_release"]

VERSION: Final = 2
"""of the statement file"""
SUFFIX: Final = ".statement.json"
LONGEST_STATEMENT: Final = 1 << 24
LATER_FIELDS: Final = {"encoding": "utf-8", "separator": ",", "json_array": False}
"""Fields of the form that came later, with what they mean where they are missing: older digests are without them."""


class StatementFile(msgspec.Struct, forbid_unknown_fields=True):
    """What `<release>.statement.json` holds, in the order of the file."""

    version: int
    kind: ReleaseKind
    statement: PrivacyStatement
    form: LogForm
    release_sha256: str
    digest: str = ""

    def own_digest(self) -> str:
        """Return the SHA-256 of all else in sorted JSON without spaces."""
        rest = {k: v for k, v in _plain(self).items() if k != "digest"}
        return hashlib.sha256(msgspec.json.encode(rest, order="sorted")).hexdigest()


def statement_path(release: str | Path) -> Path:
    """Return the path of a release's statement."""
    return Path(f"{release}{SUFFIX}")


def write_release(release: Release, path: str | Path, *, statement_to: str | Path | None = None) -> None:
    """Write a release and its statement: both under temporary names, then both renamed, the statement last.

    A release that has not passed the gate is refused. The suffix of the path says in which form (`.parquet`, `.csv`,
    `.tsv`, `.jsonl`, `.json`, and `.gz` or `.zst` after it); without a known one it is that of the input. The statement
    goes to `statement_to`, else next to the release. A release that goes to standard output (`-`) or to a pipe has no
    place next to it: there only `statement_to` is written. Figures that are not finite are left out of the statement:
    JSON cannot hold them.
    """
    if not release.passed:
        raise GateError(f"{release.statement.method}: a release that has not passed the gate cannot be written.")
    form = form_for_name(path, release.log.form or TSV)
    form = fit_form(release.log, form, without=frozenset() if release.has_users else frozenset({"user"}))
    figures = {name: float(n) for name, n in release.statement.figures.items() if math.isfinite(n)}
    parameters = {name: float(n) for name, n in release.statement.parameters.items()}  # 5 is read back as 5.0
    columns = tuple(c.name for c in form.columns)
    statement = replace(release.statement, columns=columns, figures=figures, parameters=parameters)
    if statement_to is None and not is_pipe(path):
        statement_to = statement_path(path)
    with writing(path, *(() if statement_to is None else (statement_to,))) as (table, *others):
        write_to(table, release.log, form, path)
        table.seek(0)
        sha = hashlib.file_digest(table, "sha256").hexdigest()  # type: ignore[arg-type]
        for file in others:
            file.write(sealed_statement(release.kind, statement, form, sha))


def sealed_statement(kind: ReleaseKind, statement: PrivacyStatement, form: LogForm, sha: str) -> bytes:
    """Return what the statement's file holds, with the digests of the release and of itself."""
    file = StatementFile(VERSION, kind, statement, form, sha)
    file.digest = file.own_digest()
    return msgspec.json.format(msgspec.json.encode(_plain(file)), indent=2) + b"\n"


def read_release(path: str | Path, *, changed: bool = False) -> Release:
    """Read a release with its statement; one without the other is refused.

    So is a table that was changed since, but with `changed`: whoever checks a release reads that too.
    """
    table_path = Path(path)
    intact = is_intact(table_path)
    file = _read_statement_file(statement_path(table_path), table_path)
    if not intact and not changed:
        problem = (
            f"its statement {statement_path(table_path).name} does not belong to this file, or the file was edited"
        )
        raise InputError.at(table_path, problem)
    log = read_with_form(table_path, file.form)
    return KINDS[file.kind](_with_numbers(replace(log, form=file.form)), file.statement)


def is_intact(path: str | Path) -> bool:
    """Tell whether a release's table is the one that its statement was written for."""
    table_path = Path(path)
    with guarded(table_path), table_path.open("rb") as table:
        file = _read_statement_file(statement_path(table_path), table_path)
        return hashlib.file_digest(table, "sha256").hexdigest() == file.release_sha256


def read_statement(path: str | Path) -> PrivacyStatement:
    """Read a statement, by its own path or by that of its release."""
    table_path = Path(path)
    if table_path.name.endswith(SUFFIX):
        return _read_statement_file(table_path, table_path).statement
    return _read_statement_file(statement_path(table_path), table_path).statement


def _read_statement_file(path: Path, release: Path) -> StatementFile:
    if path != release and not path.exists():
        raise InputError.at(release, f"its statement is missing; expected {path.name} next to it")
    with guarded(path), path.open("rb") as raw:
        content = raw.read(LONGEST_STATEMENT)
    try:
        file = msgspec.convert(msgspec.json.decode(content), StatementFile)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        raise InputError.at(path, "not a statement of QueryCloak, or it was edited") from None
    if file.version != VERSION:
        problem = f"a statement of version {file.version}; this QueryCloak reads version {VERSION}"
        raise InputError.at(path, problem)
    if file.digest != file.own_digest():
        raise InputError.at(path, "the statement was edited after it was written")
    return file


def _plain(file: StatementFile) -> dict[str, Any]:
    """Return the file as plain values; numbers of NumPy become Python's."""
    plain = dict(msgspec.to_builtins(file, enc_hook=lambda value: value.item()))
    plain["form"] = {name: value for name, value in plain["form"].items() if LATER_FIELDS.get(name, ...) != value}
    return plain


def _with_numbers(log: QueryLog) -> QueryLog:
    """Return extra columns that the form calls numbers their type again."""
    if log.extra is None or log.form is None:
        return log
    texts = {name for name, kind in log.extra.schema.items() if kind == pl.String}
    numbers = [c.name for c in log.form.columns if c.role is None and c.kind == "number" and c.name in texts]
    return replace(log, extra=log.extra.with_columns(_number(log.extra[name]) for name in numbers))


def _number(texts: pl.Series) -> pl.Series:
    whole = texts.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == texts.null_count() else texts.cast(pl.Float64, strict=False)
