"""Names of persons in the text of queries: a first name from a list next to a last name from a list.

"first last" or "last, first", anywhere in the text, with initials or words such as "van der" in between; where the last
name comes first, as in China, Vietnam or Korea, also "last first". Recall comes first: a phrase wrongly taken for a
name costs little. Two things are left alone:

- two ordinary words: "summer park" could be somebody, but one of the two must be no ordinary English word and no place,
  unless it is rather a name than a word (`rather_names.txt`: "john smith")
- what the knowledge base has a label for: "bill clinton" is famous, "virginia beach" is no person

The lists: the US census of 1990, lists of fifty countries, and romanised names (names-NOTICE.txt;
`tools/build_names.py` builds the file).

>>> import polars as pl
>>> from querycloak.knowledge.wordnet import load_wordnet
>>> texts = ["tall jane q. miller boston", "summer park", "Abraham Lincoln", "Müller, Jürgen", "wang xiaoming"]
>>> find_names(pl.Series(texts), load_wordnet()).tolist()
[True, False, False, True, True]
"""

from __future__ import annotations

import lzma
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.tagger import Tagger
from querycloak.mapping.words import fold

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["EASTERN_FIRST", "EASTERN_LAST", "FIRST", "LAST", "NameFinder", "find_names", "folded_name"]

FIRST: Final = 1
LAST: Final = 2
EASTERN_FIRST: Final = 4
EASTERN_LAST: Final = 8
"""Roles of a name, added up; eastern: of countries where the last name comes first."""

_ANY_FIRST: Final = FIRST | EASTERN_FIRST
_ANY_LAST: Final = LAST | EASTERN_LAST

