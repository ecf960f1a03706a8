"""Reading a log: open, unpack, recognise, and build it block by block."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import polars as pl

from querycloak.errors import InputError
from querycloak.io.builder import LogBuilder
from querycloak.io.compression import recognise_compression, unpacked
from querycloak.io.jsonlines import JsonLines
from querycloak.io.parquet import read_parquet
from querycloak.io.recognise import PARQUET_MAGIC, check_format, recognise_text, table_form
from querycloak.io.table import table_frames
from querycloak.io.text import TextBlocks
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from querycloak.records import LogForm, QueryLog, Role

__all__ = ["opened", "read_log", "read_with_form"]


def read_log(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - the word that every command line uses
    progress: Progress = QUIET,
) -> QueryLog:
    """Read a query log.

    `columns` says which column plays which role (role → name in the file, or position from 1); without it, columns are
    known by the names that logs commonly use. `format` is one of aol, csv, excite, jsonl, parquet, tsv, ubi; without
    it, the content tells. Rows keep their order in the file. What had to be mended is counted in `problems`.
    """
    check_format(format)
    place = Path(path)
    with opened(place, progress) as file:
        return _read(file, place, columns, format, None)


def read_with_form(path: str | Path, form: LogForm) -> QueryLog:
    """Read a log whose form is known, such as a release with its statement."""
    place = Path(path)
    with opened(place, QUIET) as file:
        return _read(file, place, None, form.format, form)


def _read(
    file: IO[bytes], path: Path, columns: Mapping[str, str] | None, name: str | None, form: LogForm | None
) -> QueryLog:
    start = file.read(4)
    file.seek(0)
    if name == "parquet" or (name is None and start == PARQUET_MAGIC):
        return read_parquet(path, columns, form)
    compression = recognise_compression(start)
    problems: Counter[str] = Counter()
    with unpacked(file, path, compression) as stream:
        text = TextBlocks(stream, path, problems)
        if text.empty and form is None:
            raise InputError.at(path, "the file is empty")
        sample = text.sample()
        if form is None:
            if compression and sample.startswith(PARQUET_MAGIC):
                raise InputError.at(path, "a Parquet file inside a compressed one; unpack it first")
            name = name or recognise_text(sample, path)
        else:
            name = form.format
        log = (
            _read_json(text, path, columns, name, form, problems)
            if name in {"jsonl", "ubi"}
            else _read_table(
                text, path, form or table_form(sample, path, name, columns), problems, known=form is not None
            )
        )
    assert log.form is not None
    form = replace(log.form, line_end=text.line_end, last_line_end=text.last_line_end, bom=text.bom)
    return replace(log, form=replace(form, compression=compression))


def _read_table(text: TextBlocks, path: Path, form: LogForm, problems: Counter[str], *, known: bool) -> QueryLog:
    fixed = known or form.format in {"aol", "excite"}
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
def opened(path: Path, progress: Progress) -> Iterator[Any]:
    """Open a file for reading; whatever goes wrong on the way is told in one sentence."""
    try:
        if path.is_dir():
            raise InputError.at(path, "is a directory; name a file")
        with path.open("rb") as file:
            progress.start(f"reading {path.name}", path.stat().st_size)
            yield _Watched(file, progress)
    except FileNotFoundError:
        raise InputError.at(path, "there is no such file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise InputError.at(path, f"cannot be read: {(reason or type(error).__name__).lower()}") from None
    except MemoryError:
        raise InputError.at(path, "does not fit into memory; use a larger machine, or split the log by user") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # The message of the library may quote the file, so only its kind is told.
        raise InputError.at(path, f"cannot be read as a log ({type(error).__name__})") from None


class _Watched:
    """A file that tells how far it has been read."""

    def __init__(self, file: IO[bytes], progress: Progress) -> None:
        self._file = file
        self._progress = progress

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._progress.advance(len(data))
        return data

    def seek(self, *where: int) -> int:
        return self._file.seek(*where)
