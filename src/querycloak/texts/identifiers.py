"""Personal identifiers in the text of queries, by pattern: mail, phone, card, social-security numbers, addresses.

The patterns err on the side of finding too much: a query wrongly left out costs little. They find forms, not meaning: a
query that is somebody's name has no form and is not found.

>>> import polars as pl
>>> found = find_identifiers(pl.Series(["call 555-010-1234", "green tea", "4111 1111 1111 1111"]))
>>> [names_of(mask) for mask in found.tolist()]
[['phone'], [], ['card']]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["KINDS", "find_identifiers", "names_of", "what_was_searched"]

_STREETS: Final = (
    "st|street|ave|avenue|av|rd|road|dr|drive|ln|lane|blvd|boulevard|ct|court|cir|circle|pl|place|way|ter|terrace|"
    "pkwy|parkway|hwy|highway|sq|square|trl|trail|aly|alley|loop|apt|apartment"
)

_PATTERNS: Final[dict[str, str]] = {
    "mail": r"[^\s@]+\s?@\s?[^\s@]+\.[^\s@]+|\b\S+ at \S+ dot (?:com|net|org|edu|gov|mil|[a-z]{2})\b",
    "phone": (
        r"(?:^|[^\d])(?:\+?1[-. ]?)?\(?\d{3}\)?[-./ ]{0,2}\d{3}[-. ]?\d{4}(?:$|[^\d])"
        r"|(?:^|[^\d-])\d{3}-\d{4}(?:$|[^\d-])"
        r"|\+\d[\d ().-]{6,}\d"
    ),
    "card": r"(?:^|[^\d])\d(?:[ -]?\d){12,18}(?:$|[^\d])",
    "social security": r"(?:^|[^\d])\d{3}[- ]\d{2}[- ]\d{4}(?:$|[^\d])|(?:^|[^\d])\d{9}(?:$|[^\d])",
    "address": (
        rf"\b\d{{1,6}}[a-z]?\s+(?:[nsew]\.?\s+|north\s+|south\s+|east\s+|west\s+)?(?:[\w.'-]+\s+){{1,4}}(?:{_STREETS})\b"
        r"|\bp\.?\s?o\.?\s?box\s*\d+"
    ),
}

_POSSIBLE: Final = r"(?i)[\d@]| dot "
"""What every identifier holds at least: a digit, an at sign, or the word dot. Most queries hold none of them, and are
passed over without trying the patterns."""

KINDS: Final = tuple(_PATTERNS)
"""Kinds of identifiers; bit i of a mask stands for kind i."""


def find_identifiers(queries: pl.Series) -> npt.NDArray[np.uint8]:
    """Find which kinds of identifiers each query holds: uint8[n], one bit per kind."""
    mask = np.zeros(len(queries), dtype=np.uint8)
    possible = np.flatnonzero(queries.str.contains(_POSSIBLE).to_numpy())
    mask[possible] = _searched(queries.gather(possible).str.to_lowercase())
    return mask


def _searched(lowered: pl.Series) -> npt.NDArray[np.uint8]:
    """Try every pattern on each text: uint8[n]."""
    mask = np.zeros(len(lowered), dtype=np.uint8)
    for bit, (kind, pattern) in enumerate(_PATTERNS.items()):
        hits = np.flatnonzero(lowered.str.contains(pattern).to_numpy())
        if kind == "card":
            hits = np.array([i for i in hits.tolist() if _holds_card(lowered[i])], dtype=np.int64)
        mask[hits] |= np.uint8(1 << bit)
    return mask


def names_of(mask: int) -> list[str]:
    """Return the kinds that a mask stands for."""
    return [kind for bit, kind in enumerate(KINDS) if mask >> bit & 1]


def what_was_searched(*, identifiers: bool) -> str:
    """Say, for a statement, what the search for identifiers does not cover, or that there was none."""
    if not identifiers:
        return "queries were not searched for personal identifiers"
    return f"identifiers are found by pattern ({', '.join(KINDS)}); names and other meaning are not found"


def _holds_card(text: str) -> bool:
    """Tell whether a run of 13 to 19 digits in the text keeps the checksum of card numbers (Luhn)."""
    runs = [re.sub(r"[ -]", "", m.group()) for m in re.finditer(r"\d(?:[ -]?\d){12,18}", text)]
    return any(_luhn(run) for run in runs)


def _luhn(digits: str) -> bool:
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0
