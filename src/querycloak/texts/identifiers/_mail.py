"""Mail addresses, also with "at" and "dot" in words, and of large providers without their ending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers._pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CANDIDATE", "mails"]

_AT: Final = r"(?:\s?@\s?|\s?[(\[]\s?at\s?[)\]]\s?)"
_DOT: Final = r"(?:\s?\.\s?|\s?[(\[]\s?dot\s?[)\]]\s?|\sdot\s)"
_PART: Final = r"[^\s@()\[\],;:<>]"
_PROVIDERS: Final = (
    "gmail|googlemail|yahoo|hotmail|aol|msn|outlook|live|gmx|web|icloud|comcast|earthlink|mail|yandex|qq"
)
_ENDINGS: Final = r"(?:com|net|org|edu|gov|mil|info|biz|[a-z]{2})"

CANDIDATE: Final = r"@|[(\[]\s?at\s?[)\]]|\sdot\s|[(\[]dot"
_MAIL: Final = Pattern(
    rf"{_PART}+{_AT}{_PART}+?(?:{_DOT}{_PART}{{2,}})+"
    rf"|{_PART}{{2,}}@(?:{_PROVIDERS})\b"
    rf"|(?<!\S)\S+ at \S+(?: dot \S+)* dot {_ENDINGS}(?!\w)"
    rf"|(?<!\S)\S+ dot \S+ at (?:{_PROVIDERS})\b"
)


def mails(text: str) -> Iterator[tuple[int, int]]:
    """Find mail addresses in a plain text."""
    return (match.span() for match in _MAIL.finditer(text))
