"""Phone numbers: plain American forms as they are, all others checked by the library `phonenumbers`.

A query does not say which country it is from. A number with + or 00 names its country; any other is a phone number if
it is valid in one of `_REGIONS`. The library knows which numbers are given out, so numbers of films (555) are not
valid: the American forms, three, three and four digits, are taken without asking it.

What is part of a card, an account, an IP address or coordinates is no phone number.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers._cards import cards, ibans
from querycloak.texts.identifiers._locations import coordinates
from querycloak.texts.identifiers._pattern import Pattern
from querycloak.texts.identifiers._words_before import is_of_a_thing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CANDIDATE", "phones"]

CANDIDATE: Final = r"\d(?:[ ()./-]{0,3}\d){6}"

_REGIONS: Final = re.findall(
    "..",
    "GBDEFRITESNLBEPTIEATCHSENODKFIPLCZGRHUROTRRUUABRMXARCOCLINCNJPKRAUNZZAILEGNG",
)
"""Countries whose numbers are known without their code; every one costs time for each number that is none."""
_AMERICAN: Final = Pattern(
    r"(?<![\d.,/-])(?<!\d )(?:\+?1[-. ]?)?(?:\(\s?\d{3}\s?\)|\d{3})[-./ ]{0,3}\d{3}[-. ]{0,3}\d{4}"
    r"(?:\s?(?:x|ext\.?)\s?\d{1,5})?(?![\d]|[.,/-]\d)"
    r"|(?<![\d.,/-])\d{3}[-.]\d{4}(?![\d]|[.,/-]\d)"
)
_INTERNATIONAL: Final = Pattern(r"(?<![\w+])(?:\+\s?|00)[1-9](?:[ ()./-]{0,3}\d){6,14}(?!\d)")
_NATIONAL: Final = Pattern(r"(?<![\w.,/-])(?<!\d )\(?\d(?:[ ()./-]{0,3}\d){6,13}(?![\w]|[.,/-]\d| \d)")
_SAYS_PHONE: Final = Pattern(
    r"\b(?:phone|telephone|tel|tele|call|called|calls|cell|mobile|fax|dial|whatsapp|sms|text|caller|reverse|lookup"
    r"|telefon|telefonnummer|handy|handynummer|rufnummer|anruf|mobil|téléphone|telephone|portable|numéro|numero"
    r"|teléfono|telefono|móvil|movil|celular|cellulare|telefoon|mobiel|telefone|telemóvel|puhelin|telefonu?)\b"
)
_DATE: Final = Pattern(
    r"(?:[0-3]?\d([ ./-])[0-3]?\d\1(?:1[5-9]|20)\d\d|(?:1[5-9]|20)\d\d([ ./-])[01]?\d\2[0-3]?\d"
    r"|(?:19|20)\d\d[ ./-]{1,3}(?:19|20)\d\d)(?:\D.*)?"
)
_NO_PHONE: Final = Pattern(rf"{_DATE.pattern}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}|\d{{5}}-\d{{4}}")
"""Dates, spans of years, what has the form of an IP address or of an American post code."""
_EIGHT: Final = Pattern(r"\d\d \d\d \d\d \d\d|[2-9]\d{3}-\d{4}")
"""Forms in which eight digits are a phone number."""


def phones(text: str) -> Iterator[tuple[int, int]]:
    """Find phone numbers in a plain text."""
    taken: list[tuple[int, int]] | None = None
    for start, end in _candidates(text):
        if taken is None:  # most texts have no candidate
            taken = [span for others in (cards, ibans, coordinates) for span in others(text)]
        if not any(start < other_end and begin < end for begin, other_end in taken):
            yield start, end


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """Find what may be a phone number by itself."""
    for match in _AMERICAN.finditer(text):
        if not _DATE.fullmatch(match.group()) and not _belongs_to_before(text, match.start()):
            yield match.span()
    for match in _INTERNATIONAL.finditer(text):
        if _is_possible(match.group()):
            yield match.span()
    for match in _NATIONAL.finditer(text):
        says_phone = _SAYS_PHONE.search(text) is not None
        if _is_national(match.group(), says_phone=says_phone) and not is_of_a_thing(text, match.start()):
            yield match.span()


def _belongs_to_before(text: str, start: int) -> bool:
    """Tell whether the word before a number says that it is of a thing, or whether it is part of a mix of letters."""
    glued = re.search(r"\w+$", text[:start])
    return is_of_a_thing(text, start) or (glued is not None and not re.fullmatch(r"[^\W\d_]{4,}", glued.group()))


def _is_national(typed: str, *, says_phone: bool) -> bool:
    """Tell whether a number is a phone number of some region; short ones only where the text speaks of a phone."""
    digits = re.sub(r"\D", "", typed)
    if _NO_PHONE.fullmatch(typed) or len(digits.rstrip("0")) < 4:
        return False
    if says_phone and len(digits) <= 12:
        return True
    if len(digits) < 9 and not _EIGHT.fullmatch(typed):
        return False
    groups = re.findall(r"\d+", typed)
    if len(groups) > 6 or sum(len(group) == 1 for group in groups) > 1:
        return False  # a list of small numbers
    return any(_is_valid(digits, region) for region in _REGIONS)


@lru_cache(maxsize=10_000)
def _is_possible(typed: str) -> bool:
    """Tell whether a number that names its country has a length that the country has."""
    import phonenumbers

    digits = re.sub(r"\D", "", typed)
    digits = digits.removeprefix("00") if not typed.startswith("+") else digits
    try:
        number = phonenumbers.parse(f"+{digits}")
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(number)


@lru_cache(maxsize=100_000)
def _is_valid(digits: str, region: str) -> bool:
    """Tell whether digits are a number that a region gives out."""
    import phonenumbers

    try:
        number = phonenumbers.parse(digits, region)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_valid_number_for_region(number, region)
