"""What the layers look things up in, for one taxonomy: WordNet, or the topics of web search.

Queries are always read with WordNet, brands and vectors; what is found becomes a concept of the taxonomy asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from querycloak.knowledge.senses import concepts_of_senses
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.vectors import load_vectors
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.brand_match import BrandNames
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.context import Senses, choose, is_foreign, sum_of
from querycloak.mapping.embedded_brands import embedded_brands
from querycloak.mapping.lexicon import lexicon_of
from querycloak.mapping.neighbours import KnownWords
from querycloak.mapping.spelling import Spelling
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.word_table import FAMILY, GIVEN, PERHAPS_GIVEN, load_word_table
from querycloak.mapping.words import label_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.brands import Brand
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.lexicon import Candidates, Word

__all__ = ["LayerTables", "reads_layers"]

T = TypeVar("T")

LEAST_GUESSED: Final = 4
"""Letters of the shortest word that is guessed at: of shorter ones, every other row of letters stands for something."""
LEAST_JOINED: Final = 6
"""Letters of the shortest label that two words make when they are written as one."""
ALIKE: Final = 0.35
"""How near the joined word must be to one of its parts: 'chicken pox' is chickenpox, 'car pet' is not carpet."""
WORDS_KEPT: Final = 100_000
"""Words that are remembered at most, as a stream never ends; then all are forgotten."""
BEFORE: Final = GIVEN | PERHAPS_GIVEN
"""Marks of first names."""
SITE: Final = "web site#1"
PERSON: Final = "person#1"


def reads_layers(taxonomy: Taxonomy) -> bool:
    """Tell whether the layers know the taxonomy: WordNet as it is embedded, or our topics."""
    return taxonomy is load_wordnet() or taxonomy is load_topic_tree().taxonomy


class LayerTables:
    """Brands, labels, senses, neighbours and spelling, with their concepts in one taxonomy."""

    def __init__(self, taxonomy: Taxonomy, vectors: str | None = None, *, guesses: bool = True) -> None:
        self.guesses = guesses
        self.to_topics = taxonomy is not load_wordnet()
        self.lexicon = lexicon_of(load_wordnet())
        self.brands = BrandNames(load_brands())
        self.vectors = load_vectors(vectors)
        self.own_vectors = vectors is not None
        self._wordnet = load_wordnet()
        self.table = load_word_table()
        self.spelling = Spelling(self.vectors.words)
        self._senses = Senses(load_wordnet(), self.vectors)
        self._neighbourhoods: dict[str, npt.NDArray[np.int8]] = {}
        self._guesses: dict[str, tuple[int, str] | None] = {}
        self._candidates: dict[str, Candidates] = {}
        self._names: dict[str, bool] = {}
        self._concepts: dict[str, int] = {}
        self.own_labels: dict[str, int] = {}
        """labels of the taxonomy's own, where it is not WordNet, in normal form"""
        self._longest_own: dict[str, int] = {}
        if self.to_topics:
            self._read_own_labels(taxonomy)

    def _read_own_labels(self, taxonomy: Taxonomy) -> None:
        for node, labels in enumerate(taxonomy.labels):
            for label in labels:
                text = label_text(label)
                if node and self.own_labels.setdefault(text, node) == node:
                    first, _, _ = text.partition(" ")
                    self._longest_own[first] = max(self._longest_own.get(first, 0), text.count(" ") + 1)

    @cached_property
    def _topic_of(self) -> npt.NDArray[np.int32]:
        made = embedded_brands()
        return topics_of_concepts(load_topic_tree(), load_wordnet()) if made is None else made.topic_of

    @property
    def concepts(self) -> npt.NDArray[np.int32]:
        """Every concept of WordNet in the taxonomy: int32[n], -1 = none."""
        return self._topic_of if self.to_topics else np.arange(len(self._wordnet), dtype=np.int32)

    @cached_property
    def any_site(self) -> int:
        """The concept of a web site that nothing more is known of."""
        return self.of_concept(self._concept(SITE))

    @cached_property
    def person(self) -> int:
        """The concept of a person, in WordNet."""
        return self._concept(PERSON)

    def _concept(self, sense: str) -> int:
        found = self._concepts.get(sense)
        if found is None:
            made = embedded_brands()
            found = made.concepts.get(sense) if made else None
            if found is None:
                found = int(concepts_of_senses([sense], self._wordnet)[0])
            self._concepts[sense] = found
        return found

    def of_brand(self, brand: Brand) -> int:
        """Return the concept of a brand in the taxonomy."""
        return brand.topic if self.to_topics else self._concept(brand.sense)

    def of_concept(self, concept: int) -> int:
        """Return a concept of WordNet in the taxonomy."""
        return int(self._topic_of[concept]) if self.to_topics and concept != NO_CODE else concept

    def own_label(self, words: list[str], start: int, least: int) -> tuple[int, int] | None:
        """Return the longest label of the taxonomy's own that begins at a word: its length and concept."""
        longest = min(self._longest_own.get(words[start], 0), len(words) - start)
        for length in range(longest, least, -1):
            node = self.own_labels.get(" ".join(words[start : start + length]))
            if node is not None:
                return length, node
        return None

    def pair(self, first: Word, second: Word) -> tuple[int, str] | None:
        """Return the concept of two words that belong together, and the layer: one word apart, or a person's name."""
        if second.stop:
            return None
        text = first.text + second.text
        sense = self.table.sense.get(text, NO_CODE) if len(text) >= LEAST_JOINED else NO_CODE
        if sense != NO_CODE and max(self.vectors.similarity(text, word.text) for word in (first, second)) >= ALIKE:
            return self.of_concept(sense), "label"
        if self.guesses and self.marks(first.text) & BEFORE & (self.marks(second.text) >> 1):
            return self.of_concept(self.person), "name"
        return None

    def marks(self, word: str) -> int:
        """Return how a word may be a name (`word_table`); a last name is also one of which nobody knows what it means.

        The mark of a last name is the next bit after that of the first name that it goes with.
        """
        found = self.table.name.get(word, 0)
        if self._is_name(word):
            found |= GIVEN | FAMILY
        elif not found & FAMILY and self._is_unknown(word):
            found |= FAMILY
        return found

    def _is_unknown(self, word: str) -> bool:
        if len(word) < LEAST_GUESSED or not word.isalpha() or self.lexicon.words[word].concept != NO_CODE:
            return False
        return self.guess(word) is None and word not in self.own_labels and word not in self.brands.brands

    def _is_name(self, word: str) -> bool:
        """Tell whether a word, by itself, is read as somebody's name."""
        found = self._names.get(word)
        if found is None:
            concept = max(self.table.sense.get(word, NO_CODE), self.table.guess.get(word, NO_CODE))
            person = concept != NO_CODE and self._wordnet.covers(self.person, concept)
            suggested = self.table.sense.get(word, NO_CODE) == NO_CODE
            found = person and (suggested or self._wordnet.label(concept)[0].isupper()) and len(word) > 2
            _remember(self._names, word, found)
        return found

    def candidates(self, word: Word) -> Candidates:
        """Return all that a word may mean."""
        found = self._candidates.get(word.text)
        if found is None:
            found = _remember(self._candidates, word.text, self.lexicon.candidates([word]))
        return found

    def sense(self, word: str, found: Candidates, context: npt.NDArray[np.int64] | None) -> int:
        """Return the sense in which a word is used, -1 where it is used for something else."""
        if context is None and not self.own_vectors and word in self.table.sense:
            return self.table.sense[word]  # computed ahead of time, as below
        own = sum_of(self.vectors, [word])
        best, near = choose(self.neighbourhoods(word, found), own, context)
        rank = self.vectors.words.get(word, len(self.vectors.matrix))
        return NO_CODE if is_foreign(near, rank, by_stem=found.by_stem) else found.senses[best]

    def neighbourhoods(self, text: str, found: Candidates) -> npt.NDArray[np.int8]:
        """Return the neighbourhood of each sense of a label."""
        matrix = self._neighbourhoods.get(text)
        if matrix is None:
            matrix = self._neighbourhoods[text] = self._senses.matrix(found.words, found.senses)
        return matrix

    def site(self, host: str) -> int | None:
        """Return the concept of a site that is well known; None for others."""
        from querycloak.mapping.hosts import kind_of_host, names_of_host

        for name in names_of_host(host):
            brand = self.brands.brands.get(name)
            if brand is not None:
                return self.of_brand(brand)
        kind = kind_of_host(host)
        return None if kind is None else self.of_concept(self._concept(kind))

    def guess(self, word: str) -> tuple[int, str] | None:
        """Return what a word that nothing names is probably about, and the layer; None where nothing says so."""
        if word not in self._guesses:
            return _remember(self._guesses, word, self._guess(word))
        return self._guesses[word]

    def guess_or_doubt(self, word: Word) -> tuple[int, str] | None:
        """Return what a word that nothing names is probably about; at worst the label that its use speaks against."""
        guess = self.guess(word.text)
        if guess is None and word.concept != NO_CODE:
            return self.of_concept(word.concept), "doubtful"
        return guess

    def _guess(self, word: str) -> tuple[int, str] | None:
        if len(word) < LEAST_GUESSED:
            return None
        found = self._by_neighbours(word)
        if found != NO_CODE:
            return found, "neighbours"
        if word in self.vectors.words:
            return None
        parts = self.spelling.split(word)
        glued = self._of_parts(parts)
        meant = "" if glued is not None and min(map(len, parts)) >= LEAST_GUESSED else self.spelling.correct(word)
        if meant:
            found = self._of_known(meant)
            return None if found == NO_CODE else (found, "spelling")
        return glued

    def _of_parts(self, parts: tuple[str, ...]) -> tuple[int, str] | None:
        """Return what glued words are about: all of them together, or the last that says something."""
        if parts and parts[-1] in STOP_WORDS:
            return None
        for text in (" ".join(parts), *reversed(parts)) if parts else ():
            found = self._of_known(text)
            if found != NO_CODE:
                return found, "glued"
        return None

    def _by_neighbours(self, word: str) -> int:
        """Return what the nearest known words suggest, -1 = nothing."""
        row = self.vectors.words.get(word) if self.own_vectors else None
        if row is not None:
            at = np.array([row])
            guess = next(iter(self._known.guesses(self.vectors.matrix[at], at)))
            return guess.topic if self.to_topics else guess.concept
        return (self.table.topic if self.to_topics else self.table.guess).get(word, NO_CODE)

    @cached_property
    def _known(self) -> KnownWords:
        """The words whose sense our table knows, with the user's vectors."""
        rows = self.vectors.words
        known = [(rows[word], sense) for word, sense in self.table.sense.items() if word in rows and sense != NO_CODE]
        row, concept = np.array(known, np.int64).reshape(-1, 2).T
        topics = load_topic_tree().taxonomy
        return KnownWords(self.vectors, self._wordnet, topics, row, concept.astype(np.int32), self._topic_of[concept])

    def _of_known(self, text: str) -> int:
        """Return the concept of a word, a name or a label without any context; -1 where nothing names it."""
        brand = self.brands.brands.get(text)
        if brand is not None and brand.meant_with([]):
            return self.of_brand(brand)
        if text in self.own_labels:
            return self.own_labels[text]
        sense = self.table.sense.get(text, NO_CODE)
        if sense == NO_CODE and " " in text:
            senses = self.lexicon.candidates([self.lexicon.words[word] for word in text.split()]).senses
            sense = senses[0] if senses else NO_CODE
        return self.of_concept(sense) if sense != NO_CODE else self._by_neighbours(text)


def _remember(kept: dict[str, T], word: str, found: T) -> T:
    if len(kept) >= WORDS_KEPT:
        kept.clear()
    kept[word] = found
    return found
