"""The Excite form: user, time as YYMMDDHHMMSS, query; no header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.logs.columns import is_header
from querycloak.logs.form import Column, LogForm

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["excite_form"]

COLUMNS: Final = (Column("user", "user"), Column("time", "time"), Column("query", "query"))
TIME: Final = re.compile(r"\d{12}")


def excite_form(rows: Sequence[Sequence[str]]) -> LogForm | None:
    """Recognise the form by three fields with twelve digits in the second.

    >>> excite_form([["2A9EABFB35F5B954", "970916105432", "foods"]]).format
    'excite'
    """
    if len(rows[0]) != 3 or is_header(rows[0], None):
        return None
    body = [row for row in rows if len(row) == 3]
    if sum(TIME.fullmatch(row[1]) is not None for row in body) * 2 <= len(body):
        return None
    return LogForm("excite", COLUMNS, header=False, time_format="%y%m%d%H%M%S")
