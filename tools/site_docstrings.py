"""What the site changes in docstrings: lists of methods become lists, examples become blocks of code.

In a terminal both are plain text; on a page their lines would run together, and brackets would be taken for links.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

BLOCK = re.compile(r"^\.\. methods\n(.*?)^\.\. end of methods\n?", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^([a-z][\w-]*): (.*?)(?=^[a-z]|\Z)", re.DOTALL | re.MULTILINE)


EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Writes what a docstring has for a terminal as Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of anything that has one."""
        if obj.docstring is not None:
            obj.docstring.value = as_code(as_list(obj.docstring.value))


def as_code(text: str) -> str:
    r"""Return a docstring with its examples as blocks of code.

    >>> print(as_code("Say it.\n\n>>> say(1)\n[1]\n\nMore.").replace("`", "'"))
    Say it.
    <BLANKLINE>
    '''pycon
    >>> say(1)
    [1]
    '''
    <BLANKLINE>
    More.
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


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
