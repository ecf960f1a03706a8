"""A release as a folder: parts of one form, `_SUCCESS`, and the statement next to it. Whole, or not there.

`anonymize` keeps the table that the gate looked at (memory, then disk), and that table is written. Where an executor
is lost, Spark makes its part of the table again: everything random is a function of the release's secret and of names,
so the same rows come out, as long as the input is the same; that it is, is checked before the folder gets its name.

Rows are ordered by published id, and by all columns within an id; the rows of an id are in one part. So neither the
order of the log nor that of tasks is published. Spark writes into a hidden folder next to the release, of each task the
files of one attempt alone; the folder gets its name at the end, and then its statement.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.errors import GateError, OutputError, UserError
from querycloak.logs.atomic import check_output, publish_folder, temporary_folder, writing
from querycloak.logs.locks import locked
from querycloak.logs.output_form import form_for_name
from querycloak.logs.sink import fit_form
from querycloak.releases.class_table import is_by_class
from querycloak.releases.folder import SUCCESS, digest_of_parts, parts_of
from querycloak.releases.statement_file import SUFFIX, sealed_statement
from querycloak.spark.file_system import FileSystem, is_local
from querycloak.spark.remote_folder import write_remotely
from querycloak.spark.spark_log import named
from querycloak.spark.spark_release import SparkRelease
from querycloak.spark.text_parts import as_query_log, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from querycloak.logs.form import LogForm
    from querycloak.releases.signing import SigningKey
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["NO_RELEASE", "check_folder_output", "form_of_folder", "in_order", "write_folder"]

NAMES: Final = {"aol": "tsv", "excite": "tsv", "ubi": "jsonl", "json": "jsonl"}
NO_ZST: Final = "{}: Spark writes plain parts or .gz; leave .zst out, or write Parquet, which is packed."
NO_RELEASE: Final = f"is no release that may be replaced: {SUCCESS} in it, or its statement next to it, is missing."
CODECS: Final = {"": "none", "gz": "gzip"}


def check_folder_output(path: str, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a folder that is there or cannot be made."""
    if path.rstrip("/").endswith(".zst"):
        raise UserError(NO_ZST.format(path))
    if not is_local(path):
        return
    folder = Path(path)
    if folder.is_file():
        raise OutputError(f"{path}: is a file; name a folder to write.")
    if folder.exists() and not overwrite:
        raise OutputError(f"{path}: is there already; choose another output, or replace it with --overwrite.")
    statement = folder.with_name(folder.name + SUFFIX)
    if folder.exists() and any(folder.iterdir()) and not ((folder / SUCCESS).is_file() and statement.is_file()):
        raise OutputError(f"{path}: {NO_RELEASE}")
    check_output(statement)


def form_of_folder(path: str, release: SparkRelease, form: LogForm, *, safe_csv: bool = True) -> LogForm:
    """Return the form of the parts: what the name of the folder says (`release.parquet`), else that of the log."""
    plain = replace(form, line_end="\n", bom=False, encoding="utf-8", last_line_end=True)
    found = form_for_name(path, plain)
    if found.format == "json" or found.json_array:
        found = replace(found, format="jsonl", json_array=False)
    if found.compression not in CODECS:
        raise UserError(NO_ZST.format(path))
    empty = as_query_log(release.frame.limit(0).toArrow())
    without: frozenset[str] = frozenset() if "user" in release.frame.columns else frozenset({"user"})
    return fit_form(empty, found, without, safe_csv=safe_csv)


