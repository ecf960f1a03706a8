"""Writes the list of methods in the docstring of `querycloak.anonymize`: `python tools/build_method_list.py`."""

from __future__ import annotations

import re
import textwrap
from dataclasses import MISSING
from pathlib import Path

from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.descriptions import describe_method

FILE = Path(__file__).parents[1] / "src" / "querycloak" / "api" / "releases.py"
BLOCK = re.compile(r"(?<=    \.\. methods\n)(.*?)(?=    \.\. end of methods\n)", re.DOTALL)
WIDTH = 118


def method_list() -> str:
    """Return the lines of the list: each built-in method with its settings and their defaults."""
    lines = []
    for name in [*METHODS.built_in, *STREAM_METHODS]:
        found = describe_method(name)
        settings = (s.name if s.default is MISSING else f"{s.name}={s.default!r}" for s in found.settings)
        text = f"{name}: {', '.join(settings)}"
        lines.append(textwrap.fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8))
    return "\n".join(lines) + "\n"


def written(source: str) -> str:
    """Return the source of the API with the list of today."""
    return BLOCK.sub(lambda _: method_list(), source)


if __name__ == "__main__":
    FILE.write_text(written(FILE.read_text(encoding="utf-8")), encoding="utf-8")
