"""Social-security numbers of the United States, and national numbers of other countries that have a checksum.

A number without a checksum is found only in a form that little else has: three, two and four digits, nine digits in one
piece, the letters of a British national insurance number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers import _checksums as checksums
from querycloak.texts.identifiers._pattern import Pattern
from querycloak.texts.identifiers._words_before import is_of_a_thing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CANDIDATE", "national_numbers"]

CANDIDATE: Final = (
    r"\d(?:[ ./+a-]{0,3}\d){7}|[a-z]{2}[ -]?\d\d[ -]?\d\d[ -]?\d\d[ -]?[a-d]|[xyz][ -]?\d{7}"
    r"|[a-z]{3} ?[a-z]{3} ?[0-9l-v]{2} ?[a-ehlmprst] ?[0-9l-v]{2} ?[a-z]|[a-z]{5} ?\d{4} ?[a-z]|[a-z]{4}\d{6}"
)

_BEFORE: Final = r"(?<![\w.-])"
_AFTER: Final = r"(?![\w]|[.-]\d)"


def _numbers(*forms: tuple[str, Callable[[str], bool]]) -> list[tuple[Pattern, Callable[[str], bool]]]:
    return [(Pattern(f"{_BEFORE}(?:{form}){_AFTER}"), check) for form, check in forms]


def _any(number: str) -> bool:
    return bool(number)


_OMOCODE: Final = "[0-9lmnpqrstuv]"
"""Digits of an Italian number; letters where two people would have the same."""
_ITALIAN: Final = (
    rf"[a-z]{{3}} ?[a-z]{{3}} ?{_OMOCODE}{{2}} ?[abcdehlmprst] ?{_OMOCODE}{{2}} ?[a-z]{_OMOCODE}{{3}} ?[a-z]"
)

_FORMS: Final = _numbers(
    (r"\d{3}[- .]\d{2}[- .]\d{4}", _any),  # United States
    (r"\d{9}", checksums.is_us_or_nine_digits),
    (r"\d{8}[- ]?[a-z]|\d{1,2}\.\d{3}\.\d{3}[- ]?[a-z]", checksums.is_spanish),
    (r"[xyz][- ]?\d{7}[- ]?[a-z]", checksums.is_spanish),
    (_ITALIAN, checksums.is_italian),
    (r"[1-478] ?\d\d ?\d\d ?(?:\d\d|2[ab]) ?\d{3} ?\d{3}[ -/]{0,3}\d\d", checksums.is_french),
    (r"(?:\d{3}[. ]\d{3}[. ]\d{3}|\d{4}[. ]\d{2}[. ]\d{3})", checksums.is_dutch_or_canadian),
    (r"\d{3}-\d{3}-\d{3}", checksums.is_canadian),
    (r"\d{2} ?\d{3} ?\d{3} ?\d{3}", checksums.is_german),
    (
        r"(?!bg|gb|nk|kn|tn|nt|zz)[a-ceghj-prstw-z][a-ceghj-nprstw-z][ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[a-d]",
        _any,
    ),  # British
    (r"\d{11}", checksums.is_polish),
    (r"\d{2}[. ]?\d{2}[. ]?\d{2}[- ]?\d{3}[. ]?\d{2}", checksums.is_belgian),
    (r"(?:19|20)?\d{6}[-+]?\d{4}", checksums.is_swedish),
    (r"\d{6}-\d{4}", checksums.is_danish),
    (r"\d{6}[-+a]\d{3}[0-9a-y]", checksums.is_finnish),
    (r"\d{3}\.?\d{3}\.?\d{3}[-/ ]?\d{2}", checksums.is_brazilian),
    (r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", checksums.is_swiss),
    (r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}", checksums.is_indian),
    (r"[a-z]{3}[abcfghljpt][a-z] ?\d{4} ?[a-z]", _any),  # Indian tax number
    (r"[1-9]\d{5} ?(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])[0-3]\d ?\d{3}[0-9x]", checksums.is_chinese),
    (r"[a-z][aeioux][a-z]{2}\d{2}(?:0[1-9]|1[0-2])[0-3]\d[hm][a-z]{5}[a-z0-9]\d", _any),  # Mexican CURP
)


def national_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Find national numbers in a plain text, unless the word before says that it is the number of a thing."""
    for form, check in _FORMS:
        for match in form.finditer(text):
            number = re.sub(r"[^a-z0-9]", "", match.group())
            if check(number) and not is_of_a_thing(text, match.start()):
                yield match.span()
