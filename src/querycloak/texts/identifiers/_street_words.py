"""Words of streets, read from `street_words.txt`."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

__all__ = ["any_of", "words_of"]


def _read() -> dict[str, list[str]]:
    """Read the words under each heading."""
    out: dict[str, list[str]] = {}
    for line in files("querycloak.texts.identifiers").joinpath("street_words.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            heading, _, words = line.partition(": ")
            out.setdefault(heading, []).extend(words.split())
    return out


_WORDS: Final = _read()


def words_of(heading: str) -> frozenset[str]:
    """Return the words under a heading."""
    return frozenset(_WORDS[heading])


def any_of(heading: str) -> str:
    """Return a pattern that any word under a heading matches, the longest first."""
    return "|".join(re.escape(word) for word in sorted(_WORDS[heading], key=lambda word: (-len(word), word)))