def write_folder(
    release: SparkRelease,
    path: str,
    form: LogForm,
    *,
    command: str = "",
    sign: SigningKey | None = None,
    safe_csv: bool = True,
    overwrite: bool = False,
    before: Callable[[], None] = lambda: None,
) -> PrivacyStatement:
    """Write a release that passed the gate, and its statement; return the statement as it was written.

    `form` is that of the log. `before` is called once all is written and nothing has its name: what it raises ends all.
    """
    if not isinstance(release, SparkRelease) or release.seal is None or not release.seal.fits(release):
        raise GateError("A table that has not passed the gate, or was changed since, cannot be written.")
    if "epsilon" in release.statement.parameters:
        form = form.of_schema()  # what one person's record may decide is not told
    if is_by_class(release.statement):
        raise UserError("--output-form classes is written on one machine alone; leave it out here.")
    check_folder_output(path, overwrite=overwrite)
    fitted = form_of_folder(path, release, form, safe_csv=safe_csv)
    statement = _completed(release.statement, fitted, command)

    def sealed(digests: dict[str, str]) -> bytes:
        return sealed_statement(release.kind, statement, fitted, digest_of_parts(digests), sign)

    if not is_local(path):
        write_remotely(release.frame.sparkSession, path, suffix(fitted), lambda to: save(release.frame, fitted, to),
                       sealed, before, overwrite=overwrite)  # fmt: skip
        return statement
    target = Path(path)
    with locked(target), temporary_folder(target) as hidden:
        save(release.frame, fitted, str(hidden / "data"))
        parts = tidy(hidden / "data", suffix(fitted))
        system = FileSystem(release.frame.sparkSession)
        digests = dict(zip([p.name for p in parts], system.map(lambda p: system.sha256(str(p)), parts), strict=True))
        before()
        with writing(f"{path.rstrip('/')}{SUFFIX}") as (file,):
            file.write(sealed(digests))
            publish_folder(hidden / "data", target)
    return statement


def _completed(statement: PrivacyStatement, form: LogForm, command: str) -> PrivacyStatement:
    figures = {name: float(n) for name, n in statement.figures.items() if math.isfinite(n)}
    parameters = {name: float(n) for name, n in statement.parameters.items()}
    return replace(
        statement, columns=tuple(c.name for c in form.columns), figures=figures, parameters=parameters, command=command
    )


def in_order(frame: DataFrame) -> DataFrame:
    """Return the rows in the order in which they are published: by id, by all columns within an id.

    The rows of an id stay in one partition. Counts are ordered from the largest on.
    """
    from pyspark.sql import functions as F  # noqa: N812

    if "user" in frame.columns:
        rest = sorted(name for name in frame.columns if name not in {"user", "time", "query"})
        order = [name for name in ("time", "query") if name in frame.columns] + rest
        return frame.repartitionByRange("user").sortWithinPartitions("user", *map(named, order))
    first = [F.desc("count")] if "count" in frame.columns else []
    return frame.orderBy(*first, *map(named, sorted(name for name in frame.columns if name != "count")))


def save(frame: DataFrame, form: LogForm, path: str) -> None:
    """Have Spark write the parts of one form into a folder."""
    ordered = in_order(frame)
    if form.format == "parquet":
        _typed(ordered, form).write.option("compression", "snappy").parquet(path)
        return
    text = text_of(ordered, form, "the release")
    text.write.option("compression", CODECS[form.compression]).option("lineSep", "\n").text(path)


def _typed(frame: DataFrame, form: LogForm) -> DataFrame:
    """Return the columns under the names of the log; times as such where the log has them so."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = []
    for column in form.columns:
        value = named(column.role or column.name)
        if column.role == "time" and form.time_format == "datetime":
            zero = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
            value = F.timestamp_add("SECOND", value, zero)
        columns.append(value.alias(column.name))
    return frame.select(*columns)


def suffix(form: LogForm) -> str:
    """Return how the names of parts end."""
    name = NAMES.get(form.format, form.format)
    return f".{name}" + (f".{form.compression}" if form.compression else "")


def tidy(folder: Path, ending: str) -> list[Path]:
    """Name the parts in order, and remove what is none: checksums of Hadoop. `_SUCCESS` stays."""
    for path in list(folder.iterdir()):
        if path.name.startswith(".") or (path.name.startswith("_") and path.name != SUCCESS):
            path.unlink()
    (folder / SUCCESS).touch()
    made = []
    for i, part in enumerate(parts_of(folder)):
        if part.stat().st_size == 0:
            part.unlink()
            continue
        made.append(part.rename(folder / f"part-{i:05}{ending}"))
    return made
