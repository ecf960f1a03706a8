"""The files of a log, looked at before any long job: that they are there, can be opened, and have one schema.

Only the first bytes or the footer of each file are read. What the first file is taken for holds for all: a file that
differs is named, never what is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, QueryCloakError, UserError
from querycloak.logs.decoding import Decoder, find_wrapping
from querycloak.logs.layout import find_layout
from querycloak.logs.read_options import FORMATS
from querycloak.logs.recognise import PARQUET_MAGIC, check_format
from querycloak.spark.file_system import FileSystem, InputFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from querycloak.logs.layout import Layout
    from querycloak.logs.read_options import ReadOptions

__all__ = ["InputFiles", "look_at"]

HEAD: Final = 1 << 16
"""bytes of each file that are looked at"""
SUFFIXES: Final = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "jsonl",
}  # fmt: skip
PACKED: Final = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")
EMPTY: Final = "the file is empty"


class _Shown(str):
    """The path of a file as messages show it, of any store; `name` is its last part."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class InputFiles:
    """The files of a log that can be read, all of one form."""

    files: tuple[InputFile, ...]
    layout: Layout | None
    """of files of text; None = Parquet"""
    left_out: tuple[str, ...] = ()
    """files that cannot be opened, which the user allowed to leave out"""

    @property
    def shown(self) -> str:
        """What messages call the log."""
        first = self.files[0].shown
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1:,} more files"

    @property
    def size(self) -> int:
        """Bytes, as they are packed."""
        return sum(file.size for file in self.files)


def look_at(session: SparkSession, paths: Sequence[str], options: ReadOptions) -> InputFiles:
    """Find the files of paths and patterns, and say what they are; whatever is wrong is said here, in one sentence."""
    check_format(options.format)
    if options.format is not None and options.format not in FORMATS:
        raise UserError(f"Spark reads no logs of the format {options.format!r}; convert them to Parquet or TSV first.")
    system = FileSystem(session)
    files = list(dict.fromkeys(file for path in paths for file in system.find(path)))
    empty = [file for file in files if file.size == 0]
    files = [file for file in files if file.size > 0]
    if not files:
        raise InputError.at(empty[0].shown, EMPTY)
    kind = options.format or _kind_by_name(files)
    if kind is None and not files[0].path.endswith(PACKED) and system.head(files[0], 4) == PARQUET_MAGIC:
        kind = "parquet"
    if kind == "parquet":
        return _parquet(system, files, options)
    return _text(system, files, options)


def _kind_by_name(files: Sequence[InputFile]) -> str | None:
    """Return the format that all names say; None = the content of the first file decides."""
    kinds = {}
    for file in files:
        name = file.path.rsplit("/", 1)[-1].lower()
        for packed in PACKED:
            name = name.removesuffix(packed)
        kinds[SUFFIXES.get("." + name.rsplit(".", 1)[-1] if "." in name else "")] = file
    if len(kinds) > 1:
        first, other = list(kinds.values())[:2]
        problem = f"has another format by its name than {first.shown}; read them apart, or say which with --format"
        raise InputError.at(other.shown, problem)
    found = next(iter(kinds))
    return "parquet" if found == "parquet" else None  # tsv may be AOL or Excite: its content says


def _parquet(system: FileSystem, files: list[InputFile], options: ReadOptions) -> InputFiles:
    """Compare the footers."""
    if options.unescape:
        raise InputError.at(files[0].shown, "only CSV has apostrophes to take away (--unescape), and this is parquet")

    def schema(file: InputFile) -> dict[str, str] | None:
        try:
            return system.parquet_schema(file)
        except Exception as error:  # whatever Java says of it: it is no Parquet file that anybody can read
            if isinstance(error, QueryCloakError):
                raise
            return None

    found = system.map(schema, files)
    damaged = [file.shown for file, one in zip(files, found, strict=True) if one is None]
    if damaged and options.on_error != "skip":
        more = f" (and {len(damaged) - 1:,} more files)" if len(damaged) > 1 else ""
        problem = "is damaged or no Parquet file; put it right, or leave such files out with --on-error skip"
        raise InputError.at(damaged[0] + more, problem)
    good = [(file, one) for file, one in zip(files, found, strict=True) if one is not None]
    if not good:
        raise InputError.at(damaged[0], "no file can be read as Parquet")
    first = good[0][1]
    for file, one in good[1:]:
        if one != first:
            raise InputError.at(file.shown, _difference(first, one, good[0][0]))
    return InputFiles(tuple(file for file, _ in good), None, tuple(damaged))


