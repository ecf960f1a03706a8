"""Tables of other libraries: Polars as it is, pandas, Arrow and their like through narwhals.

A table in memory is read by the rules of files: columns are known by common names or named by the caller, never
guessed; the same values are the same people; the same checks look at the columns. Only the form differs: there
is no file, and what is written without a known suffix is Parquet, which keeps the types.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from querycloak.errors import InputError, ParameterError, UnknownNameError, UserError
from querycloak.logs.columns import showable
from querycloak.logs.formats.typed import read_typed
from querycloak.logs.option_names import in_python
from querycloak.logs.sanity import check_columns
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions

__all__ = ["SOURCE", "Table", "polars_frame", "read_frame"]

SOURCE: Final = "the table"
"""what messages call a table in memory"""
LIBRARIES: Final = {"pandas": "a pandas DataFrame", "pyarrow": "an Arrow table"}
FILE_OPTIONS: Final = ("format", "header", "encoding", "unescape")
"""options of reading that only mean something for a file"""


class Table(Protocol):
    """A table of Polars (also a LazyFrame), pandas, Arrow, or another library that narwhals knows."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def read_frame(table: object, options: ReadOptions, progress: Progress = QUIET) -> QueryLog:
    """Read a table in memory as a log, by the same rules and with the same checks as a file."""
    try:
        return _read(table, options, progress)
    except UserError as error:
        raise in_python(error) from None


def _read(table: object, options: ReadOptions, progress: Progress) -> QueryLog:
    for name in FILE_OPTIONS:
        if getattr(options, name) != type(options).__dataclass_fields__[name].default:
            raise ParameterError(f"`{name}` says how a file is read, and means nothing for a table.")
    frame = polars_frame(table)
    options = replace(options, columns={role: str(name) for role, name in options.columns.items()})
    for name in options.columns.values():
        if name.isdigit() and name not in frame.columns:  # in a file it would be a position from 1
            raise UnknownNameError.of(f"column of {SOURCE} named", name, showable(frame.columns))
    if not frame.width:
        raise InputError.at(SOURCE, "there are no columns; expected one for the user and one for the query")
    objects = [i + 1 for i, dtype in enumerate(frame.dtypes) if isinstance(dtype, pl.Object)]
    if objects:
        raise InputError.at(SOURCE, f"column {objects[0]} holds Python objects; make it text or numbers, or drop it")
    progress.start("reading the table", len(frame))
    try:
        log = read_typed(frame.lazy(), SOURCE, options, progress=progress)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # The message of the library may quote the table, so only its kind is told.
        raise InputError.at(SOURCE, f"cannot be read as a log ({type(error).__name__})") from None
    if not len(log):
        there = f"none of its {len(frame):,} rows has both a user and a query" if len(frame) else "there are no rows"
        raise InputError.at(SOURCE, there)
    check_columns(log, SOURCE, options)
    return log


def polars_frame(table: object) -> pl.DataFrame:
    """Return a table of any library as one of Polars; the index of pandas is left out."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        try:
            return table.collect()
        except pl.exceptions.PolarsError as error:
            raise InputError.at(SOURCE, f"the LazyFrame cannot be collected ({type(error).__name__})") from None
    library = _library(table)
    if library == "numpy" and hasattr(table, "shape"):
        hint = "an array has no names of columns: polars.DataFrame(array, schema=[…])"
        raise ParameterError(f"Expected a path or a table, got a numpy array; {hint}.")
    if type(table).__name__ in {"Series", "ChunkedArray"}:
        hint = "give the whole table, with a column for the user and one for the query"
        raise ParameterError(f"Expected a path or a table, got one column of it ({type(table).__name__}); {hint}.")
    return _by_narwhals(table, library)


def _by_narwhals(table: Any, library: str) -> pl.DataFrame:
    """Convert a table through narwhals, which knows every common library without loading any."""
    try:
        import narwhals
    except ImportError:
        if library in LIBRARIES:
            raise UserError(
                f"Reading {LIBRARIES[library]} needs narwhals, which is not installed: "
                f"pip install 'querycloak[dataframes]', or give it as polars.{_from(library)}(table)."
            ) from None
        raise _no_table(table) from None
    if library == "pyarrow" and type(table).__name__ == "RecordBatch":
        import pyarrow as pa

        table = pa.Table.from_batches([table])
    _refuse_odd_names(table)
    try:
        known = narwhals.from_native(table)
    except TypeError:
        raise _no_table(table) from None
    if isinstance(known, narwhals.LazyFrame):
        raise ParameterError(
            f"Expected a table in memory, got a {type(table).__name__} of {library} that is not computed yet; "
            "collect it first, as in table.to_arrow_table() or table.toPandas()."
        )
    try:
        found: pl.DataFrame = known.to_polars()
    except ImportError as error:
        raise UserError(
            f"Reading this table needs {error.name or 'pyarrow'}, which is not installed: pip install pyarrow."
        ) from None
    except Exception as error:  # whatever a library raises may quote the table: only its kind is told
        raise InputError.at(SOURCE, _mixed(known, error)) from None
    return found


def _refuse_odd_names(table: Any) -> None:
    """Refuse two columns of one name, also where the names are only the same as text, and names of several levels."""
    try:
        names = list(getattr(table, "column_names", getattr(table, "columns", ())))
    except TypeError:  # no table at all
        return
    if any(isinstance(name, tuple) for name in names):
        raise InputError.at(SOURCE, "its columns have names of several levels; give each column one name")
    texts = [str(name) for name in names]
    twice = next((i for i, name in enumerate(texts) if name in texts[:i]), None)
    if twice is not None:
        first = texts.index(texts[twice]) + 1
        raise InputError.at(SOURCE, f"columns {first} and {twice + 1} have the same name; rename one")


def _mixed(known: Any, error: Exception) -> str:
    """Say which column cannot be converted: mostly one that mixes text and numbers."""
    for i, name in enumerate(known.columns):
        try:
            known.select(name).to_polars()
        except Exception:
            what = "mixes types, as text and numbers do, or holds what is no text"
            return f"column {i + 1} {what}; give it one type, as in table[NAME].astype(str) where nothing is missing"
    return f"cannot be read as a log ({type(error).__name__})"


def _library(table: object) -> str:
    return type(table).__module__.partition(".")[0]


def _from(library: str) -> str:
    return "from_pandas" if library == "pandas" else "from_arrow"


def _no_table(table: object) -> ParameterError:
    return ParameterError(
        f"Expected a path, or a table of Polars, pandas or Arrow, got a {type(table).__name__}; "
        'a table is made by polars.DataFrame({"user": […], "query": […]}).'
    )
