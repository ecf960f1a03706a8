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

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from querycloak.knowledge.wordnet import is_wordnet, load_wordnet
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.embedded_labels import columns, embedded_labels
from querycloak.mapping.label_index import LabelIndex
from querycloak.mapping.phrases import word_class
from querycloak.mapping.stems import irregular_nouns, stem_of
from querycloak.mapping.stopwords import SHORT_WORDS, STOP_WORDS
from querycloak.mapping.tagger import MAX_WORD, Tagger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.embedded_labels import EmbeddedLabels, Table

__all__ = ["Candidates", "Lexicon", "Word", "forms_of", "lexicon_of"]

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

_WOMEN: Final = "women"
"""Not among the irregular plurals, and of another stem than "woman"."""
_NOT_FOUND: Final = (NO_CODE, "", "")
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


class Candidates(NamedTuple):
    """What a label may mean."""

    senses: tuple[int, ...]
    """concepts, the likeliest first without any context; () = it is no label"""
    words: tuple[str, ...]
    """the words of the label in all of its forms"""
    by_stem: bool
    """only the stems are alike"""


_NO_CANDIDATES: Final = Candidates((), (), by_stem=False)


@lru_cache(maxsize=4)
def lexicon_of(taxonomy: Taxonomy) -> Lexicon:
    """Return the lexicon of a taxonomy with weights of its own; reading all labels of a large one takes seconds."""
    return Lexicon(taxonomy)


class Lexicon:
    """The labels of a taxonomy, indexed for look-up."""

    def __init__(self, taxonomy: Taxonomy, weight: npt.NDArray[Any] | None = None) -> None:
        """Read all labels; `weight` is one number per concept, such as its sites (default: the size of its subtree)."""
        self._labels: LabelIndex | EmbeddedLabels = _labels_of(taxonomy, weight)
        self._load()

    def _load(self) -> None:
        """Load what is the same for every taxonomy."""
        self._tagger = Tagger()
        self.words = _Words(self._make)
        """word in lower case → what is known about it"""
        self._singular_of = irregular_nouns()

    @property
    def longest(self) -> dict[str, int] | Table[int]:
        """First two stems of labels → words of the longest label that begins so."""
        return self._labels.longest

    @property
    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """All label texts, as the embedded file has them (`embedded_labels`)."""
        labels = self._labels
        return columns(labels) if isinstance(labels, LabelIndex) else labels.columns

    def unpack(self) -> None:
        """Make many look-ups fast, before the first of them."""
        if not isinstance(self._labels, LabelIndex):
            self._labels.unpack()

    def _make(self, text: str) -> Word:
        tag, in_lexicon = self._tagger.tag(text)
        word = Word(text, tag, word_class(text, tag, in_lexicon))
        if len(text) > MAX_WORD:
            return word
        word.stem = self.stem(text)
        word.singulars = tuple(
            singular
            for singular in singulars(text, self._singular_of)
            if singular in self._labels.last_words and self.stem(singular) == word.stem
        )
        if not word.stop and word.letter != "c" and (len(text) > 2 or text in SHORT_WORDS):
            word.concept = self._find([word])[0]
        return word

    def stem(self, word: str) -> str:
        """Return the stem of a word."""
        return stem_of(word)

    def find(self, words: Sequence[Word]) -> int:
        """Return the concept whose label these words are, or -1."""
        return words[0].concept if len(words) == 1 else self._find(words)[0]

    def how(self, words: Sequence[Word]) -> str:
        """Return how words match their label: 'label', 'singular' or 'stem'; empty = not at all."""
        return self._find(words)[1]

    def candidates(self, words: Sequence[Word]) -> Candidates:
        """Return all that a label may mean, as written and in the singular together; by its stems where it is neither.

        Possessive labels are left out. The first concept is that of the nearest form.
        """
        if len(words) == 1 and words[0].concept == NO_CODE and not words[0].text.endswith(_WOMEN):
            return _NO_CANDIDATES
        labels, pairs = self._labels, self._labels.possessive_pairs
        text = " ".join([word.text for word in words])
        start = text[: len(text) - len(words[-1].text)]
        forms = [form for form in (text, *(start + last for last in forms_of(words[-1]))) if form in labels.concept]
        found = {c: None for form in forms for c in labels.senses(form) if (form, c) not in pairs}
        if found:
            own = dict.fromkeys(word for form in (text, *forms) for word in form.split())
            return Candidates(tuple(found), tuple(own), by_stem=False)
        by_stems = labels.label_of_stems.get(" ".join([word.stem for word in words]))
        if by_stems is None:
            return _NO_CANDIDATES
        plain = tuple([c for c in labels.senses(by_stems) if (by_stems, c) not in pairs])
        own = dict.fromkeys([*text.split(), *by_stems.split()])
        return Candidates(plain, tuple(own), by_stem=True)

    def _find(self, words: Sequence[Word]) -> tuple[int, str, str]:
        """Return the concept of words, how they match its label, and the text of the label."""
        labels = self._labels
        text = " ".join([word.text for word in words])
        concept = labels.concept.get(text)
        if concept is not None:
            return concept, "label", text
        last = words[-1]
        if last.singulars:
            start = text[: len(text) - len(last.text)]
            for singular in last.singulars:
                concept = labels.concept.get(start + singular)
                if concept is not None:
                    return concept, "singular", start + singular
        label = labels.label_of_stems.get(" ".join([word.stem for word in words]))
        return _NOT_FOUND if label is None else (labels.concept[label], "stem", label)

    def __getstate__(self) -> dict[str, Any]:
        """Return the labels to pickle, without those of the embedded file, which every process loads for itself."""
        return {"labels": self._labels if isinstance(self._labels, LabelIndex) else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._labels = state["labels"] or _labels_of(load_wordnet(), None)
        self._load()


def _labels_of(taxonomy: Taxonomy, weight: npt.NDArray[Any] | None) -> LabelIndex | EmbeddedLabels:
    """Index the labels of a taxonomy; those of WordNet were ahead of time, if with the stemmer that is installed."""
    if is_wordnet(taxonomy) and embedded_labels().fits:
        return embedded_labels()
    return LabelIndex(taxonomy, weight)


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


def forms_of(word: Word) -> tuple[str, ...]:
    """Return the singular forms by which a word may end a label that it may mean (`Lexicon.candidates`)."""
    return (f"{word.text[:-2]}an",) if word.text.endswith(_WOMEN) else word.singulars


def singulars(word: str, irregular: dict[str, str]) -> list[str]:
    """Return the forms that a noun may have in the singular, the likeliest first.

    >>> singulars("knives", {"knives": "knife"}), singulars("ponies", {})
    (['knife', 'knive'], ['ponie', 'pony'])
    """
    found = [irregular[word]] if word in irregular else []
    if len(word) > 3 and not word.endswith("ss"):
        found += [word[: -len(end)] + new for end, new in _ENDINGS if word.endswith(end)]
    return found
