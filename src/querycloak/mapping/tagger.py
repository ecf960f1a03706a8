"""The part of speech of a word: a lexicon of known words, and a guess from the ending for all others.

The words and their tags are those of Brill's tagger (1992) with additions, as TextBlob carries them: the tag that a
word has most often in the Brown corpus and the Penn Treebank (tagger-NOTICE.txt; `tools/build_tagger.py` builds
the file). The tags are those of `textblob.en.tag(query, tokenize=False)`: that function passes neither contextual nor
morphological rules on, so that the tag of a lower-case word does not depend on its neighbours, and a tag per word,
computed once, is the same as tagging each query. `tests/mapping/test_tagger.py` compares the two.

One addition: queries are mostly typed in lower case, so a word that the lexicon knows only with a capital ("Paris",
"Irish") is tagged as a proper noun, NNP.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["Tagger"]

MAX_WORD: Final = 64
"""Longer words are no words; they are tagged as unknown nouns."""

CAPITAL: Final = "capital"
"""In the file, instead of a tag: the words that are known only with a capital."""

NUMBER_CHARACTERS: Final = frozenset("0123456789-,.:/%$")

ENDINGS: Final = (
    (("ate", "ify", "ise", "ize"), "VBP"),
    (("ed",), "VBN"),
    (("able", "al", "ful", "ible", "ient", "ish", "ive", "less", "tic", "ous"), "JJ"),
)
"""The first that fits decides; after these, a hyphen makes an adjective, and then come -s, -ly and -ing."""


@cache
def _words() -> tuple[dict[str, str], frozenset[str]]:
    """Read the lexicon: lower-case word → tag, and the words that are known only with a capital."""
    packed = files("querycloak.mapping").joinpath("tagger-words.txt.gz").read_bytes()
    tags: dict[str, str] = {}
    capitals: frozenset[str] = frozenset()
    for line in gzip.decompress(packed).decode().splitlines():
        tag, *words = line.split(" ")
        if tag == CAPITAL:
            capitals = frozenset(words)
        else:
            tags.update(dict.fromkeys(words, tag))
    return tags, capitals


def guess(word: str) -> str:
    """Return the tag of a word that the lexicon does not know, from its characters.

    >>> guess("flurbing"), guess("24/7"), guess("e-flurb"), guess("flurbs"), guess("flurbous")
    ('VBG', 'CD', 'JJ', 'NNS', 'JJ')
    """
    if word and NUMBER_CHARACTERS.issuperset(word):
        return "CD"
    for endings, tag in ENDINGS:
        if word.endswith(endings):
            return tag
    if "-" in word:
        return "JJ"
    if word.endswith("s") and not word.endswith(("is", "ss")):
        return "NNS"
    if word.endswith("ly"):
        return "RB"
    return "VBG" if word.endswith("ing") else "NN"


class Tagger:
    """Finds the Penn Treebank tags of lower-case words."""

    def __init__(self) -> None:
        self._tags, self._capitals = _words()

    def tag(self, word: str) -> tuple[str, bool]:
        """Return the tag of a lower-case word, and whether the lexicon knows the word.

        >>> Tagger().tag("diving"), Tagger().tag("irish"), Tagger().tag("qwyjibo")
        (('VBG', True), ('NNP', True), ('NN', False))
        """
        if len(word) > MAX_WORD:
            return "NN", False
        known = self._tags.get(word)
        if known is not None:
            return known, True
        if word.capitalize() in self._capitals:
            return "NNP", True
        return guess(word), False
