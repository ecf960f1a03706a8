"""From the text of a query to its words, in clauses: lower case, no accents, no punctuation, addresses taken apart.

>>> clauses("Hotels, San Francisco's AIRPORT www.animals.com")
[['hotels'], ['san', 'francisco', 'airport'], ['animals']]
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["address_words", "clauses", "clauses_with_sites", "fold", "label_text"]

MAX_ADDRESS: Final = 2_048
"""Longer pieces without a space are not read as web addresses."""

_TOP_LEVEL = (
    "com|org|net|edu|gov|mil|int|info|biz|name|museum|arpa|"
    "ar|at|au|be|br|ca|ch|cl|cn|cz|de|dk|es|eu|fi|fr|gr|hk|ie|il|in|it|jp|kr|mx|nl|no|nz|pl|pt|ru|se|sg|tr|tv|tw|uk|us|za"
)
_ADDRESS = re.compile(
    rf"(?:(?:https?|ftp)://|www\.)\S+|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_TOP_LEVEL})(?::\d+)?(?:/\S*)?"
)
_NUMBERED_ADDRESS = re.compile(r"(?:\S*/)?\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\S*)?")
_ADDRESS_PART = re.compile(r"[^\W\d_]+")
_NOT_WORDS: Final = frozenset(
    ["http", "https", "ftp", "www", "index", "default", "htm", "html", "shtml", "php", "asp", "jsp", "cgi", "bin", "co"]
) | frozenset(_TOP_LEVEL.split("|"))

_TOKEN = re.compile(
    r"(?P<mark>[,;:!?()\[\]{}\"|“”«»…]|(?<=\w\w\w\w)\.(?=\s|$))"  # ends a clause; "st." and "mr." do not
    r"|(?:[^\W\d_]\.){2,}[^\W\d_]?"  # u.s., p.m.
    r"|\d+(?:[.,]\d+)+"  # 1.5, 10,000
    r"|[^\W_]+(?:'[^\W_]+)*"
    r"|&"
)
_EXCLUDED = re.compile(r"(?<!\S)-(?=[^\W_])\S+")
"""A word with a minus before it: search engines leave out pages that have it, so the query is not about it."""
_ACCENTS = re.compile("[\u0300-\u036f]+")
_OUTER = "\"'()[]{}<>,;:!?+"


def fold(text: str) -> str:
    """Return the text in lower case, without accents, with plain apostrophes."""
    text = text.lower()
    if text.isascii():
        return text
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", text).replace("\u2019", "'").replace("\u2018", "'").lower()


def clauses(text: str) -> list[list[str]]:
    """Return the words of each clause: a stretch between marks such as commas, or a single web address."""
    text = _without_excluded(fold(text))
    if "." not in text:
        return _split_plain(text)
    return [words for words, _ in _with_addresses(text, address_words) if words]


def clauses_with_sites(text: str) -> list[tuple[list[str], str]]:
    """Return the words of each clause, and the address that it is; empty for other clauses.

    More is taken for an address than by `clauses`: numbers with dots, and what has "www." somewhere in it.
    """
    text = _without_excluded(fold(text))
    if "." not in text:
        return [(words, "") for words in _split_plain(text)]
    return _with_addresses(text, lambda piece: address_words(_from_www(piece)))


def _without_excluded(text: str) -> str:
    return _EXCLUDED.sub("", text) if "-" in text else text


def _split_plain(text: str) -> list[list[str]]:
    """Split a text without a full stop."""
    text = text.replace("-", " ")
    return [text.split()] if text.isascii() and text.replace(" ", "").isalnum() else _split(text)


def _from_www(piece: str) -> str:
    """Return an address without what stands before its www, and a number with dots as an address."""
    start = piece.find("www.")
    if start < 0 and len(piece) <= MAX_ADDRESS and _NUMBERED_ADDRESS.fullmatch(piece):
        return f"http://{piece}"
    return piece[max(start, 0) :]


def _with_addresses(text: str, words_of: Callable[[str], list[str] | None]) -> list[tuple[list[str], str]]:
    out: list[tuple[list[str], str]] = []
    plain: list[str] = []
    for piece in text.split():
        words = words_of(piece) if "." in piece else None
        if words is None:
            plain.append(piece)
            continue
        out += [(clause, "") for clause in _split(" ".join(plain))]
        plain = []
        out.append((words, _from_www(piece).strip(_OUTER)))
    return out + [(clause, "") for clause in _split(" ".join(plain))]


def label_text(label: str) -> str:
    """Return the words of a label, joined by spaces: read like a query, but as one clause, and never as an address.

    >>> label_text("Alzheimer's_disease"), label_text("U.S. waters"), label_text("merry-go-round")
    ('alzheimer disease', 'u.s waters', 'merry go round')
    """
    text = fold(label).replace("_", " ").replace("-", " ")
    if text.isascii() and text.replace(" ", "").isalnum():
        return " ".join(text.split()) if " " in text else text
    return " ".join([word for clause in _split(text) for word in clause])


def address_words(piece: str) -> list[str] | None:
    """Return the words of a web address, without www, com and the like; None where the piece is not an address."""
    piece = piece.strip(_OUTER)
    if len(piece) > MAX_ADDRESS or not _ADDRESS.fullmatch(piece):
        return None
    return [word for word in _ADDRESS_PART.findall(piece) if word not in _NOT_WORDS]


def _split(text: str) -> list[list[str]]:
    out: list[list[str]] = []
    clause: list[str] = []
    for match in _TOKEN.finditer(text):
        word = match.group()
        if match.lastgroup == "mark":
            if clause:
                out.append(clause)
            clause = []
        elif word == "&":
            clause.append("and")
        elif word.endswith("'s") and len(word) > 2:
            clause.append(word[:-2])
        else:
            clause.append(word.rstrip("."))
    if clause:
        out.append(clause)
    return out
