"""Noun phrases of a clause, from the class of each word.

Batet et al. 2013, section 4.1.1, and Sánchez et al. 2018, section 3.4: a semantic unit is a noun phrase, a run of
words whose last is a noun, specialised by nouns and adjectives on its left. The papers use OpenNLP's parser; a clause
here is a string with one letter per word, and a phrase is a match of `PHRASE`.

=======  ==========================================================================
letter   class
=======  ==========================================================================
d        determiner or possessive: begins a phrase
r        adverb: may be inside a phrase
a        adjective or participle: may be inside a phrase
c        number or single letter: may be inside a phrase
g        word in -ing that may be a noun: may end a phrase, unless a determiner follows
n        noun, or a word the tagger does not know: may end a phrase
v        verb: ends the phrase before it
s        other word of a closed class: ends the phrase before it
=======  ==========================================================================
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from querycloak.mapping.stopwords import DETERMINERS, STOP_WORDS

__all__ = ["in_context", "noun_phrases", "read_classes", "word_class"]

_SHORT: Final = 16
"""Words of a clause whose phrases are remembered."""

_CLOSED_TAGS: Final = frozenset({"IN", "CC", "TO", "PRP", "WP", "WP$", "WDT", "WRB", "EX", "MD", "RP", "POS"})
_DETERMINER_TAGS: Final = frozenset({"DT", "PDT", "PRP$"})
_ROMAN = re.compile(r"[ivx]{2,}")
_ING = re.compile(r".{2,}ing")

_RUN = re.compile("(?<!d)d*([racgn]+)")  # looking back keeps a long row of determiners linear
_FINITE_BEFORE_DETERMINER = re.compile("g(?=d)")
_VERB_AFTER_NOUN_AT_END = re.compile("(?<=[dagn])v$")


def word_class(word: str, tag: str, known: bool) -> str:
    """Return the letter of a word's class from its tag; `known` = the tag comes from the lexicon, not from the ending.

    The tagger has one tag per word, the most frequent one in newspapers; queries are mostly lists of nouns. So the
    third person ("plays", "bears") counts as a plural, and an unknown word whose ending looks like that of a verb or
    an adverb ("-ate", "-ly") counts as a noun.
    """
    if word in DETERMINERS or tag in _DETERMINER_TAGS:
        return "d"
    if word in STOP_WORDS or (known and tag in _CLOSED_TAGS and not word.isdigit()):
        return "s"
    if len(word) == 1 or _ROMAN.fullmatch(word) or not any(map(str.isalpha, word)):
        return "c"
    if tag in {"NN", "VBG"} and _ING.fullmatch(word):
        return "g"
    if tag.startswith("JJ") or tag == "VBN" or (tag == "VBD" and word.endswith("ed")):
        return "a"
    if known and tag in {"VB", "VBP", "VBD"}:
        return "v"
    if known and tag.startswith("RB"):
        return "r"
    return "n"


def read_classes(classes: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the classes of a clause, corrected by neighbours, and its noun phrases; short clauses are remembered."""
    return _remembered(classes) if len(classes) <= _SHORT else _read(classes)


def in_context(classes: str) -> str:
    """Return the classes of a clause, corrected by their neighbours.

    A word in -ing before a determiner is a verb ("stores offering the new Apple phones"); a verb at the end of a
    clause, after a noun, an adjective or a determiner, is a noun ("baby sleep").
    """
    return _VERB_AFTER_NOUN_AT_END.sub("n", _FINITE_BEFORE_DETERMINER.sub("v", classes))


def noun_phrases(classes: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of the noun phrases of a clause, left to right.

    >>> noun_phrases("nvdann"), noun_phrases("gsdn"), noun_phrases("sva")
    (((0, 1), (2, 6)), ((0, 1), (2, 4)), ())
    """
    found = []
    for run in _RUN.finditer(classes):
        length = len(run.group(1).rstrip("rac"))
        if length:
            found.append((run.start(), run.start(1) + length))
    return tuple(found)


def _read(classes: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    corrected = in_context(classes)
    return corrected, noun_phrases(corrected)


_remembered = lru_cache(maxsize=100_000)(_read)
