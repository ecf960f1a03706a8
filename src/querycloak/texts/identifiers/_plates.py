"""Licence plates and the numbers of vehicles (VIN, with its check digit).

Short mixes of letters and digits are mostly names of models, so a form is found on its own only where little else has
it (British plates since 2001, French ones with hyphens, German ones with a hyphen). Every other mix of letters and
digits, such as the plates of the American states, is found next to a word that says plate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers._pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CANDIDATE", "plates"]

_SIV: Final = "[a-hj-np-tv-z]"
_FORMS: Final = Pattern(
    r"(?<![\w/.-])(?:"
    r"[abcdefghklmnoprstvwy][a-hj-pr-y](?:0[2-9]|[12]\d|5[1-9]|[67]\d) ?[a-hj-pr-z]{3}"  # British
    rf"|{_SIV}{{2}}-\d{{3}}-{_SIV}{{2}}"  # French, Italian
    r"|[a-zäöü]{1,3}-[a-z]{1,2} \d{1,4}[eh]?|[a-zäöü]{1,3}-[a-z]{1,2}-?\d{2,4}[eh]?"  # German
    r"|\d{4}-[bcdfghj-np-tv-z]{3}"  # Spanish
    r"|\d\d-[a-z]{2}-\d\d|\d\d-\d\d-[a-z]{2}|[a-z]{2}-\d\d-\d\d|[a-z]{2}-\d\d-[a-z]{2}|[a-z]{2}-[a-z]{2}-\d\d"  # Dutch
    r"|\d\d-[a-z]{2}-[a-z]{2}|\d\d-[a-z]{3}-\d|\d-[a-z]{3}-\d\d|[a-z]{2}-\d{3}-[a-z]|[a-z]-\d{3}-[a-z]{2}"
    r")(?![\w-]|\.\w)"
)
_WHOLE: Final = Pattern(rf"\s*({_SIV}{{2}} ?\d{{3}} ?{_SIV}{{2}}|\d{{4}} ?[bcdfghj-np-tv-z]{{3}})\s*")
"""Italian, French and Spanish plates without hyphens: only where they are the whole text."""
_NO_PLATE: Final = Pattern(
    r"(?:hp|tv|dv|lx|gt|sr|xl|hd|cd|db|sd|pc)\W?\d+|.*(?:xl|hd|tv|cc|mm|cm|gb|kb|ps|pc|st|nd|rd|th|dp|fm|hz)$"
    r"|(?:19|20)\d\d\W?\w+|\d+\W?(?:bmw|gmc|nfl|nhl|nba|mlb|dvd|mtv|cfr|rpm|mph|kbs|ftp|nds|psp|cmr|pst|cst|mst|gmt|mhz|mp|kcl)"
    r"|(?:wd|cf|sd)-\d\d-\d\d|[ux]-\w+-?\d+|(?:e|f|i|x|wi|hi|sci|pre|co|de|re|t|lo)-[a-z]{1,2}\b.*|vh-.*"
)
_SAYS_PLATE: Final = (
    r"(?:licen[cs]e[- ]?plates?|plates?|tags?|number ?plates?|registration|reg|vin|targa|matr[ií]cula|kennzeichen|kfz"
    r"|nummernschild|immatriculation|plaque|placa|kenteken|rejestracja)"
)
CANDIDATE: Final = (
    rf"\d.*{_SAYS_PLATE}|{_SAYS_PLATE}.*\d|[a-z]{{2}}\d\d ?[a-z]{{3}}|[a-zäöü]-\d|\d-[a-z]|[a-zäöü]-[a-z]{{1,2}}[ -]?\d"
    r"|^\s*(?:[a-z]{2} ?\d{3} ?[a-z]{2}|\d{4} ?[a-z]{3})\s*$|[a-z0-9]{17}"
)
_MIX: Final = r"(?=[a-z0-9 -]*\d)[a-z0-9]{1,4}[ -]?[a-z0-9]{2,5}(?:[ -][a-z0-9]{1,3})?"
_NEAR: Final = Pattern(
    rf"\b{_SAYS_PLATE}\b(?: (?:is|of|on|for|number|numbers|no|nr|lookup|search|check|id|state|car))*[.:#]? "
    rf"(?:[a-z]{{2,}} )?(?P<after>(?=[a-z0-9-]*[a-z]|\d+[ -][a-z]){_MIX})(?!\w)"
    rf"|(?<![\w-])(?P<before>(?=\d*[a-z]+[ -]?\d|\d+[ -]?[a-z]){_MIX}) (?:[a-z]+ )?(?:{_SAYS_PLATE})\b"
)
_VIN: Final = Pattern(r"(?<!\w)[a-hj-npr-z0-9]{17}(?!\w)")
_VIN_VALUES: Final = dict(
    zip("0123456789abcdefghjklmnprstuvwxyz", [*range(10), *range(1, 9), *range(1, 6), 7, 9, *range(2, 10)], strict=True)
)
_VIN_WEIGHTS: Final = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def plates(text: str) -> Iterator[tuple[int, int]]:
    """Find licence plates and numbers of vehicles in a plain text."""
    for match in _FORMS.finditer(text):
        if not _NO_PLATE.fullmatch(match.group()):
            yield match.span()
    whole = _WHOLE.fullmatch(text)
    if whole and not _NO_PLATE.fullmatch(whole.group(1)):
        yield whole.span(1)
    for match in _NEAR.finditer(text):
        group = "after" if match.group("after") else "before"
        if not re.fullmatch(
            r"(?:19|20)?\d\d [a-z]+|\d+ ?(?:st|nd|rd|th|inch|mm|cm|piece|pc|oz|x \d+)s?.*", match.group(group)
        ):
            yield match.span(group)
    for match in _VIN.finditer(text):
        if _vin(match.group()):
            yield match.span()


def _vin(number: str) -> bool:
    """Tell whether the ninth character is the sum of the others modulo 11, and whether letters and digits are mixed."""
    total = sum(_VIN_VALUES[char] * weight for char, weight in zip(number, _VIN_WEIGHTS, strict=True))
    return not number.isdecimal() and not number.isalpha() and "0123456789x"[total % 11] == number[8]
