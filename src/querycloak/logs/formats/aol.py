"""The AOL form: user, query, time, and in five-column files the rank and URL of a click, one row per click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.logs.columns import is_header
from querycloak.logs.form import Column, LogForm, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["aol_form"]

COLUMNS: Final[tuple[tuple[str, Role], ...]] = (
    ("AnonID", "user"),
    ("Query", "query"),
    ("QueryTime", "time"),
    ("ItemRank", "rank"),
    ("ClickURL", "url"),
)
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def aol_form(rows: Sequence[Sequence[str]]) -> LogForm | None:
    """Recognise the form by its header, else by five or three fields with a time in the third.

    >>> aol_form([["142", "rentdirect.com", "2006-03-01 07:17:12", "", ""]]).header
    False
    """
    width = len(rows[0])
    if width not in {3, 5}:
        return None
    names = [name for name, _ in COLUMNS[:width]]
    header = [field.lower() for field in rows[0]] == [name.lower() for name in names]
    body = [row for row in rows[header:] if len(row) == width]
    if header:
        names = list(rows[0])
    elif is_header(rows[0], None) or sum(TIME.fullmatch(row[2]) is not None for row in body) * 2 <= len(body):
        return None
    columns = tuple(Column(name, role) for name, (_, role) in zip(names, COLUMNS, strict=False))
    return LogForm("aol", columns, header=header, time_format="%Y-%m-%d %H:%M:%S")
