"""Slips of the keys: each term has a few misspellings that different people make."""

from __future__ import annotations

from typing import Final
from zlib import crc32

__all__ = ["VARIANTS", "misspell"]

VARIANTS: Final = 16
"""Misspellings of a term, numbered from 1; some may read the same."""


def misspell(text: str, number: int) -> str:
    """Return a misspelling of a term: two letters swapped, one left out, or one doubled.

    The first letter of a word is never wrong. Terms without four letters in a row come back unchanged.

    >>> misspell("restaurant", 1), misspell("restaurant", 2), misspell("tea", 1)
    ('retsaurant', 'rsetaurant', 'tea')
    """
    spots = [i for i in range(1, len(text) - 2) if text[i - 1 : i + 3].isalpha()]
    if not spots:
        return text
    draw = crc32(f"{number} {text}".encode())
    kind, spot = draw % 3, spots[draw // 3 % len(spots)]
    here, after = text[spot], text[spot + 1]
    if kind == 0 and here != after:
        return text[:spot] + after + here + text[spot + 2 :]
    if kind == 1:
        return text[:spot] + here + text[spot:]
    return text[:spot] + text[spot + 1 :]
