"""Stems of English words: Snowball's, and an irregular plural has the stem of its singular."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["irregular_nouns", "stem_of", "stemmer_digest", "stems_of"]


def stems_of(words: Sequence[str]) -> list[str]:
    """Return the stems of words.

    >>> stems_of(["sports", "geese", "photographers"])
    ['sport', 'goos', 'photograph']
    """
    singular_of = irregular_nouns()
    stems: list[str] = _stemmer().stemWords([singular_of.get(word, word) for word in words])
    return stems


def stem_of(word: str) -> str:
    """Return the stem of a word."""
    stem: str = _stemmer().stemWord(irregular_nouns().get(word, word))
    return stem


@cache
def irregular_nouns() -> dict[str, str]:
    """Return WordNet's irregular plurals; they hold for the English labels of any taxonomy."""
    from querycloak.knowledge.wordnet import irregular_nouns as wordnet

    return wordnet()


def stemmer_digest(words: Sequence[str]) -> str:
    """Return a name for the installed stemmer: its version, and a digest of what it makes of some words.

    A system's package may link another Snowball than the one whose version PyStemmer tells.
    """
    import Stemmer

    stems = "\n".join(stems_of(words)).encode()
    return f"PyStemmer {Stemmer.version()} {blake2b(stems, digest_size=16).hexdigest()}"


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
