"""How a log is to be read: the one set of options that every command and every way of reading shares."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.names import match_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ENCODINGS", "FORMATS", "ON_ERROR", "ReadOptions", "read_options"]

FORMATS: Final = ("aol", "csv", "excite", "json", "jsonl", "parquet", "tsv", "ubi")
ENCODINGS: Final = ("auto", "utf-8", "utf-16", "latin-1")
ON_ERROR: Final = ("stop", "skip")


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a log, and what to do where it is not as it should be."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """role → column, by name or by position from 1; empty = by the names that logs commonly use"""
    format: str | None = None
    """aol, excite, tsv, csv, jsonl, json, ubi, parquet; None = by content"""
    header: bool | None = None
    """whether the first line names the columns; None = by content, where that is certain"""
    encoding: Literal["auto", "utf-8", "utf-16", "latin-1"] = "auto"
    """auto = UTF-8, or UTF-16 where a byte order mark says so"""
    on_error: Literal["stop", "skip"] = "stop"
    """a bad line ends the reading, or is left out and counted"""
    max_memory: int | None = None
    """bytes that the log may take in memory; None = what the machine has"""
    category_separator: str = "/"
    """what separates the levels of a category path"""
    unescape: bool = False
    """the log is CSV that was written with `safe_csv`: its texts are read as they were before (`logs/formulas.py`)"""
    assume_yes: bool = False
    """go on where the columns look wrong"""

    def __post_init__(self) -> None:
        if self.format is not None:
            object.__setattr__(self, "format", match_name(self.format, FORMATS) or self.format)
        for name, there_are in (("encoding", ENCODINGS), ("on_error", ON_ERROR)):
            if getattr(self, name) not in there_are:
                raise ParameterError.of(f"ReadOptions.{name}", f"one of {', '.join(there_are)}", getattr(self, name))
        if self.max_memory is not None and self.max_memory < 1:
            raise ParameterError.of("ReadOptions.max_memory", "a number of bytes >= 1", self.max_memory)


def read_options(options: ReadOptions | None, given: Mapping[str, Any]) -> ReadOptions:
    """Return options with some of their fields given by name; `yes` is short for `assume_yes`.

    >>> read_options(None, {"format": "aol", "yes": True}).assume_yes
    True
    """
    there_are = [f.name for f in fields(ReadOptions)]
    named = {"assume_yes" if name == "yes" else name: value for name, value in given.items()}
    for name in named:
        if name not in there_are:
            raise UnknownNameError.of("option of reading a log", name, [*there_are, "yes"])
    if named.get("columns", "") is None:
        named["columns"] = {}
    return replace(options or ReadOptions(), **named)
