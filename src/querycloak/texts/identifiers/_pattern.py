"""Regular expressions that are compiled when they are first used: most runs meet no text that one is tried on."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Pattern"]


class Pattern:
    """A regular expression, with those methods of `re.Pattern` that are used here.

    >>> Pattern("b+").search("abba").span()
    (1, 3)
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __repr__(self) -> str:
        return f"Pattern({self.pattern!r})"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def search(self, text: str, begin: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first place that fits."""
        return self._compiled.search(text, begin, len(text) if end is None else end)

    def match(self, text: str, begin: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return what fits at the begin."""
        return self._compiled.match(text, begin, len(text) if end is None else end)

    def fullmatch(self, text: str, begin: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the whole text, if it fits."""
        return self._compiled.fullmatch(text, begin, len(text) if end is None else end)

    def finditer(self, text: str, begin: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """Return all places that fit, none of which overlap."""
        return self._compiled.finditer(text, begin, len(text) if end is None else end)
