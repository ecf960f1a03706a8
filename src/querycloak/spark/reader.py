"""Reading a log with Spark: which files, which columns, how many rows and people; bad lines as on one machine.

What can be known early is said early: first from names, first bytes and footers (`inputs.py`), then by passes over the
rows that count them, before a method runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError
from querycloak.logs.description import describe_form
from querycloak.logs.form import Column, LogForm
from querycloak.logs.problems import BAD
from querycloak.logs.sanity import check_columns
from querycloak.logs.sanity_signs import FEWEST_ROWS_FOR_USERS, MOST_USERS_PER_ROW
from querycloak.progress import QUIET
from querycloak.spark.failures import failure, unreadable_file
from querycloak.spark.file_system import FileSystem, local_path
from querycloak.spark.inputs import InputFiles, look_at
from querycloak.spark.spark_log import FURTHER, SparkLog
from querycloak.spark.text_lines import PROBLEM, SEVERAL_LINES, STATUS_WORDS, fields_of_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

    from querycloak.logs.read_options import ReadOptions
    from querycloak.progress import Progress

__all__ = ["DAMAGED", "SparkInput", "read_log_with_spark"]

MOST_DAMAGED: Final = 20
"""files that are found to be damaged inside, one pass over the log for each, before we give up"""
SKEWED_SHARE: Final = 0.01
SKEWED_ROWS: Final = 1_000_000
LOOKED_AT: Final = 50_000
"""first rows whose columns are looked at as on one machine"""
DAMAGED: Final = "files that cannot be read (files, not rows)"


@dataclass(frozen=True)
class SparkInput:
    """A log read with Spark."""

    log: SparkLog
    form: LogForm
    """how its files are written; of the columns, those with a role"""
    files: InputFiles
    rows: int
    users: int
    most_rows: int
    """of one user"""

    def check_unchanged(self, session: SparkSession) -> None:
        """Refuse to publish where an input file changed meanwhile: a task that ran again would have read other rows."""
        system = FileSystem(session)
        now = {file for pattern in self.files.files for file in system.find(pattern.path)}
        if now != set(self.files.files):
            raise InputError.at(self.files.shown, "changed while it was read; nothing is published, so start again")


def read_log_with_spark(
    session: SparkSession,
    paths: Sequence[str],
    options: ReadOptions,
    *,
    progress: Progress = QUIET,
    only: Collection[str] | None = None,
    further: bool = False,
    check_form: Callable[[LogForm | None], object] = bool,
) -> SparkInput:
    """Read files as one log, say what they were taken for, and refuse what is no log; two passes over the rows.

    `only` = the roles that are read; None = all. With `further`, columns without a role are read, too. `check_form` may
    refuse how the files are written, before any pass.
    """
    progress.start("looking at the files")
    files = look_at(session, paths, options)
    check_form(None if files.layout is None else files.layout.form)
    progress.start("counting rows and users")
    left_out = list(files.left_out)
    while True:
        try:
            found = _read(session, files, options, only, further=further)
            break
        except Exception as error:
            file = unreadable_file(error)
            if options.on_error != "skip" or not file or len(left_out) >= MOST_DAMAGED:
                raise failure(error) or error from None
            kept = tuple(one for one in files.files if local_path(one.path) != local_path(file))
            if not kept or len(kept) == len(files.files):
                raise InputError.at(file, "no other file can be read") from None
            left_out.append(local_path(file))
            files = replace(files, files=kept)
    if left_out:
        dropped = {**found.log.dropped, DAMAGED: len(left_out)}
        found = replace(found, log=replace(found.log, dropped=dropped), files=replace(files, left_out=tuple(left_out)))
    _say(found, options, progress)
    if not options.assume_yes:
        _check_columns(found, options)
    return found


def _read(
    session: SparkSession, files: InputFiles, options: ReadOptions, only: Collection[str] | None, *, further: bool
) -> SparkInput:
    paths = [file.path for file in files.files]
    columns = dict(options.columns) or None
    problems: dict[str, int] = {}
    if files.layout is None:
        parquet = exactly(session).parquet(*paths)
        log = SparkLog.of(parquet, columns, source=files.shown, on_error=options.on_error, only=only)
        form = LogForm("parquet", (), time_format="datetime")
        by_role = {name: role for role, name in log.names.items()}
        names = exactly(session).parquet(paths[0]).columns
        form = replace(form, columns=tuple(Column(n, by_role[n]) for n in names if n in by_role))  # type: ignore[arg-type]
    else:
        form = files.layout.form
        form = replace(form, columns=tuple(c for c in form.columns if c.role is not None))
        lines = exactly(session).option("lineSep", "\r" if form.line_end == "\r" else "\n").text(paths)
        fields = fields_of_lines(lines, files.layout, options.category_separator, further=further)
        problems = _problems(fields, files, options)
        good = fields.where(f"`{PROBLEM}` = 0").drop(PROBLEM)
        named = {name: name for name in good.columns if not name.startswith(FURTHER)}
        log = SparkLog.of(good, named, source=files.shown, on_error=options.on_error, only=only)
        own = {name.removeprefix(FURTHER): called for name, called in log.further.items()}
        by_role = {str(c.role): c.name for c in form.columns}
        log = replace(log, names=by_role, further=own, columns_found=bool(form.found))
    rows, users, most = _people(log)
    dropped = {**problems, **{reason: n for reason, n in log.dropped.items() if n}}
    return SparkInput(replace(log, dropped=dropped), form, files, rows, users, most)


def exactly(session: SparkSession) -> DataFrameReader:
    """Return what reads files by their names, which may have brackets or stars: they were looked for already."""
    return session.read.option("__globPaths__", "false")


def _problems(fields: DataFrame, files: InputFiles, options: ReadOptions) -> dict[str, int]:
    """Count lines by what is wrong with them: one pass. Bad ones end the reading unless they are to be left out."""
    counts = {int(row[0]): int(row[1]) for row in fields.groupBy(PROBLEM).count().collect()}
    if counts.get(SEVERAL_LINES):
        problem = (
            f"{counts[SEVERAL_LINES]:,} lines have a quote that is not closed on them; Spark reads parts of a file "
            "apart, so a field cannot go over several lines: convert the log to Parquet or JSON lines first"
        )
        raise InputError.at(files.shown, problem)
    bad = {STATUS_WORDS[status]: n for status, n in counts.items() if status in BAD}
    if bad and options.on_error != "skip":
        seen = "; ".join(f"{n:,} {words.removesuffix(', left out')}" for words, n in bad.items())
        raise InputError.at(files.shown, f"{seen}; put them right, or leave them out with --on-error skip")
    left_out = {STATUS_WORDS[s].removesuffix(", left out"): n for s, n in counts.items() if s in STATUS_WORDS}
    return {words: n for words, n in left_out.items() if not words.startswith(("blank", "header"))}


def _people(log: SparkLog) -> tuple[int, int, int]:
    """Return rows, users, and the most rows of one user: one pass, which reads every value of every column."""
    from pyspark.sql import functions as F  # noqa: N812

    read = F.max(F.xxhash64(*log.frame.columns)).alias("read")  # so that damage inside a file is found now
    per_user = log.frame.groupBy("user").agg(F.count("*").alias("rows"), read)
    row = per_user.select(F.sum("rows"), F.count("*"), F.max("rows"), F.max("read")).first()
    return (0, 0, 0) if row is None or row[0] is None else (int(row[0]), int(row[1]), int(row[2]))


def _say(found: SparkInput, options: ReadOptions, progress: Progress) -> None:
    """Say which column is which, how much there is, and what was left out."""
    about = describe_form(found.form, options.columns)
    progress.note(f"{found.files.shown}: {about}; {found.rows:,} rows, {found.users:,} users")
    for reason, n in found.log.dropped.items():
        if n and reason != DAMAGED:
            progress.note(f"{found.files.shown}: {n:,} {reason}, left out")
    for reason, n in found.log.missing.items():
        if n:
            progress.note(f"{found.files.shown}: {n:,} {reason}")
    for path in found.files.left_out:
        progress.note(f"{path}: cannot be read, left out with all its rows")
    most = found.most_rows
    if most > SKEWED_ROWS and most > SKEWED_SHARE * found.rows:
        progress.note(
            f"One user has {most:,} rows, {most / found.rows:.1%} of all: probably a program. What is done user by "
            "user waits for the one task that has it."
        )


def _check_columns(found: SparkInput, options: ReadOptions) -> None:
    """Look at the columns as on one machine: the first rows, and the users of all."""
    from querycloak.logs.query_log import QueryLog

    rows = found.log.frame.select("user", "query").limit(LOOKED_AT).toArrow()
    try:
        first = QueryLog.of(rows["user"].to_pylist(), rows["query"].to_pylist())
    except UnicodeDecodeError:
        raise InputError.at(found.files.shown, "holds text that is no UTF-8; put it right first") from None
    check_columns(replace(first, form=found.form), found.files.shown, options, whole=False)
    if found.rows >= FEWEST_ROWS_FOR_USERS and found.users > MOST_USERS_PER_ROW * found.rows:
        problem = (
            f"the column taken for the user has {found.users:,} different values in {found.rows:,} rows, nearly one "
            "per row, as row numbers or queries do; say which column is which with --columns, or, if it is right, go "
            "on with --yes"
        )
        raise InputError.at(found.files.shown, problem)
