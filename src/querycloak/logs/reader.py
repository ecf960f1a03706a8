"""Reading a log: open, unpack, recognise, and build it block by block."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from querycloak.errors import InputError
from querycloak.logs.builder import LogBuilder
from querycloak.logs.compression import compression_of, open_binary
from querycloak.logs.formats.jsonlines import JsonLines
from querycloak.logs.formats.parquet import read_parquet
from querycloak.logs.formats.table import table_frames
from querycloak.logs.read_options import ReadOptions, read_options
from querycloak.logs.recognise import PARQUET_MAGIC, check_format, recognise_text, table_form
from querycloak.logs.sanity import check_columns
from querycloak.logs.text_blocks import TextBlocks
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from querycloak.logs.form import LogForm, Role
    from querycloak.logs.query_log import QueryLog

__all__ = ["guarded", "read_log", "read_with_form"]


def read_log(
    path: str | Path, options: ReadOptions | None = None, *, progress: Progress = QUIET, **given: Any
) -> QueryLog:
    """Read a query log.

    `options` says what the user knows of the log; each of them can be given by name instead, as in
    `read_log("log.tsv", columns={"user": "uid", "query": "q"})`: see `ReadOptions`. Without them, columns are known by
    the names that logs commonly use, and the format by content; what is not certain is asked for, not guessed, and
    columns that look wrong are refused unless `yes=True` (`querycloak.logs.sanity`). Rows keep their order in the
    file. What had to be fixed is counted in `problems`.
    """
    asked = read_options(options, given)
    check_format(asked.format)
    source = Path(path)
    with guarded(source):
        log = _read(source, asked, None, progress)
    check_columns(log, source, asked)
    return log


def read_with_form(path: str | Path, form: LogForm) -> QueryLog:
    """Read a log whose form is known, such as a release with its statement."""
    source = Path(path)
    with guarded(source):
        return _read(source, ReadOptions(format=form.format), form, QUIET)


def _read(path: Path, options: ReadOptions, form: LogForm | None, progress: Progress) -> QueryLog:
    name, columns = options.format, options.columns or None
    compression = compression_of(path)
    problems: Counter[str] = Counter()
    progress.start(f"reading {path.name}", None if compression else path.stat().st_size)
    with open_binary(path) as file:
        start = file.read(len(PARQUET_MAGIC))
        if name == "parquet" or (name is None and start == PARQUET_MAGIC):
            if compression:
                raise InputError.at(path, "a Parquet file inside a compressed one; unpack it first")
            return read_parquet(path, columns, form)
        text = TextBlocks(_Watched(file, progress, start), path, problems)
        if text.empty and form is None:
            raise InputError.at(path, "the file is empty")
        sample = text.sample()
        name = form.format if form else name or recognise_text(sample, path)
        if name in {"jsonl", "ubi"}:
            log = _read_json(text, path, columns, name, form, problems)
        else:
            found = form or table_form(sample, path, name, options)
            log = _read_table(text, path, found, problems, known=form is not None)
    assert log.form is not None
    seen = replace(log.form, line_end=text.line_end, last_line_end=text.last_line_end, bom=text.bom)
    return replace(log, form=replace(seen, compression=compression))


def _read_table(text: TextBlocks, path: Path, form: LogForm, problems: Counter[str], *, known: bool) -> QueryLog:
    fixed = known or form.format == "excite"
    builder = LogBuilder(path, _roles(form), problems, form.time_format if fixed else None)
    for frame in table_frames(text, form, path, problems):
        builder.add(frame)
    return builder.finish(replace(form, time_format=builder.time_format or form.time_format))


def _read_json(
    text: TextBlocks,
    path: Path,
    columns: Mapping[str, str] | None,
    name: str,
    form: LogForm | None,
    problems: Counter[str],
) -> QueryLog:
    lines = JsonLines(text, path, columns, None if name == "jsonl" and form is None else name, form)
    builder = LogBuilder(path, lines.roles, problems, form.time_format if form else None)
    for frame in lines.frames(problems):
        builder.add(frame)
    found = lines.form()
    return builder.finish(replace(found, time_format=builder.time_format or found.time_format))


def _roles(form: LogForm) -> dict[Role, str]:
    return {column.role: column.name for column in form.columns if column.role is not None}


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Tell in one sentence whatever goes wrong while a file is read."""
    if "\0" in str(path):
        raise InputError("The name of the file to read has a NUL character in it.")
    try:
        yield
    except FileNotFoundError:
        raise InputError.at(path, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.at(path, "expected a file, found a directory") from None
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({error.strerror or type(error).__name__})") from None
    except MemoryError:
        raise InputError.at(path, "does not fit into memory; use a larger machine, or split the log by user") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # The message of the library may quote the file, so only its kind is told.
        raise InputError.at(path, f"cannot be read as a log ({type(error).__name__})") from None


class _Watched:
    """A stream that tells how far it has been read."""

    def __init__(self, stream: BinaryIO, progress: Progress, start: bytes) -> None:
        self._stream = stream
        self._progress = progress
        self._start = start

    def read(self, size: int) -> bytes:
        data = self._start + self._stream.read(size - len(self._start))
        self._start = b""
        self._progress.advance(len(data))
        return data
