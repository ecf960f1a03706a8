"""Checksums of national numbers. Every function takes the digits and letters of one number, in lower case.

Sources: the rules that each country publishes; see docs/identifiers.md for the list.
"""

from __future__ import annotations

from typing import Final

from querycloak.texts.identifiers._cards import luhn

__all__ = [
    "is_belgian",
    "is_brazilian",
    "is_canadian",
    "is_chinese",
    "is_danish",
    "is_dutch_or_canadian",
    "is_finnish",
    "is_french",
    "is_german",
    "is_indian",
    "is_italian",
    "is_polish",
    "is_spanish",
    "is_swedish",
    "is_swiss",
    "is_us_or_nine_digits",
]

_ODD_DIGITS: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)
_ODD_LETTERS: Final = (*_ODD_DIGITS, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_ODD_ITALIAN: Final = dict(zip("0123456789abcdefghijklmnopqrstuvwxyz", (*_ODD_DIGITS, *_ODD_LETTERS), strict=True))
"""What the characters in the first, third, … slot of an Italian number count."""
_FINNISH: Final = "0123456789abcdefhjklmnprstuvwxy"
_SPANISH: Final = "trwagmyfpdxbnjzsqvhlcke"


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def _is_date(day: str, month: str) -> bool:
    return 1 <= int(day) <= 31 and 1 <= int(month) <= 12


def is_us_or_nine_digits(number: str) -> bool:
    """United States: no area 000, 666 or 900 and above; Netherlands and Portugal: their sums."""
    area, group, serial = number[:3], number[3:5], number[5:]
    us = area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"
    return us or is_dutch_or_canadian(number) or _is_portuguese(number)


def _is_portuguese(number: str) -> bool:
    rest = 11 - _weighted(number, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return int(number[8]) == (0 if rest > 9 else rest)


def is_canadian(number: str) -> bool:
    """Luhn's sum."""
    return number.strip("0") != "" and luhn(number)


def is_dutch_or_canadian(number: str) -> bool:
    """Netherlands: the eleven test; Canada: Luhn's sum. Both are written in three times three digits."""
    dutch = number.strip("0") != "" and _weighted(number, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0
    return dutch or is_canadian(number)


def is_spanish(number: str) -> bool:
    """DNI and NIE: the letter is the number modulo 23."""
    digits = number[:-1].translate(str.maketrans("xyz", "012"))
    return _SPANISH[int(digits) % 23] == number[-1]


def is_italian(number: str) -> bool:
    """Codice fiscale: odd and even characters count differently, the last is the sum modulo 26."""
    total = sum(
        int(char, 36) % 10 if slot % 2 and char.isdecimal() else ord(char) - 97 if slot % 2 else _ODD_ITALIAN[char]
        for slot, char in enumerate(number[:15])
    )
    return chr(97 + total % 26) == number[15]


def is_french(number: str) -> bool:
    """NIR: the key is 97 minus the number modulo 97; Corsica has letters."""
    digits = number[:13].replace("2a", "19").replace("2b", "18") if number[6] in "ab" else number[:13]
    return 97 - int(digits) % 97 == int(number[13:])


def is_german(number: str) -> bool:
    """Tax number: one digit of the first ten is there twice or three times; the sum is of ISO 7064, modulo 11, 10."""
    most = max(number[:10].count(digit) for digit in set(number[:10]))
    if number[0] == "0" or most not in {2, 3}:
        return False
    product = 10
    for digit in number[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(number[10])


def is_polish(number: str) -> bool:
    """PESEL: a date of birth, and a sum modulo 10."""
    month = int(number[2:4]) % 20
    total = _weighted(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1))
    return _is_date(number[4:6], str(month)) and total % 10 == 0


def is_belgian(number: str) -> bool:
    """National number: a date of birth, and 97 minus the number modulo 97, with a 2 before it from 2000 on."""
    if not _is_date(number[4:6], number[2:4]):
        return False
    return any(97 - int(century + number[:9]) % 97 == int(number[9:]) for century in ("", "2"))


def is_swedish(number: str) -> bool:
    """Check the date of birth, and Luhn's sum."""
    number = number[-10:]
    return _is_date(str(int(number[4:6]) % 60), number[2:4]) and luhn(number)


def is_danish(number: str) -> bool:
    """Check the date of birth; the old sum is not kept any more."""
    return _is_date(number[:2], number[2:4])


def is_finnish(number: str) -> bool:
    """Check the date of birth, and a character that is the number modulo 31."""
    digits = number[:6] + number[-4:-1]
    return _is_date(number[:2], number[2:4]) and _FINNISH[int(digits) % 31] == number[-1]


def is_brazilian(number: str) -> bool:
    """CPF: two sums modulo 11."""
    if len(set(number)) == 1:
        return False
    first = _weighted(number, tuple(range(10, 1, -1))) * 10 % 11 % 10
    second = _weighted(number, tuple(range(11, 1, -1))) * 10 % 11 % 10
    return number[9:] == f"{first}{second}"


def is_swiss(number: str) -> bool:
    """AHV number: the sum of article numbers."""
    return _weighted(number, (1, 3) * 6 + (1,)) % 10 == 0


def is_indian(number: str) -> bool:
    """Aadhaar: Verhoeff's sum, in the dihedral group of ten elements."""
    check = 0
    for slot, digit in enumerate(reversed(number)):
        check = _dihedral(check, _permuted(int(digit), slot))
    return check == 0


def _dihedral(a: int, b: int) -> int:
    if a < 5:
        return (a + b) % 5 if b < 5 else 5 + (a + b) % 5
    return 5 + (a - b) % 5 if b < 5 else (a - b) % 5


def _permuted(digit: int, times: int) -> int:
    for _ in range(times % 8):
        digit = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[digit]
    return digit


def is_chinese(number: str) -> bool:
    """Resident number: ISO 7064, modulo 11, 2."""
    total = _weighted(number[:17], tuple(2**i % 11 for i in range(17, 0, -1)))
    return "10x98765432"[total % 11] == number[17]
