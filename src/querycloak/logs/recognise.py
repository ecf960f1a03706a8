"""The form of a text file, by its first lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from querycloak.errors import InputError
from querycloak.logs.columns import assign, by_position, is_header, session_hint, shown_name
from querycloak.logs.form import LogForm
from querycloak.logs.formats.aol import aol_form, looks_like_aol
from querycloak.logs.formats.excite import excite_form, looks_like_excite
from querycloak.logs.formats.plugins import plugin_format
from querycloak.logs.formats.table import SEPARATED, SEPARATORS, csv_separator, first_rows
from querycloak.logs.read_options import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak.logs.read_options import ReadOptions

__all__ = ["FORMATS", "PARQUET_MAGIC", "check_format", "recognise_text", "table_form"]

PARQUET_MAGIC: Final = b"PAR1"
MOST_ROWS: Final = 1000
"""first rows that are looked at"""


def check_format(name: str | None) -> None:
    """Refuse the name of a format that does not exist, here or in another package."""
    if name is not None and name not in FORMATS:
        plugin_format(name)


def recognise_text(sample: bytes, path: Path) -> str:
    """Tell 'jsonl', 'tsv' or 'csv' by the first line that is not blank."""
    start = sample.lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    line = sample.lstrip(b"\n").split(b"\n", 1)[0]
    if b"\t" in line:
        return "tsv"
    if b"," in line or b";" in line:
        return "csv"
    problem = "not a query log: the first line has no tab, no comma, no semicolon and no JSON object"
    raise InputError.at(path, problem)


def table_form(sample: bytes, path: Path, name: str, options: ReadOptions) -> LogForm:
    """Return the form of a table of text; `name` is its format, with 'tsv' for all that tabs separate.

    The well-known forms are known by what they hold. Any other table must have a header with common names, or the user
    says which columns are the user and the query: nothing is told by their number or order.
    """
    separator = csv_separator(sample) if name == "csv" else SEPARATORS[name]
    rows = first_rows(sample, separator, MOST_ROWS)
    if not rows:
        raise InputError.at(path, "the file holds blank lines only")
    if not options.columns:
        asked = options.format in {"aol", "excite"}
        form = aol_form(rows, header=options.header, asked=asked) if name in {"aol", "tsv"} else None
        if form is None and name in {"excite", "tsv"} and not options.header:
            form = excite_form(rows, asked=asked)
        if form is not None:
            return form
        if name in {"aol", "excite"}:
            raise InputError.at(path, _expected(name, len(rows[0])), 1)
    return _mapped(rows, path, "csv" if name == "csv" else "tsv", options, sample)


def _mapped(rows: list[list[str]], path: Path, name: str, options: ReadOptions, sample: bytes) -> LogForm:
    mapping = options.columns
    between = csv_separator(sample) if name == "csv" else SEPARATORS[name]
    header = _has_header(rows, path, name, options, between)
    if header:
        columns = assign(rows[0], mapping, path, surely_names=False)
    else:
        if not {"user", "query"} <= mapping.keys() or not by_position(mapping):
            raise InputError.at(path, f"without a header, columns are given by position, {_counted(rows[0], between)}")
        names = [f"column {i + 1}" for i in range(len(rows[0]))]
        columns = assign(names, mapping, path, surely_names=True)
    separator: Literal[",", ";"] = ";" if between == ";" else ","
    all_quoted = name == "csv" and _all_quoted(sample, rows, separator, header=header)
    return LogForm(name, columns, header=header, quoting="all" if all_quoted else "needed", separator=separator)


def _has_header(rows: list[list[str]], path: Path, name: str, options: ReadOptions, separator: str) -> bool:
    """Say whether the first line names the columns, where that is certain; ask where it is not."""
    if options.header is not None:
        return options.header
    if is_header(rows[0], options.columns):
        return True
    if options.columns and name == "tsv" and (looks_like_aol(rows) or looks_like_excite(rows)):
        return False
    if options.columns:
        problem = (
            "columns are given by position, and the first line may be a header or data; add --header if it names the "
            "columns, --no-header if it is the first row"
        )
        raise InputError.at(path, problem)
    raise InputError.at(path, _not_recognised(rows[0], path, name, separator))


def _not_recognised(fields: list[str], path: Path, name: str, separator: str) -> str:
    """Say that nothing is guessed, what was found, and what to type in either case."""
    found = f"{len(fields)} {SEPARATED[separator]} fields"
    known = [shown_name(i, fields, None, header=True) for i in range(len(fields))]
    common = [field for field, shown in zip(fields, known, strict=True) if field == shown]
    if is_header(fields) or len(common) > 1:
        found += f", of which {', '.join(common)} are known{session_hint(fields)}"
    command = f"querycloak anonymize {path.name} -o release.{name} --method sweep"
    return (
        f"the first line has {found}, and does not say by common names which column is the user and which the query; "
        "they are not guessed, because a wrong guess would publish people. If the first line is a header, name them, "
        f"as in `{command} --columns user=NAME,query=NAME`; if it is data, count them, as in "
        "`--no-header --columns user=1,query=2`"
    )


def _counted(fields: list[str], separator: str) -> str:
    found = f"{len(fields)} {SEPARATED[separator]} fields"
    return f"as in --no-header --columns user=1,query=2; the first line has {found}"


def _all_quoted(sample: bytes, rows: list[list[str]], separator: str, *, header: bool) -> bool:
    """Say whether the first row of data has quotes around every field."""
    row = rows[1] if header and len(rows) > 1 else rows[0]
    quoted = separator.join('"' + field.replace('"', '""') + '"' for field in row).encode()
    return b"\n" + quoted + b"\n" in b"\n" + sample + b"\n"


def _expected(name: str, width: int) -> str:
    if name == "aol":
        return (
            "not in the AOL form: expected its header, or rows of 5 or 3 tab-separated fields with a time in the "
            f"third, found {width} fields"
        )
    return (
        "not in the Excite form: expected rows of 3 tab-separated fields with a time of 12 digits in the second, "
        f"found {width} fields"
    )
