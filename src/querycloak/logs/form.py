"""The form of a log in its file: format, columns and their roles, so that output has the form of the input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

__all__ = ["Column", "Encoding", "LogForm", "Role"]

Role = Literal["user", "query", "time", "rank", "url", "category"]
Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "latin-1"]


@dataclass(frozen=True)
class Column:
    """One column of a file: its name there, and the role it plays (None = rides along untouched)."""

    name: str
    role: Role | None
    kind: Literal["text", "number", "json"] = "text"
    """how values are written: as text; as a number where they are one; as the JSON text that was read"""
    null: bool = False
    """JSON lines: a missing value is written as null, not left out"""
    path: tuple[str, ...] = ()
    """JSON lines: the keys that lead to a nested value; empty = the name is the key"""


@dataclass(frozen=True)
class LogForm:
    """How a log is written in a file, so that what is written has the form of what was read."""

    format: str
    """aol, excite, tsv, csv, jsonl, json, ubi, parquet"""
    columns: tuple[Column, ...]
    """in the order of the file"""
    header: bool = True
    """the first line names the columns (text formats)"""
    compression: Literal["", "gz", "zst"] = ""
    time_format: str = "%Y-%m-%d %H:%M:%S"
    """strftime pattern; 'epoch' and 'epoch_ms' for numbers; 'iso' for ISO 8601 with T; 'datetime' for Parquet's own"""
    line_end: Literal["\n", "\r\n", "\r"] = "\n"
    last_line_end: bool = True
    """the last line ends like all others"""
    bom: bool = False
    """the file begins with a byte order mark"""
    quoting: Literal["needed", "all"] = "needed"
    """CSV: quotes around the fields that need them, or around all"""
    json_spaces: bool = False
    """JSON lines: a space after each comma and colon"""
    json_ascii: bool = False
    """JSON lines: characters outside ASCII are written as escapes"""

    encoding: Encoding = "utf-8"
    separator: Literal[",", ";"] = ","
    """CSV: what separates fields"""
    json_array: bool = False
    """JSON: the records are the elements of one array"""
    safe_csv: bool = False
    """CSV: texts that a spreadsheet would take for formulas have an apostrophe before them (`logs/formulas.py`)"""
    found: tuple[Role, ...] = ()
    """JSON: roles that were given to keys because records have them; one user's record can change that for all"""

    @property
    def is_array(self) -> bool:
        """The records are the elements of one JSON array."""
        return self.json_array or self.format == "json"

    def of_schema(self) -> LogForm:
        """Return the form without what was learned from records: one user's record may have decided it.

        What is left is how the file is made and what its columns with a role are called.
        """
        roles = get_args(Role)
        named = sorted((c for c in self.columns if c.role is not None), key=lambda c: roles.index(c.role))
        usual = LogForm(self.format, ())
        return replace(
            self,
            format="jsonl" if self.format == "ubi" else self.format,  # a key of one record makes JSON lines UBI
            columns=tuple(Column(c.name, c.role, path=c.path) for c in named),
            time_format=self.time_format if self.time_format == "datetime" else usual.time_format,  # Parquet's own
            last_line_end=usual.last_line_end,
            quoting=usual.quoting,
            json_spaces=usual.json_spaces,
            json_ascii=usual.json_ascii,
            found=usual.found,
        )

    def without(self, roles: set[str]) -> LogForm:
        """Leave columns out: those of the given roles."""
        return replace(self, columns=tuple(c for c in self.columns if c.role not in roles))
