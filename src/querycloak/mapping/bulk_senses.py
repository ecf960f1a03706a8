"""The senses of words and labels for the kernels: their neighbourhoods, many at once, kept for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.vectors import SCALE, quantised
from querycloak.mapping._neighbour_kernels import near_own, sum_neighbourhoods
from querycloak.mapping.bulk_tables import label_rows
from querycloak.mapping.bulk_words import CodedWords, sequences_of
from querycloak.mapping.context import BY_STEM, FOREIGN, NEAREST, RARE, WEIGHTS
from querycloak.mapping.layer_arrays import Senses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.lexicon import Candidates

__all__ = ["KnownSenses"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_NEVER = -2.0
"""Below any cosine."""


class KnownSenses:
    """The senses that were needed so far, as entries."""

    def __init__(self, wordnet: Taxonomy, concept: Int32s, words: CodedWords, vectors: npt.NDArray[np.int8]) -> None:
        """Take WordNet, its concepts in the taxonomy asked for, and words whose first codes are rows of the vectors."""
        self._concept = concept
        self._words = words
        self._labels = label_rows(wordnet, words, vectors)
        self._spans: list[Int32s] = []
        self._span_entry: list[int] = []
        none = np.zeros(0, np.int32)
        self.arrays = Senses(
            start=np.zeros(1, np.int64),
            concept=none,
            matrix=np.zeros((0, vectors.shape[1]), np.int8),
            near=np.zeros(0),
            has_own=np.zeros(0, np.uint8),
            foreign=np.zeros(0),
            span=sequences_of(none, np.zeros(1, np.int64)),
            span_entry=none,
        )

    def add(self, labels: Sequence[Int32s], found: Sequence[Candidates]) -> Int32s:
        """Add labels, by the codes of their words, with all that they may mean; return their entries.

        Those of several words can be found by their codes from then on.
        """
        old, vectors = self.arrays, self._labels.matrix
        first = len(old.start) - 1
        count = np.array([len(candidates.senses) for candidates in found], np.int64)
        sense = np.array([sense for candidates in found for sense in candidates.senses], np.int32)
        label = np.repeat(np.arange(len(found)), count)
        without = self._words.find([word for candidates in found for word in candidates.words])
        without_start = _starts([len(candidates.words) for candidates in found])
        sums = np.zeros((len(sense), vectors.shape[1]))
        room = np.zeros(vectors.shape[1], np.int64)
        weights = np.array(list(WEIGHTS.values()), np.int64)
        sum_neighbourhoods(self._labels, sense, label, without_start, without, weights, NEAREST, room, sums)
        matrix = quantised(sums)
        own = [codes[codes < len(vectors)] for codes in labels]
        near = np.zeros(len(sense))
        near_own(matrix, label, _starts(map(len, own)), _flat(own), vectors, SCALE, room, near)
        foreign = [_foreign(codes, candidates, len(vectors)) for codes, candidates in zip(labels, found, strict=True)]
        for number, codes in enumerate(labels):
            if len(codes) > 1:
                self._spans.append(codes)
                self._span_entry.append(first + number)
        self.arrays = Senses(
            start=np.concatenate([old.start, old.start[-1] + np.cumsum(count)]),
            concept=np.concatenate([old.concept, self._concept[sense]]),
            matrix=np.concatenate([old.matrix, matrix]),
            near=np.concatenate([old.near, near]),
            has_own=np.concatenate([old.has_own, np.array([len(rows) > 0 for rows in own], np.uint8)]),
            foreign=np.concatenate([old.foreign, np.array(foreign, np.float64)]),
            span=sequences_of(_flat(self._spans), _starts(map(len, self._spans))),
            span_entry=np.array(self._span_entry, np.int32),
        )
        return np.arange(first, first + len(found), dtype=np.int32)


def _foreign(codes: Int32s, candidates: Candidates, rows: int) -> float:
    """Return how near a word must be to a sense to have it; see `context.is_foreign`."""
    if candidates.by_stem:
        return BY_STEM
    return FOREIGN if codes[0] < min(RARE, rows) else _NEVER


def _starts(lengths: Iterable[int]) -> Int64s:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _flat(rows: Sequence[Int32s]) -> Int32s:
    return np.concatenate([np.zeros(0, np.int32), *rows])
