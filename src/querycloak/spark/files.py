"""From files to a folder: the whole way of `querycloak spark anonymize`."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.catalog import method as find_method
from querycloak.errors import UserError
from querycloak.knowledge.table import read_directory
from querycloak.progress import QUIET
from querycloak.spark.file_system import is_local
from querycloak.spark.knowledge import Knowledge
from querycloak.spark.methods import roles_read
from querycloak.spark.reader import DAMAGED, read_log_with_spark
from querycloak.spark.refusals import refuse_found_columns
from querycloak.spark.release_on_spark import make_draft, make_release
from querycloak.spark.truth_folder import write_truth_folder
from querycloak.spark.writer import write_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from querycloak.logs.read_options import ReadOptions
    from querycloak.progress import Progress
    from querycloak.releases.signing import SigningKey
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.inputs import InputFiles
    from querycloak.spark.reader import SparkInput

__all__ = ["SparkJob", "anonymize_files"]


@dataclass(frozen=True, kw_only=True)
class SparkJob:
    """What is to be done."""

    logs: Sequence[str]
    output: str
    method: str
    settings: Mapping[str, Any]
    options: ReadOptions
    taxonomy: str | None = None
    directory: Path | None = None
    mapping: str | None = None
    seed: int | None = None
    truth: Path | None = None
    sign: SigningKey | None = None
    safe_csv: bool = True
    overwrite: bool = False
    command: str = ""


def anonymize_files(
    session: SparkSession,
    job: SparkJob,
    progress: Progress = QUIET,
    check: Callable[[SparkInput], object] = bool,
) -> PrivacyStatement:
    """Read, anonymize, check and write; return the statement. `check` may refuse what was read."""
    from pyspark import StorageLevel

    entry = find_method(job.method)
    settings = entry.settings.from_json({**entry.given, **job.settings})
    found = read_log_with_spark(
        session,
        job.logs,
        job.options,
        progress=progress,
        only=roles_read(entry.name, settings),
        further=entry.name == "policy",
        check_form=partial(refuse_found_columns, settings),
    )
    _refuse_own_input(job.output, found.files)
    check(found)
    directory = None if job.directory is None else read_directory(job.directory, progress=progress)
    knowledge = Knowledge.of(session, job.taxonomy, job.mapping, directory)
    progress.start(f"{job.method}: running")
    draft = make_draft(found.log, job.method, knowledge, seed=job.seed, settings=job.settings)
    if job.truth is not None and draft.truth is None:
        raise UserError(f"{job.method} publishes no users here, so there is no truth to write: leave --truth out.")
    statement, left_out = draft.statement, len(found.files.left_out)
    if left_out and "epsilon" not in statement.parameters:  # under differential privacy no count of the input is told
        statement = replace(statement, dropped={**statement.dropped, DAMAGED: left_out})
    draft = replace(draft, statement=statement, frame=draft.frame.persist(StorageLevel.MEMORY_AND_DISK))
    progress.start(f"{job.method}: running and checking")
    release = make_release(draft, found.log, knowledge, seed=job.seed)
    _warn(release.statement, progress)
    progress.start("writing the release")
    if job.truth is not None and release.truth is not None:
        write_truth_folder(release.truth, job.truth)
    try:
        return write_folder(
            release,
            job.output,
            found.form,
            command=job.command,
            sign=job.sign,
            safe_csv=job.safe_csv,
            overwrite=job.overwrite,
            before=lambda: found.check_unchanged(session),
        )
    except BaseException:  # a truth of nothing is of no use, and says who was in the log
        if job.truth is not None:
            shutil.rmtree(job.truth, ignore_errors=True)
        raise


def _refuse_own_input(output: str, files: InputFiles) -> None:
    """Refuse to put the release in the place of the log, or of a folder that holds it."""
    place = str(Path(output).absolute()) if is_local(output) else output.rstrip("/")
    for file in files.files:
        if f"{file.shown}/".startswith(f"{place}/"):
            raise UserError(f"{output}: the log is there; choose another output.")


def _warn(statement: PrivacyStatement, progress: Progress) -> None:
    """Say so where nothing is left."""
    if not statement.counts_out.get("rows"):
        progress.note("The release is empty: nothing passed the settings.")
