"""The label texts of a taxonomy, indexed for look-up: as dictionaries, made from the labels.

`embedded_labels` has the same tables for WordNet, made ahead of time; `Lexicon` uses either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak.mapping.label_texts import label_texts, possessive_pairs
from querycloak.mapping.stems import stems_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["LabelIndex"]


class LabelIndex:
    """The labels of a taxonomy by their texts."""

    def __init__(self, taxonomy: Taxonomy, weight: npt.NDArray[Any] | None = None) -> None:
        """Read and stem all labels; `weight` is one number per concept that chooses among equal labels."""
        self.concept: dict[str, int] = {}
        """label text → its concept, the first sense"""
        self.label_of_stems: dict[str, str] = {}
        """stems of a label text → the label text: of several the shortest, then the first"""
        self.longest: dict[str, int] = {}
        """first two stems of labels → words of the longest label that begins so"""
        self._several: dict[str, tuple[int, ...]] = {}
        self._stem_of: dict[str, str] = {}
        labels, *shorter = label_texts(taxonomy, weight)
        self._add(labels)
        self.last_words = {text.rpartition(" ")[2] for text in self.concept}
        """the last word of each label"""
        for texts in shorter:
            self._add(texts)
        del self._stem_of  # only labels share their words so often that remembering pays
        self.possessive_pairs = possessive_pairs(taxonomy)
        """(label text, concept) that only a possessive makes"""

    def senses(self, text: str) -> tuple[int, ...]:
        """Return all concepts of a label text that is there, the first sense first."""
        return self._several.get(text) or (self.concept[text],)

    def _add(self, labels: list[tuple[str, int]]) -> None:
        """Add labels with lower priority than those already there."""
        first = dict(reversed(labels))  # the first of equal labels overwrites the later
        new = {text: first[text] for text, _ in labels if text and text not in self.concept}
        self.concept.update(new)
        self._add_senses(labels, new)
        stem_of, longest = self._stem_of, self.longest
        unknown = list({word for text in new for word in text.split()}.difference(stem_of))
        stem_of.update(zip(unknown, stems_of(unknown), strict=True))
        for text in sorted(new, key=len):
            if " " in text:
                stems = [stem_of[word] for word in text.split()]
                start = f"{stems[0]} {stems[1]}"
                if longest.get(start, 0) < len(stems):
                    longest[start] = len(stems)
                self.label_of_stems.setdefault(" ".join(stems), text)
            else:
                self.label_of_stems.setdefault(stem_of[text], text)

    def _add_senses(self, labels: list[tuple[str, int]], new: dict[str, int]) -> None:
        """Note the concepts of new labels that several share."""
        several: dict[str, dict[int, None]] = {}
        for text, concept in labels:
            if new.get(text, concept) != concept:
                several.setdefault(text, {new[text]: None})[concept] = None
        self._several.update({text: tuple(concepts) for text, concepts in several.items()})
