"""All concepts that one word may mean, where the lexicon chooses one.

Erola et al. 2010 take every category that the directory's own search returns for a word. We have no such search: here
it is every concept with the label that the word matched, by the lexicon's rule: as written, else in the singular, else
by its stem. The one that the lexicon chooses is always among them.

>>> from querycloak.knowledge.taxonomy import Taxonomy
>>> from querycloak.mapping.lexicon import Lexicon
>>> taxonomy = Taxonomy.from_parents([-1, 0, 0, 1, 2], [["Top"], ["Arts"], ["Shopping"], ["Music"], ["Music"]])
>>> of = WordConcepts(taxonomy, Lexicon(taxonomy))
>>> [taxonomy.paths[c] for c in of.all("music")], of.all("tea")
(['Top/Arts/Music', 'Top/Shopping/Music'], [])
>>> [taxonomy.paths[c] for c in of.one("music")]
['Top/Arts/Music']
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.label_texts import label_texts

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.lexicon import Lexicon

__all__ = ["WordConcepts"]


class WordConcepts:
    """The concepts of a taxonomy by the words that are their labels."""

    def __init__(self, taxonomy: Taxonomy, lexicon: Lexicon) -> None:
        """Read all labels of one word when a word first asks for them."""
        self._taxonomy = taxonomy
        self._lexicon = lexicon
        self._found: dict[str, list[int]] = {}

    def one(self, word: str) -> list[int]:
        """Return the concept that the lexicon chooses for a word, or nothing."""
        concept = self._lexicon.words[word].concept
        return [] if concept == NO_CODE else [concept]

    def all(self, word: str) -> list[int]:
        """Return every concept that the word is a label of, ascending."""
        found = self._found.get(word)
        if found is None:
            found = self._found[word] = self._look_up(word)
        return found

    def _look_up(self, text: str) -> list[int]:
        if not self.one(text):  # a stop word, or no label
            return []
        word = self._lexicon.words[text]
        for form in (text, *word.singulars):
            if form in self._by_text:
                return sorted(self._by_text[form])
        return sorted(self._by_stem[word.stem])

    @cached_property
    def _by_text(self) -> dict[str, set[int]]:
        """Labels of one word → their concepts."""
        out: dict[str, set[int]] = {}
        for text, concept in chain.from_iterable(label_texts(self._taxonomy, None)):
            if text and " " not in text:
                out.setdefault(text, set()).add(concept)
        return out

    @cached_property
    def _by_stem(self) -> dict[str, set[int]]:
        out: dict[str, set[int]] = {}
        for text, concepts in self._by_text.items():
            out.setdefault(self._lexicon.stem(text), set()).update(concepts)
        return out
