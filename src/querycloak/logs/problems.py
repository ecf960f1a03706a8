"""Records that are left out: what is wrong, how often, and whether to stop. One policy for every way of reading.

Blank lines, repeated headers and rows without a user or a query are in every real log: they are left out and counted,
never a mistake. A bad line ends the reading, or is left out and counted, as the user asked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from querycloak.errors import InputError
from querycloak.logs import _records_kernels as records

__all__ = ["LONGEST_LINE", "Problems"]

LONGEST_LINE: Final = 1 << 20
"""Bytes of a record; a longer one is bad."""

HARMLESS: Final = {
    records.BLANK: "blank lines, left out",
    records.HEADER: "header lines repeated inside the file, left out",
    records.NO_USER: "rows without a user, left out",
    records.NO_QUERY: "rows without a query, left out",
}
BAD: Final = {
    records.FIELDS: "lines with a wrong number of fields, left out",
    records.MALFORMED: "malformed lines, left out",
    records.NUL: "lines with a NUL byte, left out",
    records.NOT_TEXT: "lines that are not in the encoding, left out",
    records.TOO_LONG: "lines that are too long, left out",
    records.BAD_PATH: "category paths with an empty level, left out",
    records.BAD_TIME: "times that cannot be read, left out",
}
"""Status of a record → how it is counted."""


@dataclass
class Problems:
    """Counts what is left out; with `stop`, the first bad line ends the reading."""

    source: object
    """what is read, by the name that messages show"""
    stop: bool = True
    counts: Counter[str] = field(default_factory=Counter)

    fields: int = 0
    """fields that a line of a table should have"""
    separated: str = "tab-separated"
    encoding: str = "UTF-8"
    unit: str = "line"
    """what records are numbered by: line, or object where a JSON array is read"""
    is_json: bool = False

    def count(self, status: int, times: int = 1) -> None:
        """Count records that are left out."""
        if times:
            self.counts[(HARMLESS | BAD)[status]] += times

    def error(self, status: int, number: int, found: int = 0) -> InputError:
        """Return the error for a bad line: its number and what is wrong, and nothing of its content."""
        hint = f"fix it, or leave such {self.unit}s out with --on-error skip"
        if status == records.FIELDS:
            problem = f"expected {self.fields} {self.separated} fields, found {found}"
        elif status == records.NOT_TEXT:
            problem = f"expected text in {self.encoding}, found bytes that are not"
            hint = f"name the encoding, as in --encoding latin-1, or leave such {self.unit}s out with --on-error skip"
        elif status == records.TOO_LONG:
            problem = f"a {self.unit} of more than {LONGEST_LINE:,} bytes"
            problem += "" if self.is_json else "; it is no record, or a quote in it is not closed"
        elif status == records.NUL:
            problem = "expected text, found a NUL byte"
        elif status == records.BAD_PATH:
            problem = "expected a category path, found one with an empty level"
        elif status == records.BAD_TIME:
            problem = "expected a time, found something else"
        elif self.is_json:
            problem = "expected one JSON object with a text or a whole number as the user, found something else"
        else:
            problem = "a quote is not closed, or something comes after a closing quote"
        where = f"{self.source}, {self.unit} {number}"
        return InputError.at(where, f"{problem}; {hint}")