def _difference(first: dict[str, str], other: dict[str, str], than: InputFile) -> str:
    """Say in numbers how a schema differs: a column may be called by somebody's id."""
    more, fewer = len(other.keys() - first.keys()), len(first.keys() - other.keys())
    typed = sum(first[name] != other[name] for name in first.keys() & other.keys())
    seen = [f"{n} {what}" for n, what in ((more, "columns more"), (fewer, "columns fewer")) if n]
    seen += [f"{typed} columns of another type"] if typed else []
    return (
        f"has another schema than {than.shown}: {', '.join(seen)}; bring the files to one schema, or anonymize one of "
        "both sets alone"
    )


def _text(system: FileSystem, files: list[InputFile], options: ReadOptions) -> InputFiles:
    """Compare the first lines."""

    def head(file: InputFile) -> bytes | None:
        try:
            return _whole_lines(system.head(file, HEAD))
        except Exception as error:  # packed data that are damaged, or no access
            if isinstance(error, QueryCloakError):
                raise
            return None

    heads = system.map(head, files)
    damaged = [file.shown for file, one in zip(files, heads, strict=True) if one is None]
    if damaged and options.on_error != "skip":
        problem = "cannot be opened or unpacked; put it right, or leave such files out with --on-error skip"
        raise InputError.at(damaged[0], problem)
    good = [(file, one) for file, one in zip(files, heads, strict=True) if one]
    if not good:
        raise InputError.at(files[0].shown, EMPTY if not damaged else "no file can be read")
    layout = _layout(good[0][1], good[0][0], options)
    for file, one in good[1:]:
        _refuse_other(layout, _layout_or_refuse(one, file, options, good[0][0]), file, good[0][0])
    return InputFiles(tuple(file for file, _ in good), layout, tuple(damaged))


def _whole_lines(head: bytes) -> bytes:
    end = head.rfind(b"\n") + 1
    return head[:end] if end and len(head) == HEAD else head


def _layout(head: bytes, file: InputFile, options: ReadOptions) -> Layout:
    if head.startswith(PARQUET_MAGIC):
        raise InputError.at(file.shown, "a Parquet file; give the format with --format parquet")
    shown = _Shown(file.shown)
    wrapping = find_wrapping(head, shown, options.encoding, options.format)
    if wrapping.encoding.startswith("utf-16"):
        raise InputError.at(file.shown, "Spark cannot cut UTF-16 into lines; convert it to UTF-8 first")
    if wrapping.array:
        raise InputError.at(
            file.shown, "one JSON array, which cannot be read in parts; write one object per line (JSON lines) first"
        )
    return find_layout(Decoder(wrapping).decode(head), shown, options, wrapping)


def _layout_or_refuse(head: bytes, file: InputFile, options: ReadOptions, first: InputFile) -> Layout:
    try:
        return _layout(head, file, options)
    except InputError:
        problem = f"does not begin as {first.shown} does; bring the files to one form, or anonymize them apart"
        raise InputError.at(file.shown, problem) from None


def _refuse_other(first: Layout, other: Layout, file: InputFile, than: InputFile) -> None:
    """Refuse a file whose columns are others, in another order, or separated or encoded in another way."""
    a, b = first.form, other.form
    same = a.format == b.format and a.encoding == b.encoding and (a.line_end == "\r") == (b.line_end == "\r")
    if first.is_json:
        ours, theirs = ({(c.role, c.path or (c.name,)) for c in form.columns if c.role} for form in (a, b))
        needed = {key for key in ours if key[0] in {"user", "query"}}
        same = same and needed <= theirs
        what = "the user or the query has another key"
    else:
        same = same and a.header == b.header and [c.name for c in a.columns] == [c.name for c in b.columns]
        same = same and a.separator == b.separator
        what = f"{len(b.columns)} columns with{'' if b.header else 'out'} a header, against {len(a.columns)}"
    if not same:
        problem = f"has another form than {than.shown} ({what}); bring the files to one form, or anonymize them apart"
        raise InputError.at(file.shown, problem)
