"""From words to the concept whose label they are: first as written, then in the singular, then by stems.

Batet et al. 2013, section 4.1.2, and Sánchez et al. 2018, section 3.4, stem both sides and compare. Stems conflate
("universe" and "university" are both "univers"), so here a stem decides only where nothing nearer matches:

1. the words as they are, in lower case;
2. the last word in the singular, by WordNet's irregular plurals and its endings ("knives", "water sports");
3. all words by their stem (Snowball, English). Of labels with the same stems the shortest wins: it is nearest to the
   base form; then the one that comes first below.

Of the concepts that share a label, the first sense wins where the taxonomy has senses (WordNet: the most frequent);
else the one with the fewest ancestors, then the heaviest (sites of a directory), then the first.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.mapping.phrases import word_class
from querycloak.mapping.stopwords import SHORT_WORDS, STOP_WORDS
from querycloak.mapping.tagger import MAX_WORD, Tagger
from querycloak.mapping.words import label_words
from querycloak.records import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["Lexicon", "Word"]

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
_WORDS_KEPT: Final = 1_000_000
"""Words remembered at most; then the memory starts anew."""


class Word:
    """What the mapper knows about a word, whatever query it stands in."""

    __slots__ = ("concept", "letter", "longest", "singulars", "stem", "stop", "tag", "text")

    def __init__(self, text: str, tag: str, letter: str) -> None:
        self.text = text
        self.tag = tag
        self.letter = letter
        """class of the word, see `phrases`"""
        self.stop = letter in "ds" or text in STOP_WORDS
        self.stem = text
        self.singulars: tuple[str, ...] = ()
        """singular forms that end a label"""
        self.longest = 1
        """words of the longest label that may begin here"""
        self.concept = NO_CODE
        """concept of the word by itself, -1 = none"""


class Lexicon:
    """The labels of a taxonomy, ready to be found."""

    def __init__(self, taxonomy: Taxonomy, weight: npt.NDArray[Any] | None = None) -> None:
        """Read all labels; `weight` is one number per concept, such as its sites (default: the size of its subtree)."""
        self._tagger = Tagger()
        self._words: dict[str, Word] = {}
        self._stem_of: dict[str, str] = {}
        self._exact: dict[str, int] = {}
        self._stems: dict[str, int] = {}
        self._longest: dict[str, int] = {}
        labels = _in_order(taxonomy, weight)
        split = [(label_words(label), concept) for label, concept in labels]
        self._stem_all(chain.from_iterable(words for words, _ in split))
        self._singular_of = irregular_nouns()
        self._add(split)
        self._last_words = {words[-1] for words, _ in split if words}
        self._add([(less, concept) for words, concept in split if (less := _without_stop_words(words))])
        if taxonomy.sense is None:
            self._add([(part, concept) for words, concept in split for part in _parts(words)])

    def _stem_all(self, words: Iterable[str]) -> None:
        distinct = list(dict.fromkeys(words))
        self._stem_of.update(zip(distinct, _stemmer().stemWords(distinct), strict=True))

    def _add(self, labels: list[tuple[list[str], int]]) -> None:
        """Add labels behind those there are: what is there already stays."""
        stem_of, exact, longest = self._stem_of, self._exact, self._longest
        texts: list[tuple[str, str, int]] = []
        for words, concept in labels:
            if not words:
                continue
            text = " ".join(words)
            exact.setdefault(text, concept)
            stems = [stem_of[word] for word in words]
            if len(stems) > 1 and longest.get(stems[0], 1) < len(stems):
                longest[stems[0]] = len(stems)
            texts.append((text, " ".join(stems), concept))
        texts.sort(key=lambda entry: len(entry[0]))
        for _, stem, concept in texts:
            self._stems.setdefault(stem, concept)

    def word(self, text: str) -> Word:
        """Give what is known about a word in lower case."""
        known = self._words.get(text)
        if known is None:
            if len(self._words) >= _WORDS_KEPT:
                self._words.clear()
            known = self._words[text] = self._make(text)
        return known

    def _make(self, text: str) -> Word:
        tag, in_lexicon = self._tagger.tag(text)
        word = Word(text, tag, word_class(text, tag, in_lexicon))
        if len(text) > MAX_WORD:
            return word
        word.stem = self._stem_of.get(text) or _stemmer().stemWord(text)
        word.singulars = tuple(s for s in singulars(text, self._singular_of) if s in self._last_words)
        word.longest = self._longest.get(word.stem, 1)
        if not word.stop and word.letter != "c" and (len(text) > 2 or text in SHORT_WORDS):
            word.concept = self._find([word])[0]
        return word

    def find(self, words: Sequence[Word]) -> int:
        """Give the concept whose label these words are, or -1."""
        if len(words) == 1:
            return words[0].concept
        concept = self._exact.get(" ".join([word.text for word in words]), NO_CODE)
        return concept if concept != NO_CODE else self._find(words)[0]

    def how(self, words: Sequence[Word]) -> str:
        """Tell how words match their label: 'label', 'singular' or 'stem'; empty = not at all."""
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
        return (NO_CODE, "") if concept is None else (concept, "stem")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what every process loads for itself."""
        return {k: v for k, v in self.__dict__.items() if k not in {"_tagger", "_words", "_singular_of"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tagger, self._words, self._singular_of = Tagger(), {}, irregular_nouns()


def singulars(word: str, irregular: dict[str, str]) -> list[str]:
    """Give the forms that a noun may have in the singular, the likeliest first.

    >>> singulars("knives", {"knives": "knife"}), singulars("ponies", {})
    (['knife', 'knive'], ['ponie', 'pony'])
    """
    found = [irregular[word]] if word in irregular else []
    if len(word) > 3 and not word.endswith("ss"):
        found += [word[: -len(end)] + new for end, new in _ENDINGS if word.endswith(end)]
    return found


def irregular_nouns() -> dict[str, str]:
    """Give WordNet's irregular plurals; they hold for the English labels of any taxonomy."""
    from querycloak.knowledge.wordnet import irregular_nouns as wordnet

    return wordnet()


def _in_order(taxonomy: Taxonomy, weight: npt.NDArray[Any] | None) -> list[tuple[str, int]]:
    """Give (label, concept) so that of those with the same label the one to take comes first."""
    flat = list(chain.from_iterable(taxonomy.labels))
    concept = np.repeat(np.arange(len(taxonomy)), np.fromiter(map(len, taxonomy.labels), np.int64, len(taxonomy)))
    if taxonomy.sense is not None:
        order = np.argsort(taxonomy.sense, kind="stable")
    else:
        heavy = taxonomy.size if weight is None else weight
        order = np.lexsort((concept, -np.asarray(heavy, np.float64)[concept], taxonomy.depth[concept]))
    return [(flat[i], c) for i, c in zip(order.tolist(), concept[order].tolist(), strict=True)]


def _without_stop_words(words: list[str]) -> list[str]:
    """Give a label without its stop words where something telling is left: two words, or all but the articles."""
    less = [word for word in words if word not in STOP_WORDS]
    if len(less) == len(words):
        return []
    return less if len(less) > 1 or (len(less) == 1 and _ARTICLES.issuperset(set(words) - set(less))) else []


def _parts(words: list[str]) -> list[list[str]]:
    """Give the parts of a directory's double label: 'swimming and diving' is found by 'diving' (Batet, Example 2)."""
    if words.count("and") != 1:
        return []
    at = words.index("and")
    return [part for part in (words[:at], words[at + 1 :]) if part and not STOP_WORDS.issuperset(part)]


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
