"""The Excite form: user, time as YYMMDDHHMMSS, query; no header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.logs.columns import is_header
from querycloak.logs.form import Column, LogForm
from querycloak.logs.formats.aol import NEARLY_ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["excite_form", "looks_like_excite"]

COLUMNS: Final = (Column("user", "user"), Column("time", "time"), Column("query", "query"))
USER: Final = re.compile(r"[0-9A-Za-z]{16}")
TIME: Final = re.compile(r"\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d")


def excite_form(rows: Sequence[Sequence[str]], *, asked: bool = False) -> LogForm | None:
    """Recognise the form by three fields: 16 letters or digits, a time of twelve digits, and a query.

    Where the user `asked` for the form, times in the second column are enough.

    >>> excite_form([["2A9EABFB35F5B954", "970916105432", "foods"]]).format
    'excite'
    >>> excite_form([["ann", "970916105432", "foods"]]) is None
    True
    """
    if is_header(rows[0]) or not looks_like_excite(rows, times_only=asked):
        return None
    return LogForm("excite", COLUMNS, header=False, time_format="%y%m%d%H%M%S")


def looks_like_excite(rows: Sequence[Sequence[str]], *, times_only: bool = False) -> bool:
    """Say whether the first row and nearly all others hold what rows of this form hold."""
    if len(rows[0]) != 3:
        return False
    fits = [
        TIME.fullmatch(row[1]) is not None and (times_only or USER.fullmatch(row[0]) is not None)
        for row in rows
        if len(row) == 3
    ]
    return fits[0] and sum(fits) >= NEARLY_ALL * len(fits)