_LETTERS: Final = str.maketrans(
    {"\u0131": "i", "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ə": "a"}
)
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['`-](?!s\b)[^\W\d_]+)*|'s\b|,|\.(?=\w)|[^\s.]")
_INITIAL: Final = re.compile(r"(?<![^\W_])([^\W\d_])\.")
_NO_NAMES: Final = frozenset(["com", "edu", "gov", "http", "net", "org", "www"])
_BETWEEN: Final = frozenset(
    word
    for words in ("van von der den de da di del della la le dos das du", "bin ibn al el ben ter ten st mac mc thi y e")
    for word in words.split()
)
"""Short words that may come between a first and a last name."""
_MOST_BETWEEN: Final = 3
_PLACE_ROOTS: Final = ("location", "geographical area", "geological formation", "body of water", "natural language")
"""What is below these is a place, or "irish": no ordinary word, but no name either."""


def find_names(texts: pl.Series, taxonomy: Taxonomy) -> npt.NDArray[np.bool_]:
    """Find which texts hold the name of a person who is not famous: bool[n]."""
    finder = _finder(taxonomy)
    return np.fromiter(map(finder.holds_name, texts.to_list()), np.bool_, len(texts))


def folded_name(text: str) -> str:
    """Return a text as names are compared: lower case, without accents, letters that have none as plain ones.

    >>> folded_name("O'Brien Łukasz Müller")
    'obrien lukasz muller'
    """
    return fold(text).translate(_LETTERS).replace("'", "")


class NameFinder:
    """Tells whether a text holds a name; what a taxonomy has a label for is left alone."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._roles = _names()
        self._rather = _rather_names()
        self._labels = frozenset(
            " ".join(_tokens(label)) for labels in taxonomy.labels for label in labels if " " in label
        )
        self._words, self._places = _single_labels(taxonomy)
        self._tagger = Tagger()

    def holds_name(self, text: str) -> bool:
        """Tell whether a name is in the text.

        >>> from querycloak.knowledge.taxonomy import Taxonomy
        >>> finder = NameFinder(Taxonomy.from_parents([-1], [["thing"]]))
        >>> [finder.holds_name(text) for text in ("dr maria van der berg", "maria's tea pot", "maria.com")]
        [True, False, False]
        """
        words = _tokens(text)
        roles = [self._role(word) for word in words]
        for i, role in enumerate(roles):
            if role & _ANY_FIRST and self._first_last(words, roles, i):
                return True
            if role & LAST and self._last_comma_first(words, roles, i):
                return True
            if role & EASTERN_LAST and self._eastern(words, roles, i):
                return True
        return False

    def _first_last(self, words: list[str], roles: list[int], i: int) -> bool:
        """Look for a last name after the first name at i."""
        for j in range(i + 1, min(len(words), i + 2 + _MOST_BETWEEN)):
            if roles[j] & _ANY_LAST and self._is_name(words, i, j, first=i, last=j):
                return True
            if len(words[j]) > 1 and words[j] not in _BETWEEN:
                return False
            if not words[j].isalpha():
                return False
        return False

    def _last_comma_first(self, words: list[str], roles: list[int], i: int) -> bool:
        """Look for a comma and a first name after the last name at i."""
        if i + 2 >= len(words) or words[i + 1] != "," or not roles[i + 2] & _ANY_FIRST:
            return False
        return self._is_name(words, i, i + 2, first=i + 2, last=i)

    def _eastern(self, words: list[str], roles: list[int], i: int) -> bool:
        """Look for a first name after the last name at i, with at most one middle name between them."""
        for j in range(i + 1, min(len(words), i + 3)):
            if roles[j] & EASTERN_FIRST and self._is_name(words, i, j, first=j, last=i):
                return True
            if words[j] not in {"thi", "van"}:
                return False
        return False

    def _is_name(self, words: list[str], begin: int, end: int, *, first: int, last: int) -> bool:
        """Tell whether one of the two is no ordinary word, and neither the words nor the two are a label."""
        if self._is_ordinary(words[first], "first") and self._is_ordinary(words[last], "last"):
            return False
        run = [word for word in words[begin : end + 1] if word != ","]
        before, after = words[max(begin - 1, 0) : begin], words[end + 1 : end + 2]
        parts = [run, [words[first], words[last]], [*before, *run], [*run, *after]]
        parts += [[*before, words[begin]], [words[end], *after]]  # "san juan" island, karen "high school"
        return not any(" ".join(part) in self._labels for part in parts)

    def _role(self, word: str) -> int:
        """Return the roles that a word may have in a name; all parts of a word with a hyphen must have one."""
        if "-" in word:
            out = FIRST | LAST | EASTERN_FIRST | EASTERN_LAST
            for part in word.split("-"):
                out &= self._roles.get(part, 0)
            return out
        if word in _NO_NAMES or (word in STOP_WORDS and word not in self._rather["first"]):
            return 0
        return self._roles.get(word, 0)

    @lru_cache(maxsize=100_000)  # noqa: B019 - finders live as long as their taxonomy
    def _is_ordinary(self, word: str, role: str) -> bool:
        """Tell whether a word is an English word or a place rather than a name in this role."""
        if word in self._rather[role]:
            return False
        if word in self._places or word in self._words or self._is_english(word):
            return True
        singular = word.removesuffix("s")  # of a short word, this is another word: "hans"
        return len(singular) > 3 and (singular in self._words or self._is_english(singular))

    def _is_english(self, word: str) -> bool:
        """Tell whether the tagger knows the word in lower case."""
        tag, known = self._tagger.tag(word)
        return known and tag != "NNP"


@lru_cache(maxsize=4)
def _finder(taxonomy: Taxonomy) -> NameFinder:
    return NameFinder(taxonomy)


def _tokens(text: str) -> list[str]:
    """Return the words, commas and other marks of a text, "'s" as one of them; without full stops before a space."""
    found = _TOKEN.findall(_INITIAL.sub(r"\1 ", fold(text).translate(_LETTERS)))
    return [word if word == "'s" else word.replace("'", "").replace("`", "") for word in found]


def _single_labels(taxonomy: Taxonomy) -> tuple[frozenset[str], frozenset[str]]:
    """Return the labels of one word that are written in lower case, and those of places."""
    subtrees = [(c, c + int(taxonomy.size[c])) for root in _PLACE_ROOTS for c in taxonomy.find(root)]
    words: set[str] = set()
    places: set[str] = set()
    for concept, labels in enumerate(taxonomy.labels):
        single = [label for label in labels if " " not in label]
        words.update(label for label in single if label == label.lower())
        if any(begin <= concept < end for begin, end in subtrees):
            places.update(map(str.lower, single))
    return frozenset(words), frozenset(places)


@cache
def _names() -> dict[str, int]:
    """Read the embedded lists: name → roles."""
    packed = files("querycloak.texts").joinpath("names.txt.xz").read_bytes()
    lines = (line.split(" ") for line in lzma.decompress(packed).decode("ascii").splitlines())
    return {name: int(role) for role, *names in lines for name in names}


@cache
def _rather_names() -> dict[str, frozenset[str]]:
    """Read the words that are rather names, by role."""
    out: dict[str, set[str]] = {"first": set(), "last": set()}
    for line in files("querycloak.texts").joinpath("rather_names.txt").read_text("ascii").splitlines():
        if not line.startswith("#"):
            role, names = line.split(": ")
            out[role].update(names.split())
    return {role: frozenset(names) for role, names in out.items()}
