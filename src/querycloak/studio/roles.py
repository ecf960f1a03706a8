"""From the roles that a user chose on a page to how the log is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.errors import ParameterError, UnknownNameError, UserError
from querycloak.logs.columns import ROLES, guess
from querycloak.logs.layout import JSON_FORMATS
from querycloak.studio.model import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.studio.model import FoundColumn, Look

__all__ = ["in_studio", "known_reading", "reading_of"]

NEEDED: Final = ("user", "query")
_COLUMNS: Final = re.compile(r"--columns(?: (?:\w+=[^\s,;`'\"]+,?)+)?(?=[.;,\s]|$)")
WORDS: Final = {
    "go on with --yes": "“go on although a column looks wrong”",
    "--yes": "“go on although a column looks wrong”",
    "--on-error skip": "“leave out lines that cannot be read”",
    "--no-header": "“no, it is data”",
    "--header": "“yes, it is a header”",
    "--encoding": "the encoding",
    "--max-memory": "the memory of the command line (--max-memory)",
}
"""option of the command line → what the page has for it"""


def in_studio(error: UserError) -> UserError:
    """Return an error of reading that names what the page has, instead of options of the command line.

    >>> print(in_studio(UserError("Say which with --columns user=NAME; or go on with --yes.")))
    Say which with the roles of the columns; or “go on although a column looks wrong”.
    """
    text = _COLUMNS.sub("the roles of the columns", str(error))
    for option, words in WORDS.items():
        text = text.replace(option, words)
    return type(error)(text)


def known_reading(look: Look) -> Reading | None:
    """Return how a log is read that says it all by itself; None where the user must choose."""
    if look.needs:
        return None
    return Reading(roles={c.role: str(c.position) for c in look.columns if c.role}, columns={})


def reading_of(look: Look, roles: Mapping[str, str], header: bool | None) -> Reading:
    """Return how a log is read with these roles (role → position from 1, as text), or refuse them in one sentence."""
    chosen = {role: _column(look, role, at.strip()) for role, at in roles.items() if at.strip()}
    for role in NEEDED:
        if role not in chosen:
            raise ParameterError(f"Say which column is the {role}: it is not guessed.")
    if len({column.position for column in chosen.values()}) < len(chosen):
        raise ParameterError("One column has two roles: give each role its own column.")
    asked = look.header if look.header is not None or look.named else header
    if asked is None and not look.named:
        raise ParameterError("Say whether the first line names the columns or is the first row.")
    known = known_reading(look)
    positions = {role: str(column.position) for role, column in chosen.items()}
    if known is not None and positions == known.roles:
        return known
    if look.format in JSON_FORMATS:
        return Reading(positions, {role: column.key for role, column in chosen.items()})
    if (look.named or asked) and any(_is_number(column.key) for column in look.columns):
        columns = {role: column.key for role, column in chosen.items()}  # a number would be taken for a name
    else:
        columns = dict(positions)
    return Reading({**_by_name(look, chosen, asked), **positions}, columns, header=None if look.named else asked)


def _column(look: Look, role: str, at: str) -> FoundColumn:
    if role not in ROLES:
        raise UnknownNameError.of("role of a column", role, ROLES)
    found = next((column for column in look.columns if str(column.position) == at), None)
    if found is None:
        raise ParameterError.of(f"the column of the {role}", f"a position from 1 to {len(look.columns)}", at[:20])
    return found


def _by_name(look: Look, chosen: Mapping[str, FoundColumn], header: bool | None) -> dict[str, str]:
    """Return the roles that the reader of logs gives to columns of common names, next to those that were chosen."""
    if not (look.named or header):
        return {}
    taken = {column.position for column in chosen.values()}
    left = {column.key: str(column.position) for column in look.columns if column.position not in taken}
    return {role: left[name] for role, name in guess(list(left)).items() if role not in chosen}


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()
