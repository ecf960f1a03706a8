"""A release on disk: the published table, and its statement next to it, bound to each other by digests.

What digests and signatures can show is told in `releases/statement_file.py`.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from querycloak.errors import GateError, InputError
from querycloak.logs.atomic import is_pipe, writing
from querycloak.logs.output_form import form_for_name
from querycloak.logs.sink import JSON, TSV, fit_form, plain_texts, write_to
from querycloak.logs.source import guarded, read_parts, read_with_form
from querycloak.releases.class_table import class_table, is_by_class, members
from querycloak.releases.folder import digest_of_table, open_release, parts_of
from querycloak.releases.release import KINDS, Release
from querycloak.releases.signing import SigningKey, read_signing_key
from querycloak.releases.statement_file import (
    StatementFile,
    read_statement,
    read_statement_file,
    sealed_statement,
    statement_path,
)

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = [
    "is_intact",
    "read_release",
    "read_statement",
    "release_of",
    "sealed_statement",
    "statement_path",
    "write_release",
]


def write_release(
    release: Release,
    path: str | Path,
    *,
    statement_to: str | Path | None = None,
    sign: str | Path | SigningKey | None = None,
    command: str = "",
    commitment: str = "",
    safe_csv: bool = True,
) -> None:
    """Write a release and its statement: both under temporary names, then both renamed, the statement last.

    A release that has not passed the gate is refused. The suffix of the path says in which form (`.parquet`, `.csv`,
    `.tsv`, `.jsonl`, `.json`, and `.gz` or `.zst` after it); without a known one it is that of the input. The statement
    goes to `statement_to`, else next to the release. A release that goes to standard output (`-`) or to a pipe has no
    path next to it: there only `statement_to` is written. Figures that are not finite are left out of the statement:
    JSON cannot hold them. Where the settings ask for classes, each class is written once (`releases/class_table.py`).

    `sign` is a private key, or its file; without one the statement is unsigned. `commitment` is what `write_truth`
    returned: the truth is written first, so that no statement has a commitment whose salt is lost. `command` is put
    into the statement as it is.

    In CSV, texts that a spreadsheet would take for formulas get an apostrophe, which `read_release` takes away again:
    the form in the statement says so (`safe_csv`). With `safe_csv=False` they are written as they are.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qc.write_release(qc.anonymize(log, "sweep", min_query_users=2), f"{folder}/release.csv")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['release.csv', 'release.csv.statement.json']
    """
    if not release.passed:
        raise GateError(f"{release.statement.method}: a release that has not passed the gate cannot be written.")
    key = sign if sign is None or isinstance(sign, SigningKey) else read_signing_key(sign)
    table_log = class_table(release.log) if is_by_class(release.statement) else release.log
    form = form_for_name(path, table_log.form or TSV)
    form = fit_form(table_log, form, frozenset() if release.has_users else frozenset({"user"}), safe_csv=safe_csv)
    figures = {name: float(n) for name, n in release.statement.figures.items() if math.isfinite(n)}
    parameters = {name: float(n) for name, n in release.statement.parameters.items()}  # 5 is read back as 5.0
    columns = tuple(c.name for c in form.columns)
    statement = replace(
        release.statement,
        columns=columns,
        figures=figures,
        parameters=parameters,
        command=command,
        input_commitment=commitment,
    )
    if statement_to is None and not is_pipe(path):
        statement_to = statement_path(path)
    with writing(path, *(() if statement_to is None else (statement_to,))) as (table, *others):
        write_to(table, table_log, form, path)
        table.seek(0)
        sha = hashlib.file_digest(table, "sha256").hexdigest()  # type: ignore[arg-type]
        for file in others:
            file.write(sealed_statement(release.kind, statement, form, sha, key))


def read_release(path: str | Path, *, changed: bool = False) -> Release:
    """Read a release with its statement, a file or a folder of parts; one without the other is refused.

    So is a table that was changed since, but with `changed`: whoever checks a release reads that too.
    """
    table_path = Path(path)
    with guarded(table_path):
        open_release(table_path)  # a missing table is told before its missing statement
        file = read_statement_file(table_path)
    if not changed and not is_intact(table_path, file):
        problem = (
            f"its statement {statement_path(table_path).name} does not belong to this file, or the file was edited"
        )
        raise InputError.at(table_path, problem)
    return release_of(table_path, file)


def release_of(table_path: Path, file: StatementFile) -> Release:
    """Read the table of a release in the form that its statement names, whether or not it was changed."""
    parts = parts_of(table_path) if table_path.is_dir() else None
    read = read_with_form(table_path, file.form) if parts is None else read_parts(table_path, parts, file.form)
    log = _typed(replace(read, form=file.form))
    if is_by_class(file.statement):
        log = members(log, file.statement.counts_out, table_path)
    return KINDS[file.kind](log, file.statement)


def is_intact(table_path: Path, file: StatementFile) -> bool:
    """Tell whether a release's table is the one that its statement was written for."""
    with guarded(table_path):
        return digest_of_table(table_path) == file.release_sha256


def _typed(log: QueryLog) -> QueryLog:
    """Return extra columns with the type that the form says; what was read of JSON is its text until then."""
    if log.extra is None or log.form is None:
        return log
    kinds = {c.name: c.kind for c in log.form.columns if c.role is None}
    texts = [name for name, kind in log.extra.schema.items() if kind == pl.String]
    typed = [_number(log.extra[name]) for name in texts if kinds.get(name) == "number"]
    if log.form.format in JSON:
        typed += [plain_texts(log.extra[name]) for name in texts if kinds.get(name) == "text"]
    return replace(log, extra=log.extra.with_columns(typed))


def _number(texts: pl.Series) -> pl.Series:
    whole = texts.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == texts.null_count() else texts.cast(pl.Float64, strict=False)
