"""What the site changes in docstrings: the list of methods of `querycloak.anonymize` becomes a list.

In a terminal the list is plain text; on a page its lines would run together.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

BLOCK = re.compile(r"^\.\. methods\n(.*?)^\.\. end of methods\n?", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^([a-z][\w-]*): (.*?)(?=^[a-z]|\Z)", re.DOTALL | re.MULTILINE)


class MethodLists(griffe.Extension):
    """Writes lists of methods as Markdown."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Change the docstring of a function that has such a list."""
        if func.docstring is not None and BLOCK.search(func.docstring.value):
            func.docstring.value = as_list(func.docstring.value)


def as_list(text: str) -> str:
    r"""Return a docstring with its lists of methods as Markdown.

    >>> print(as_list(".. methods\nsweep: a=1,\n    b=2\nflat: k=3\n.. end of methods\n"))
    - `sweep`: a=1, b=2
    - `flat`: k=3
    <BLANKLINE>
    """

    def listed(found: re.Match[str]) -> str:
        entries = ENTRY.findall(found[1])
        return "\n".join(f"- `{name}`: {' '.join(settings.split())}" for name, settings in entries) + "\n"

    return BLOCK.sub(listed, text)
