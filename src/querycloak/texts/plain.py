"""A text in plain letters, each of which knows where in the text it comes from.

Patterns are tried on plain letters: lower case, full-width and Arabic digits as 0 to 9, one kind of hyphen, space and
apostrophe, nothing that takes no room, control characters and runs of spaces as one space: texts are published with
single spaces. What they find is told in slots of the text as it was typed.

>>> typed = "\uff14\uff12\u200b \u2013 Tea"
>>> plain = plain_text(typed)
>>> plain.text, plain.typed(0, 2), plain.typed(5, 8)
('42 - tea', (0, 2), (6, 9))
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CONTROLS_AS_SPACES", "Plain", "plain_text", "spread"]

_HYPHENS: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00ad\ufe63"
_AS: Final = {
    **dict.fromkeys(_HYPHENS, "-"),
    **dict.fromkeys("\u2018\u2019\u02bc\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u2033", '"'),
    "\u00ba": "\u00ba",  # º is a degree sign to many, and the o of "nº"
    "\u00aa": "\u00aa",
    "\u0130": "i",  # the capital of i in Turkish: its lower case would be two characters
}
CONTROLS_AS_SPACES: Final[dict[int, str]] = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


class Plain(NamedTuple):
    """Plain letters, and where they come from."""

    text: str
    at: Sequence[int]
    """for each letter of `text`, its slot in the text as it was typed"""

    def typed(self, start: int, end: int) -> tuple[int, int]:
        """Return where the plain letters from start to before end are in the text as it was typed."""
        return self.at[start], self.at[end - 1] + 1


def plain_text(text: str) -> Plain:
    """Return the plain letters of a text."""
    if text.isascii():
        return _with_single_spaces(Plain(text.lower().translate(CONTROLS_AS_SPACES), range(len(text))))
    return _with_single_spaces(spread(text.translate(CONTROLS_AS_SPACES), _plain))


def _with_single_spaces(plain: Plain) -> Plain:
    """Leave out spaces after a space."""
    text = plain.text
    if "  " not in text:
        return plain
    kept = [i for i, char in enumerate(text) if char != " " or i == 0 or text[i - 1] != " "]
    return Plain("".join([text[i] for i in kept]), [plain.at[i] for i in kept])


def spread(text: str, change: Callable[[str], str]) -> Plain:
    """Change a text character by character and remember where each result comes from."""
    letters: list[str] = []
    at: list[int] = []
    for i, char in enumerate(unicodedata.normalize("NFC", text) if _is_composed_alike(text) else text):
        new = change(char)
        letters.append(new)
        at.extend([i] * len(new))
    return Plain("".join(letters), at)


def _is_composed_alike(text: str) -> bool:
    """Tell whether composing accents keeps every character in its slot."""
    return len(unicodedata.normalize("NFC", text)) == len(text)


def _plain(char: str) -> str:
    """Return a character in plain letters; nothing for what takes no room."""
    if char in _AS:
        return _AS[char]
    if unicodedata.category(char) in {"Cf", "Mn"}:  # zero-width characters, accents typed apart
        return ""
    if char.isspace():
        return " "
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return unicodedata.normalize("NFKC", char).lower()
