"""Messages about reading name options of the command line; from Python the same messages name keywords."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from querycloak.errors import UserError

__all__ = ["in_python"]

KEYWORDS: Final = {
    "--no-header": "header=False",
    "--header": "header=True",
    "--yes": "yes=True",
    "--on-error skip": 'on_error="skip"',
    "--max-memory": "max_memory",
    "--unescape": "unescape=True",
    "--columns": "columns",
}
"""option of the command line → keyword"""
_COLUMNS: Final = re.compile(r"--columns ((?:\w+=[^\s,;`'\"]+,?)+)")
_COMMAND: Final = re.compile(r"`(?:querycloak anonymize .*?|)((?:--no-header )?columns=\{.*?\})`")


def in_python(error: UserError) -> UserError:
    """Return an error of reading that names keywords instead of options of the command line.

    >>> from querycloak.errors import UserError
    >>> in_python(UserError("log.tsv: say which, as in --columns user=NAME,query=NAME; or go on with --yes."))
    UserError('log.tsv: say which, as in columns={"user": "NAME", "query": "NAME"}; or go on with yes=True.')
    """
    text = _COLUMNS.sub(_as_dict, str(error))
    text = _COMMAND.sub(r"\1", text)
    text = re.sub(r"--encoding ([\w-]+)", r'encoding="\1"', text)
    for option, keyword in KEYWORDS.items():
        text = text.replace(f"{option} columns=", f"{keyword}, columns=").replace(option, keyword)
    return type(error)(text)


def _as_dict(found: re.Match[str]) -> str:
    roles = [pair.partition("=") for pair in found[1].rstrip(".").split(",")]
    end = "." if found[1].endswith(".") else ""
    return "columns={" + ", ".join(f'"{role}": "{name}"' for role, _, name in roles) + "}" + end
