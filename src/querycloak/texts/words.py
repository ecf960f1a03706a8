r"""The words of a text: what is between spaces, and inside pieces without spaces what Unicode's word rules tell apart.

Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces between words. There the rules of Unicode
(UAX 29) part: every Han and every hiragana character is a word, a run of katakana is one, and so is everything between
them, such as a Latin word or a number. Of Thai, Lao, Khmer and Burmese they tell no words, only letters: a letter with
its marks is a "word". Real words need a dictionary, which we do not have; a phrase of six "words" is then six letters.

A word that follows the one before it without a space is marked with JOINED, a character that no compared text holds:
"日本" is the words "日" and "JOINED 本", and another run than "日 本".

>>> import polars as pl
>>> from querycloak.texts.compared import compared
>>> words = in_words(compared(pl.Series(["Green  tea", "日本茶 カフェ"])))
>>> [text.replace(JOINED, "+").split(" ") for text in words]
[['green', 'tea'], ['日', '+本', '+茶', 'カフェ']]
>>> as_text("+本 +茶".replace("+", JOINED))
'本茶'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

__all__ = ["JOINED", "as_text", "in_words", "joined_texts"]

JOINED: Final = "\x1f"
"""Before a word without a space in front of it; `compared` turns this character into a space, so no text has it."""

_WITHOUT_SPACES: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}\x{FF70}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_WORD: Final = (
    r"([[\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]&&\P{M}][\p{M}\p{Cf}]*"
    r"|[\p{Katakana}\x{30FC}\x{FF70}][\p{Katakana}\x{30FC}\x{FF70}\p{M}\p{Cf}]*)"
)


def in_words(plain: pl.Series) -> pl.Series:
    """Return compared texts with one space between any two words, JOINED before those that had none."""
    without = plain.str.contains(_WITHOUT_SPACES)
    if not without.any():
        return plain
    parted = (
        plain.filter(without)
        .str.replace_all(_WORD, f"{JOINED}${{1}}{JOINED}")
        .str.replace_all(rf"{JOINED}* {JOINED}*", " ")
        .str.strip_chars(JOINED)
        .str.replace_all(f"{JOINED}+", f" {JOINED}")
    )
    return plain.clone().scatter(without.arg_true(), parted)  # `scatter` writes to the series that it is called on


def as_text(words: str) -> str:
    """Return a run of words as it is in the compared text."""
    return words.removeprefix(JOINED).replace(f" {JOINED}", "")


def joined_texts(words: pl.Series) -> pl.Series:
    """Return runs of words as they are in the compared texts; like `as_text`."""
    return words.str.strip_prefix(JOINED).str.replace_all(f" {JOINED}", "", literal=True)
