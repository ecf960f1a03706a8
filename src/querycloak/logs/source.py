"""Reading a log: open, unpack, decode, recognise, and build it batch by batch.

The way of one row: `compression` unpacks the file, `records` decodes it and finds the line and its values (`layout`
says how lines are written), `builder` turns the values into codes. A stream takes the same way up to the records.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from querycloak.errors import InputError
from querycloak.logs.builder import LogBuilder
from querycloak.logs.compression import open_source
from querycloak.logs.decoding import Decoder, Wrapping, find_wrapping
from querycloak.logs.formats.parquet import read_parquet
from querycloak.logs.formats.plugins import read_as_form, read_by_plugin
from querycloak.logs.guarded import guarded
from querycloak.logs.layout import find_layout, known_layout
from querycloak.logs.problems import LONGEST_LINE
from querycloak.logs.read_options import ReadOptions, read_options
from querycloak.logs.recognise import PARQUET_MAGIC, check_format
from querycloak.logs.records import RecordReader
from querycloak.logs.sanity import check_columns
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.logs.form import LogForm
    from querycloak.logs.query_log import QueryLog

__all__ = ["STDIN", "guarded", "read_log", "read_parts", "read_with_form"]

BLOCK: Final = 1 << 22
"""Bytes read at once: what is found in them fits into the caches of a processor."""
STDIN: Final = Path("standard input")


def read_log(
    path: str | Path, options: ReadOptions | None = None, *, progress: Progress = QUIET, **given: Any
) -> QueryLog:
    """Read a query log; "-" is standard input, and a named pipe is read like a file.

    `options` says what the user knows of the log; each of them can be given by name instead, as in
    `read_log("log.tsv", columns={"user": "uid", "query": "q"})`: see `ReadOptions`. Without them, columns are known by
    the names that logs commonly use, and the format by content; what is not certain is asked for, not guessed, and
    columns that look wrong are refused unless `yes=True` (`querycloak.logs.sanity`). Rows keep their order in the
    file. What was left out or taken as missing is counted in `problems`.
    """
    asked = read_options(options, given)
    check_format(asked.format)
    with guarded(Path(path)):
        log = read_by_plugin(Path(path), asked)
        if log is None:
            log = _read(Path(path), asked, None, progress)
    check_columns(log, Path(path), asked)
    return log


def read_with_form(path: str | Path, form: LogForm) -> QueryLog:
    """Read a log whose form is known, such as a release with its statement."""
    with guarded(Path(path)):
        log = read_as_form(Path(path), form)
        return _read(Path(path), ReadOptions(format=form.format), form, QUIET) if log is None else log


def read_parts(folder: Path, parts: Sequence[Path], form: LogForm) -> QueryLog:
    """Read files of one form as one log, one after the other; each table of text has its own header."""
    with guarded(folder):
        if form.format == "parquet":
            return read_parquet(parts, ReadOptions(format="parquet"), form, source=folder)
        layout = known_layout(replace(form, header=False), b"", folder)
        if form.header and not layout.is_json and parts:
            layout = replace(layout, head=_header_line(parts[0]))  # known wherever a part begins
        problems = layout.problems(folder, stop=True)
        reader = RecordReader(layout, problems, collect=True)
        builder = LogBuilder(reader, form.time_format if form.format == "excite" else None)
        last = b"\n"
        for part in parts:
            with open_source(part) as source:
                while data := source.stream.read(BLOCK):
                    builder.add(reader.read(data))
                    last = data
            if not _ends_line(last, form):
                builder.add(reader.read(form.line_end.encode()))
        builder.add(reader.read(b"", final=True))
        found = reader.form()
        return builder.finish(replace(found, time_format=builder.time_format or found.time_format))


def _header_line(part: Path) -> bytes:
    """Return the header that each part begins with."""
    with open_source(part) as source:
        first = _first_lines(_Watched(source.stream, QUIET))
    return first[: first.find(b"\n") + 1]


def peek_roles(path: str | Path, options: ReadOptions) -> frozenset[str] | None:
    """Return the roles of a table's columns by its first lines alone.

    None where they do not say: of a pipe, which can be read once, and of JSON, whose records may have other keys later.
    """
    if not Path(path).is_file():
        return None
    with guarded(Path(path)), open_source(Path(path)) as source:
        first = _first_lines(_Watched(source.stream, QUIET))
    if not first or first.startswith(PARQUET_MAGIC) or options.format == "parquet":
        return None
    wrapping = find_wrapping(first, path, options.encoding, options.format)
    layout = find_layout(Decoder(wrapping).decode(first), path, options, wrapping)
    return None if layout.is_json else frozenset(c.role for c in layout.form.columns if c.role)


def _read(path: Path, options: ReadOptions, form: LogForm | None, progress: Progress) -> QueryLog:
    shown = STDIN if str(path) == "-" else path
    with open_source(path) as source:
        progress.start(f"reading {shown.name}", source.size)
        stream = _Watched(source.stream, progress)
        first = _first_lines(stream)
        if options.format == "parquet" or (options.format is None and first.startswith(PARQUET_MAGIC)):
            if options.unescape:
                raise InputError.at(shown, "only CSV has apostrophes to take away (--unescape), and this is parquet")
            if source.compression:
                raise InputError.at(shown, "a Parquet file inside a compressed one; unpack it first")
            if source.size is None:
                raise InputError.at(shown, "a Parquet file cannot be read from a pipe; save it as a file first")
            return read_parquet(path, options, form)
        if not first and form is None:
            raise InputError.at(shown, "the file is empty")
        if form is None:
            wrapping = find_wrapping(first, shown, options.encoding, options.format)
            layout = find_layout(Decoder(wrapping).decode(first), shown, options, wrapping)
        else:
            layout = known_layout(form, Decoder(Wrapping.of(form)).decode(first), shown)
        problems = layout.problems(shown, stop=options.on_error == "stop")
        reader = RecordReader(layout, problems, collect=True)
        fixed = form is not None or layout.form.format == "excite"
        time_format = layout.form.time_format if fixed else None
        builder = LogBuilder(reader, time_format, options.max_memory, options.category_separator)
        data, last = first, b"\n"
        while data:
            builder.add(reader.read(data))
            last, data = data, stream.read(BLOCK)
        builder.add(reader.read(b"", final=True))
    found = reader.form()
    found = replace(found, time_format=builder.time_format or found.time_format, compression=source.compression)
    log = builder.finish(replace(found, last_line_end=_ends_line(last, found)))
    if layout.is_json and options.columns and not len(log) and log.problems:  # keys are taken as they are named
        named = " and ".join(name for role, name in options.columns.items() if role in {"user", "query"})
        raise InputError.at(shown, f"no record has a value for {named}; check the names in --columns")
    return log


def _first_lines(stream: _Watched) -> bytes:
    """Read until there is a whole line that is not blank, or what is longer than any line may be."""
    data = stream.read(BLOCK)
    while data and len(data) <= 2 * LONGEST_LINE and b"\n" not in data.lstrip(b"\r\n"):
        more = stream.read(BLOCK)
        if not more:
            break
        data += more
    return data


def _ends_line(data: bytes, form: LogForm) -> bool:
    """Tell whether the last line of a file has a line end, by its last bytes."""
    unit = 2 if form.encoding.startswith("utf-16") else 1
    return any(end.encode(form.encoding) == data[-unit:] for end in ("\n", "\r")[: 1 + (form.line_end == "\r")])


class _Watched:
    """A stream that tells how far it has been read."""

    def __init__(self, stream: BinaryIO, progress: Progress) -> None:
        self._stream = stream
        self._progress = progress

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._progress.advance(len(data))
        return data
