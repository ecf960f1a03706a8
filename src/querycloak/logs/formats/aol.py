"""The AOL form: user, query, time, and in five-column files the rank and URL of a click, one row per click.

With its header it is known by the names. Without one, what the fields hold must show it: a number, a query, a time, and
a rank and an http address or nothing. Three or five columns alone say nothing: a table of order number, customer
and time has three as well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.logs.columns import is_header
from querycloak.logs.form import Column, LogForm, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NEARLY_ALL", "aol_form", "looks_like_aol"]

COLUMNS: Final[tuple[tuple[str, Role], ...]] = (
    ("AnonID", "user"),
    ("Query", "query"),
    ("QueryTime", "time"),
    ("ItemRank", "rank"),
    ("ClickURL", "url"),
)
FIELDS: Final = (
    re.compile(r"\d{1,12}"),
    re.compile(r".*"),
    re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    re.compile(r"\d{0,9}"),
    re.compile(r"(https?://.*)?"),
)
"""what each field of a row holds"""
NEARLY_ALL: Final = 0.9
"""share of the first rows that must look right: a few bad lines do not change what a file is"""


def aol_form(rows: Sequence[Sequence[str]], *, header: bool | None = None, asked: bool = False) -> LogForm | None:
    """Recognise the form by its header, else by what nearly all of the first rows hold.

    `header` says whether there is one, None = look. Where the user `asked` for the form, times in the third
    column are enough.

    >>> aol_form([["142", "rentdirect.com", "2006-03-01 07:17:12", "", ""]]).header
    False
    >>> aol_form([["ann", "rentdirect.com", "2006-03-01 07:17:12", "", ""]]) is None
    True
    """
    width = len(rows[0])
    if width not in {3, 5}:
        return None
    names = [name for name, _ in COLUMNS[:width]]
    named = header is not False and [field.lower() for field in rows[0]] == [name.lower() for name in names]
    if named:
        names = list(rows[0])
    elif header or is_header(rows[0]) or not looks_like_aol(rows, times_only=asked):
        return None
    columns = tuple(Column(name, role) for name, (_, role) in zip(names, COLUMNS, strict=False))
    return LogForm("aol", columns, header=named, time_format="%Y-%m-%d %H:%M:%S")


def looks_like_aol(rows: Sequence[Sequence[str]], *, times_only: bool = False) -> bool:
    """Say whether the first row and nearly all others hold what rows of this form hold."""
    width = len(rows[0])
    if width not in {3, 5}:
        return False
    tests = [(2, FIELDS[2])] if times_only else list(enumerate(FIELDS[:width]))
    fits = [all(test.fullmatch(row[i]) for i, test in tests) for row in rows if len(row) == width]
    return fits[0] and sum(fits) >= NEARLY_ALL * len(fits)
