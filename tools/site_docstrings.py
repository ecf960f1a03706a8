"""What the site changes in docstrings, which are written for a terminal: examples become blocks, methods a list.

On a page their lines would run together.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

BLOCK = re.compile(r"^\.\. methods\n(.*?)^\.\. end of methods\n?", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^([a-z][\w-]*): (.*?)(?=^[a-z]|\Z)", re.DOTALL | re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n(?!>>>)|\Z)", re.DOTALL | re.MULTILINE)


class AsMarkdown(griffe.Extension):
    """Writes docstrings as Markdown."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **_: Any) -> None:
        """Change the docstring of whatever was found."""
        if isinstance(obj, griffe.Object) and obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring with its list of methods as a list, and its examples as blocks."""

    def listed(found: re.Match[str]) -> str:
        entries = ENTRY.findall(found[1])
        return "\n".join(f"- `{name}`: {' '.join(settings.split())}" for name, settings in entries) + "\n"

    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```", BLOCK.sub(listed, text))
