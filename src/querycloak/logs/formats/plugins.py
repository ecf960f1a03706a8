"""Formats of other packages: how their entry points are asked to recognise, read and write (`querycloak.plugins`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, Any, Final

from querycloak.errors import InputError, OutputError, PluginError, UnknownNameError, UserError
from querycloak.logs.form import LogForm
from querycloak.logs.query_log import QueryLog
from querycloak.logs.read_options import ReadOptions
from querycloak.plugins import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = [
    "Format",
    "format_names",
    "plugin_format",
    "plugin_formats",
    "read_as_form",
    "read_by_plugin",
    "write_by_plugin",
]

FIRST_BYTES: Final = 4096
"""What a format sees of a file when it is asked whether it recognises it."""


def _never(first_bytes: bytes, name: str) -> bool:  # noqa: ARG001 - all are asked alike
    return False


@dataclass(frozen=True)
class Format:
    """A format of files, for `--format NAME`, `read_log` and `write_log`."""

    name: str
    summary: str
    """one line"""
    read: Callable[[Path, ReadOptions], QueryLog]
    """reads a file; raises InputError with the line number where one is bad"""
    write: Callable[[QueryLog, IO[bytes], LogForm], None] | None = None
    """writes the columns of the form, in their order; None = the format is only read"""
    recognise: Callable[[bytes, str], bool] = _never
    """tells by the first bytes and the name of a file, with certainty; default: only `--format NAME` reads it"""
    package: str = ""
    """the package it comes from, with its version"""


@lru_cache(maxsize=1)
def plugin_formats() -> Catalog[Format]:
    """Return the formats of other packages."""
    from querycloak.logs.recognise import FORMATS

    return Catalog("format", Format, (), reserved=frozenset(FORMATS))


def format_names() -> list[str]:
    """Return the names of all formats."""
    from querycloak.logs.recognise import FORMATS

    return [*FORMATS, *plugin_formats()]


def plugin_format(name: str) -> Format:
    """Find a format of another package; an unknown name is refused with the nearest of all formats."""
    try:
        return plugin_formats().find(name)
    except UnknownNameError:
        raise UnknownNameError.of("format", name, format_names()) from None


def read_by_plugin(path: Path, options: ReadOptions) -> QueryLog | None:
    """Read a file in the format named, or in the one that recognises it; None where that is none of a plugin."""
    from querycloak.logs.recognise import FORMATS

    if options.format in FORMATS:
        return None
    chosen = _recognised(path) if options.format is None else plugin_format(options.format)
    return None if chosen is None else _read(chosen, path, replace(options, format=chosen.name))


def read_as_form(path: Path, form: LogForm) -> QueryLog | None:
    """Read a file whose form is known, such as a release; None where its format is built in."""
    from querycloak.logs.recognise import FORMATS

    if form.format in FORMATS:
        return None
    columns = {str(column.role): column.name for column in form.columns if column.role is not None}
    return _read(plugin_format(form.format), path, ReadOptions(columns, form.format))


def write_by_plugin(file: IO[bytes], log: QueryLog, form: LogForm) -> bool:
    """Write a log where its format is one of another package; tells whether it was."""
    from querycloak.logs.recognise import FORMATS

    if form.format in FORMATS:
        return False
    chosen = plugin_format(form.format)
    if chosen.write is None:
        raise OutputError(f"The format {chosen.name!r} of {chosen.package} cannot be written, only read.")
    _call(chosen, "write", partial(chosen.write, log, file, form))
    return True


def _recognised(path: Path) -> Format | None:
    """Ask the formats of other packages, in the order of their packages; a file that is missing is nobody's."""
    there_are = plugin_formats().plugins
    if not there_are or not path.is_file():
        return None
    with path.open("rb") as file:
        first = file.read(FIRST_BYTES)
    for chosen in there_are.values():
        if _call(chosen, "recognise", partial(chosen.recognise, first, path.name)):
            return chosen
    return None


def _read(chosen: Format, path: Path, options: ReadOptions) -> QueryLog:
    if not path.exists():
        raise InputError.at(path, "there is no such file")
    log = _call(chosen, "read", partial(chosen.read, path, options))
    if not isinstance(log, QueryLog):
        raise PluginError(f"{chosen.package}: reading {chosen.name!r} gave a {type(log).__name__}, not a QueryLog.")
    form = log.form or LogForm(chosen.name, ())
    return replace(log, form=replace(form, format=chosen.name))


def _call(chosen: Format, verb: str, action: Callable[[], Any]) -> Any:
    """Call code of another package; its own messages are not shown, as they may quote the log."""
    try:
        return action()
    except (UserError, OSError):
        raise
    except Exception as error:
        problem = f"{chosen.package}: its format {chosen.name!r} failed to {verb} a file ({type(error).__name__})."
        raise PluginError(problem) from error
