"""From words to the concept whose label they are: first as written, then in the singular, then by stems.

Batet et al. 2013, section 4.1.2, and Sánchez et al. 2018, section 3.4, stem both sides and compare. Stems conflate
("photograph" and "photographer" are one), so here a stem decides only where nothing nearer matches:

1. the words as they are, in lower case;
2. the last word in the singular, by WordNet's irregular plurals and its endings ("knives", "water sports"), where the
   stem is the same ("news" is not the plural of "new");
3. all words by their stem (Snowball, English; an irregular plural has the stem of its singular). Of labels with the
   same stems the shortest wins, as nearest to the base form; then the one that comes first by the rule below.

Of the concepts that share a label, the first sense wins where the taxonomy has senses (WordNet: the most frequent);
else the one with the fewest ancestors, then the heaviest (sites of a directory), then the first.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.phrases import word_class
from querycloak.mapping.stopwords import SHORT_WORDS, STOP_WORDS
from querycloak.mapping.tagger import MAX_WORD, Tagger
from querycloak.mapping.words import label_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["Lexicon", "Word", "label_texts", "lexicon_of"]

_ENDINGS: Final = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
"""How WordNet takes the plural off a noun: ending → ending."""

_ARTICLES: Final = frozenset({"a", "an", "the"})
_NOT_FOUND: Final = (NO_CODE, "")
_WORDS_KEPT: Final = 1_000_000
"""Words remembered at most; then all are forgotten."""


class Word:
    """What the mapper knows about a word, in any query."""

    __slots__ = ("concept", "letter", "singulars", "stem", "stop", "tag", "text")

    def __init__(self, text: str, tag: str, letter: str) -> None:
        self.text = text
        self.tag = tag
        self.letter = letter
        """class of the word, see `phrases`"""
        self.stop = letter in "ds" or text in STOP_WORDS
        self.stem = text
        self.singulars: tuple[str, ...] = ()
        """singular forms, of the same stem, that end a label"""
        self.concept = NO_CODE
        """concept of the word by itself, -1 = none"""


@lru_cache(maxsize=4)
def lexicon_of(taxonomy: Taxonomy) -> Lexicon:
    """Return the lexicon of a taxonomy with weights of its own; reading all labels of a large one takes seconds."""
    return Lexicon(taxonomy)


class Lexicon:
    """The labels of a taxonomy, indexed for look-up."""

    def __init__(self, taxonomy: Taxonomy, weight: npt.NDArray[Any] | None = None) -> None:
        """Read all labels; `weight` is one number per concept, such as its sites (default: the size of its subtree)."""
        self._tagger = Tagger()
        self.words = _Words(self._make)
        """word in lower case → what is known about it"""
        self._stem_of: dict[str, str] = {}
        self._exact: dict[str, int] = {}
        self._stems: dict[str, int] = {}
        self.longest: dict[str, int] = {}
        """first two stems of labels → words of the longest label that begins so"""
        self._singular_of = irregular_nouns()
        labels, *shorter = label_texts(taxonomy, weight)
        self._add(labels)
        self._last_words = {text.rpartition(" ")[2] for text in self._exact}
        for texts in shorter:
            self._add(texts)

    def _add(self, labels: list[tuple[str, int]]) -> None:
        """Add labels with lower priority than those already there."""
        first = dict(reversed(labels))  # the first of equal labels overwrites the later
        new = {text: first[text] for text, _ in labels if text and text not in self._exact}
        self._exact.update(new)
        stem_of, longest = self._stem_of, self.longest
        unknown = list({word for text in new for word in text.split()}.difference(stem_of))
        stem_of.update(zip(unknown, self._stems_of(unknown), strict=True))
        for text in sorted(new, key=len):
            if " " in text:
                stems = [stem_of[word] for word in text.split()]
                start = f"{stems[0]} {stems[1]}"
                if longest.get(start, 0) < len(stems):
                    longest[start] = len(stems)
                self._stems.setdefault(" ".join(stems), new[text])
            else:
                self._stems.setdefault(stem_of[text], new[text])

    def _stems_of(self, words: list[str]) -> list[str]:
        """Stem words; an irregular plural has the stem of its singular."""
        singular_of = self._singular_of
        stems: list[str] = _stemmer().stemWords([singular_of.get(word, word) for word in words])
        return stems

    def _make(self, text: str) -> Word:
        tag, in_lexicon = self._tagger.tag(text)
        word = Word(text, tag, word_class(text, tag, in_lexicon))
        if len(text) > MAX_WORD:
            return word
        word.stem = self.stem(text)
        word.singulars = tuple(
            singular
            for singular in singulars(text, self._singular_of)
            if singular in self._last_words and self.stem(singular) == word.stem
        )
        if not word.stop and word.letter != "c" and (len(text) > 2 or text in SHORT_WORDS):
            word.concept = self._find([word])[0]
        return word

    def stem(self, word: str) -> str:
        """Return the stem of a word."""
        return self._stem_of.get(word) or self._stems_of([word])[0]

    def find(self, words: Sequence[Word]) -> int:
        """Return the concept whose label these words are, or -1."""
        return words[0].concept if len(words) == 1 else self._find(words)[0]

    def how(self, words: Sequence[Word]) -> str:
        """Return how words match their label: 'label', 'singular' or 'stem'; empty = not at all."""
        return self._find(words)[1]

    def _find(self, words: Sequence[Word]) -> tuple[int, str]:
        text = " ".join([word.text for word in words])
        concept = self._exact.get(text)
        if concept is not None:
            return concept, "label"
        last = words[-1]
        if last.singulars:
            start = text[: len(text) - len(last.text)]
            for singular in last.singulars:
                concept = self._exact.get(start + singular)
                if concept is not None:
                    return concept, "singular"
        concept = self._stems.get(" ".join([word.stem for word in words]))
        return _NOT_FOUND if concept is None else (concept, "stem")

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without what every process loads for itself."""
        return {k: v for k, v in self.__dict__.items() if k not in {"_tagger", "words", "_singular_of"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tagger, self.words, self._singular_of = Tagger(), _Words(self._make), irregular_nouns()


class _Words(dict[str, Word]):
    """The words seen so far; a new one is made when it is first asked for."""

    def __init__(self, make: Callable[[str], Word]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> Word:
        if len(self) >= _WORDS_KEPT:
            self.clear()
        word = self[text] = self._make(text)
        return word


def singulars(word: str, irregular: dict[str, str]) -> list[str]:
    """Return the forms that a noun may have in the singular, the likeliest first.

    >>> singulars("knives", {"knives": "knife"}), singulars("ponies", {})
    (['knife', 'knive'], ['ponie', 'pony'])
    """
    found = [irregular[word]] if word in irregular else []
    if len(word) > 3 and not word.endswith("ss"):
        found += [word[: -len(end)] + new for end, new in _ENDINGS if word.endswith(end)]
    return found


def irregular_nouns() -> dict[str, str]:
    """Return WordNet's irregular plurals; they hold for the English labels of any taxonomy."""
    from querycloak.knowledge.wordnet import irregular_nouns as wordnet

    return wordnet()


def label_texts(taxonomy: Taxonomy, weight: npt.NDArray[Any] | None) -> list[list[tuple[str, int]]]:
    """Return the texts by which concepts are found, in three lists; of equal texts the one to use comes first.

    Labels; the same without stop words; and, in a directory, the parts of double labels.
    """
    labels = [(label_text(label), concept) for label, concept in _in_order(taxonomy, weight)]
    less = [(less, concept) for text, concept in labels if (less := _without_stop_words(text))]
    parts = [(part, concept) for text, concept in labels for part in _parts(text)] if taxonomy.sense is None else []
    return [labels, less, parts]


def _in_order(taxonomy: Taxonomy, weight: npt.NDArray[Any] | None) -> list[tuple[str, int]]:
    """Return (label, concept) pairs; of those with the same label the one to use comes first."""
    flat = list(chain.from_iterable(taxonomy.labels))
    concept = np.repeat(np.arange(len(taxonomy)), np.fromiter(map(len, taxonomy.labels), np.int64, len(taxonomy)))
    if taxonomy.sense is not None:
        order = np.argsort(taxonomy.sense, kind="stable")
    else:
        heavy = taxonomy.size if weight is None else weight
        order = np.lexsort((concept, -np.asarray(heavy, np.float64)[concept], taxonomy.depth[concept]))
    return [(flat[i], c) for i, c in zip(order.tolist(), concept[order].tolist(), strict=True)]


def _without_stop_words(text: str) -> str:
    """Return a label without its stop words where something telling is left: two words, or all but the articles."""
    words = text.split()
    less = [word for word in words if word not in STOP_WORDS]
    if len(less) == len(words) or not less:
        return ""
    return " ".join(less) if len(less) > 1 or _ARTICLES.issuperset(set(words) - set(less)) else ""


def _parts(text: str) -> list[str]:
    """Return the parts of a directory's double label: 'swimming and diving' is found by 'diving' (Batet, Example 2)."""
    words = text.split()
    if words.count("and") != 1 or "and" in {words[0], words[-1]}:
        return []
    halves = text.split(" and ")
    return [half for half in halves if not STOP_WORDS.issuperset(half.split())]


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
