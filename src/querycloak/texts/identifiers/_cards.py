"""Numbers of payment cards (Luhn's checksum, prefixes of the issuers) and of bank accounts (IBAN, modulo 97)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers._pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CARD_CANDIDATE", "IBAN_CANDIDATE", "cards", "ibans", "luhn"]

CARD_CANDIDATE: Final = r"\d(?:[ .-]{0,3}\d){12}"
_RUN: Final = Pattern(r"\d(?:[ .-]{0,3}\d){12,}")
_GROUP: Final = Pattern(r"\d+")
_ISSUERS: Final = Pattern(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12,14}"  # Mastercard; its length is checked below
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|[689]\d)\d{11,16}"  # Diners
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12,15}"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|62\d{14,17}"  # UnionPay
    r"|220[0-4]\d{12,15}"  # Mir
    r"|(?:50|5[6-9]|6\d)\d{11,17}"  # Maestro
    r"|9792\d{12}|(?:60|65|81|82|508)\d{13,14}"  # Troy, RuPay
)
_LEAST, _MOST = 13, 19

IBAN_CANDIDATE: Final = r"[a-z]{2}[ -]?\d\d(?:[ -]?[a-z0-9]){11}"
_IBAN: Final = Pattern(r"(?<![a-z0-9])[a-z]{2}[ -]?\d\d(?:[ -]?[a-z0-9]){11,30}")
_LENGTHS: Final = {
    found.group(): int(line.split()[0])
    for line in """
    15 no; 16 be; 18 dk fi fo gl nl sd fk; 19 mk si; 20 at ba ee kz lt lu xk mn; 21 ch hr li lv;
    22 bg bh cr de gb ge ie me rs va; 23 ae gi il iq om tl so; 24 ad cz es md pk ro sa se sk tn vg;
    25 ly pt st; 26 is tr; 27 bi dj fr gr it mc mr sm; 28 al az by cy do gt hu lb pl ni sv; 29 br eg ps qa ua;
    30 jo kw mu ye; 31 mt sc; 32 lc; 33 ru
    """.replace("\n", " ")
    .replace(";", "\n")
    .strip()
    .splitlines()
    for found in re.finditer(r"[a-z]{2}", line)
}
"""country → characters of its account numbers"""


def cards(text: str) -> Iterator[tuple[int, int]]:
    """Find numbers of cards in a plain text: whole groups of digits that make 13 to 19 together."""
    for run in _RUN.finditer(text):
        groups = [match.span() for match in _GROUP.finditer(text, *run.span())]
        begin = 0
        while begin < len(groups):
            end = _card_from(text, groups, begin)
            if end:
                yield groups[begin][0], groups[end - 1][1]
            begin = end or begin + 1


def _card_from(text: str, groups: list[tuple[int, int]], begin: int) -> int:
    """Return after which group the longest card number that starts at group `begin` ends; 0 = there is none."""
    digits, found = "", 0
    for i in range(begin, len(groups)):
        digits += text[slice(*groups[i])]
        if len(digits) > _MOST:
            break
        if len(digits) >= _LEAST and _ISSUERS.fullmatch(digits) and luhn(digits):
            found = i + 1
    return found


def luhn(digits: str) -> bool:
    """Tell whether a number keeps the checksum of card numbers.

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    total = 0
    for slot, char in enumerate(reversed(digits)):
        value = int(char) * (1 + slot % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """Find numbers of bank accounts in a plain text."""
    for match in _IBAN.finditer(text):
        slots = [i for i in range(*match.span()) if text[i] not in " -"]
        length = _LENGTHS.get(text[slots[0] : slots[0] + 2], len(slots) + 1)
        if length <= len(slots) and _iban("".join(text[i] for i in slots[:length])):
            yield slots[0], slots[length - 1] + 1


def _iban(number: str) -> bool:
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1
