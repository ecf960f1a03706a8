"""What a word that no label names is probably about: what its nearest known words are about.

Known words are the brands of one word, and the nouns whose vector lies near one of their senses (`context`). A guess
needs agreement: half of the neighbours' weight below one concept that says something, or in one topic of web search; in
the second case the nearest neighbour of that topic speaks for it. Else there is no guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.vectors import SCALE
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.knowledge.taxonomy import Int32s, Taxonomy
    from querycloak.knowledge.vectors import WordVectors

__all__ = ["Guess", "KnownWords"]

NEIGHBOURS: Final = 8
"""Nearest known words that vote."""
NEAR: Final = 0.4
"""Cosine from which on a known word is a neighbour."""
VERY_NEAR: Final = 0.6
"""Cosine that a neighbour needs to speak for a word by itself."""
HALF: Final = 0.5
"""Share of the votes that decides."""
LEAST_DEPTH: Final = 6
"""Depth from which on a concept of WordNet says something: person is at 6, artifact at 4."""
BLOCK: Final = 512


@dataclass(frozen=True)
class Guess:
    """What a word is probably about."""

    concept: int
    """concept of WordNet, -1 = no guess"""
    topic: int
    """node of the tree of topics, -1 = no guess"""


@dataclass(frozen=True, eq=False)
class KnownWords:
    """Words with a vector whose concept and topic are known."""

    vectors: WordVectors
    wordnet: Taxonomy
    topics: Taxonomy
    row: npt.NDArray[np.int64]
    """int64[n], rows of the vectors"""
    concept: Int32s
    """int32[n], concept of WordNet"""
    topic: Int32s
    """int32[n], node of the tree of topics, -1 = none"""

    @cached_property
    def _floats(self) -> npt.NDArray[np.float32]:
        return self.vectors.floats[self.row]

    def guesses(
        self, matrix: npt.NDArray[np.int8], rows: npt.NDArray[np.int64], *, rare: bool = False
    ) -> Iterator[Guess]:
        """Guess what words are about, by their vectors; a known word, by its row, does not speak for itself.

        The vectors of rare words say little: for them no neighbour speaks alone.
        """
        for start in range(0, len(matrix), BLOCK):
            products = (
                matrix[start : start + BLOCK].astype(np.float32) @ self._floats.T
            )  # whole numbers: exact in any order
            products[rows[start : start + BLOCK, None] == self.row[None, :]] = 0
            for near in products:
                yield self._guess(near, rare=rare)

    def _guess(self, products: npt.NDArray[np.float32], *, rare: bool) -> Guess:
        most = np.argpartition(-products, NEIGHBOURS)[: NEIGHBOURS + 1] if len(products) > NEIGHBOURS else None
        at = np.flatnonzero(products >= products[most].min()) if most is not None else np.arange(len(products))
        at = at[np.lexsort((at, -products[at]))][:NEIGHBOURS]
        cosine = products[at].astype(np.float64) / SCALE**2
        at, cosine = at[cosine >= NEAR], cosine[cosine >= NEAR]
        if not len(at):
            return Guess(NO_CODE, NO_CODE)
        weight = (cosine * cosine).tolist()
        topic = _agreed(self.topics, self.topic[at].tolist(), weight)
        concept = _agreed(self.wordnet, self.concept[at].tolist(), weight)
        if concept == NO_CODE or self.wordnet.depth[concept] < LEAST_DEPTH:
            concept = NO_CODE if rare else self._spokesman(at, cosine, topic)
        return Guess(concept, topic if topic > 0 else NO_CODE)

    def _spokesman(self, at: npt.NDArray[Any], cosine: npt.NDArray[np.float64], topic: int) -> int:
        """Return the concept of the nearest neighbour, of the topic if there is one, that is very near; else -1."""
        for i, c in zip(at.tolist(), cosine.tolist(), strict=True):
            if c < VERY_NEAR:
                break
            if topic <= 0:
                return int(self.concept[i])
            if self.topic[i] != NO_CODE and self.topics.covers(topic, int(self.topic[i])):
                return int(self.concept[i])
        return NO_CODE


def _agreed(tree: Taxonomy, nodes: list[int], weight: list[float]) -> int:
    """Return the deepest node below which half of the weight is, the heaviest of equals; -1 where there is none."""
    below: dict[int, float] = {}
    for node, w in zip(nodes, weight, strict=True):
        if node != NO_CODE:
            for above in tree.ancestors(node):
                below[above] = below.get(above, 0.0) + w
    needed = HALF * sum(weight)
    found = [node for node, w in below.items() if w >= needed]
    return max(found, key=lambda node: (int(tree.depth[node]), below[node], -node), default=NO_CODE)
