"""Which sense of a word is meant: the one whose neighbourhood in the taxonomy lies nearest to the word and its context.

The neighbourhood of a sense is what stands around it in the tree: its other labels, the concepts above it, below it and
next to it, without any gloss and without the word itself. Its vector is compared with that of the word, which tells how
the word is mostly used, and with those of the other words of the query. The first sense, WordNet's most frequent one,
has an advantage. A word none of whose senses is near is used for something else: as a name, mostly.

Vectors are whole numbers and their products exact, so that the choice is the same on any machine.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.vectors import SCALE, quantised
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.words import label_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.knowledge.vectors import WordVectors

__all__ = ["Senses", "choose", "is_foreign", "nearness", "sum_of"]

Int64s = npt.NDArray[np.int64]

NEAREST: Final = 24
"""Concepts below, and next to, a sense that are looked at."""
WEIGHTS: Final = {"itself": 4, "above": 2, "two above": 1, "below": 2, "beside": 1}
FIRST: Final = 0.15
"""Advantage of the first sense."""
LATER: Final = 0.02
"""Disadvantage of each sense against the one before it."""
CONTEXT: Final = 0.8
"""Weight of the other words against the word itself."""
FOREIGN: Final = 0.12
"""A word is not used for a sense whose nearness is below this."""
BY_STEM: Final = 0.25
"""The same for a word that only has the stem of a label."""
RARE: Final = 40_000
"""Rank from which on a word's vector says too little to doubt its senses."""


class Senses:
    """The neighbourhoods of senses as vectors, each made when first asked for."""

    def __init__(self, taxonomy: Taxonomy, vectors: WordVectors) -> None:
        self.taxonomy = taxonomy
        self.vectors = vectors
        self._rows: dict[int, tuple[tuple[str, int], ...]] = {}

    def matrix(self, words: Collection[str], senses: Sequence[int]) -> npt.NDArray[np.int8]:
        """Return the neighbourhood of each sense of some words, without these: int8[senses, dimensions]."""
        return quantised(np.stack([self._neighbourhood(sense, words) for sense in senses]))

    def _neighbourhood(self, sense: int, words: Collection[str]) -> npt.NDArray[np.float64]:
        tree = self.taxonomy
        parent = int(tree.parent[sense])
        above = [parent] if parent >= 0 else []
        higher = [int(tree.parent[parent])] if above and tree.parent[parent] >= 0 else []
        beside = [c for c in tree.children(parent)[: NEAREST + 1] if c != sense][:NEAREST] if above else []
        groups = {
            "itself": [sense],
            "above": above,
            "two above": higher,
            "below": tree.children(sense)[:NEAREST],
            "beside": beside,
        }
        out = np.zeros(self.vectors.matrix.shape[1])
        for name, concepts in groups.items():
            rows = [row for concept in concepts for word, row in self._rows_of(concept) if word not in words]
            if rows:
                out += self.vectors.matrix[rows].sum(axis=0, dtype=np.int64) * WEIGHTS[name] / len(rows)
        return out

    def _rows_of(self, concept: int) -> tuple[tuple[str, int], ...]:
        """Return the words of a concept's labels that have a vector, with their rows."""
        found = self._rows.get(concept)
        if found is None:
            known = self.vectors.words
            words = [word for label in self.taxonomy.labels[concept] for word in label_text(label).split()]
            rows = [(word, known[word]) for word in words if word in known and word not in STOP_WORDS]
            found = self._rows[concept] = tuple(rows)
        return found


def sum_of(vectors: WordVectors, words: Iterable[str]) -> Int64s | None:
    """Return the sum of the vectors of words, None where none has one."""
    rows = [row for word in words if (row := vectors.words.get(word)) is not None]
    return vectors.matrix[rows].sum(axis=0, dtype=np.int64) if rows else None


def is_foreign(near: float, rank: int, *, by_stem: bool) -> bool:
    """Tell whether a word is used for something else than its nearest sense, by how near that is.

    A rare word's vector says too little to doubt its label; where only stems are alike, little speaks for the label.
    """
    return near < BY_STEM if by_stem else near < FOREIGN and rank < RARE


def choose(neighbourhoods: npt.NDArray[np.int8], own: Int64s | None, context: Int64s | None) -> tuple[int, float]:
    """Return which sense is meant, and how near it is: to the word itself or to its context, whichever is nearer.

    Without vectors it is the first, and as near as can be: nothing speaks against it.
    """
    if own is None and context is None:
        return 0, 1.0
    to_own, to_context = nearness(neighbourhoods, own), nearness(neighbourhoods, context)
    best, score = 0, -2.0
    for i in range(len(neighbourhoods)):
        found = to_own[i] + CONTEXT * to_context[i] + (FIRST if i == 0 else -LATER * i)
        if found > score:
            best, score = i, found
    return best, max(to_own[best], to_context[best])


def nearness(neighbourhoods: npt.NDArray[np.int8], sum_of_rows: Int64s | None) -> list[float]:
    """Return the cosine of each neighbourhood with a sum of vectors, 0 where there is none."""
    if sum_of_rows is None:
        return [0.0] * len(neighbourhoods)
    length = sqrt(float(sum_of_rows @ sum_of_rows))
    products = neighbourhoods.astype(np.int64) @ sum_of_rows
    return [float(product) / (SCALE * length) if length else 0.0 for product in products.tolist()]
