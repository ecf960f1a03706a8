"""What a whole query is about by the vectors of its words, learned from our own tables and from nothing else.

The tables say for 31,000 names and words which topic they are of: the words of the topics, the brands, and the nouns of
WordNet in the sense that they are used in. Two simple models learn from them which topics a vector has: a ridge
regression, and the nearest names. No labelled query and no query of any log takes part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.vectors import load_vectors
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.word_table import load_word_table
from querycloak.mapping.words import clauses, label_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = npt.NDArray[np.float64]

FREQUENT = 300
"""A word of this rank counts half: frequent words say little."""
WEIGHTS = {"topic": 2.0, "brand": 0.5, "noun": 0.3}
"""Weight of a name by its table: the words of topics are the fewest, and chosen for queries."""
MOST_FREQUENT = 30_000
"""Nouns that are learned from: rarer ones have poor vectors."""
RIDGE = 10.0
NEAREST = 20


def query_vectors(queries: Iterable[str]) -> Floats:
    """Return the mean vector of the words of each query, of length 1: float64[queries, dimensions], 0 = no vector."""
    return np.stack([_vector([word for words in clauses(query) for word in words]) for query in queries])


def _vector(words: Sequence[str]) -> Floats:
    vectors = load_vectors()
    rows = np.array([vectors.words[word] for word in words if word in vectors.words and word not in STOP_WORDS], int)
    mean: Floats = (rows / (rows + FREQUENT) + 0.05) @ vectors.matrix[rows].astype(np.float64)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)


class WholeQuery:
    """Topics of whole queries."""

    def __init__(self, topics_of_node: Sequence[frozenset[str]], topics: Sequence[str]) -> None:
        """Learn from our tables; `topics` are the columns of what is returned."""
        vectors, nodes, weight = _names()
        index = {topic: i for i, topic in enumerate(topics)}
        of_node = np.zeros((len(topics_of_node), len(topics)))
        for node, names in enumerate(topics_of_node):
            of_node[node, [index[name] for name in names]] = 1
        self._vectors, self._topics, self._weight = vectors, of_node[nodes], weight
        of_topic = weight @ self._topics
        rarity = np.divide(of_topic.mean(), of_topic, out=np.zeros_like(of_topic), where=of_topic > 0)
        balance = np.sqrt(self._topics @ rarity / np.maximum(self._topics.sum(axis=1), 1))
        inputs = _with_one(vectors)
        weighted = inputs * (weight * balance)[:, None]
        square = weighted.T @ inputs + RIDGE * np.eye(inputs.shape[1])
        self._ridge = np.linalg.solve(square, weighted.T @ self._topics)

    def by_ridge(self, queries: Floats) -> Floats:
        """Return a score of each topic for each query: float64[queries, topics]."""
        out: Floats = _with_one(queries) @ self._ridge
        out[~queries.any(axis=1)] = 0
        return out

    def by_nearest(self, queries: Floats) -> Floats:
        """Return the share of each topic among the nearest names: float64[queries, topics]."""
        out = np.zeros((len(queries), self._topics.shape[1]))
        for row, query in enumerate(queries):
            if query.any():
                cosine = self._vectors @ query
                at = np.argsort(-cosine, kind="stable")[:NEAREST]
                weight = cosine[at] ** 2 * np.minimum(self._weight[at], 1)
                out[row] = weight @ self._topics[at] / weight.sum()
        return out


def _names() -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """Return the names of our tables: their vectors, nodes of the tree of topics, and weights."""
    tree, words = load_topic_tree(), load_vectors().words
    topic = topics_of_concepts(tree, load_wordnet())
    senses = load_word_table().sense
    found = [("topic", label_text(label), n) for n, labels in enumerate(tree.taxonomy.labels) for label in labels if n]
    found += [("brand", name, brand.topic) for name, brand in load_brands().items()]
    found += [
        ("noun", word, int(topic[sense]))
        for word, sense in senses.items()
        if sense >= 0 and topic[sense] > 0 and words.get(word, MOST_FREQUENT) < MOST_FREQUENT
    ]
    vectors = np.stack([_vector(text.split()) for _, text, _ in found])
    has = vectors.any(axis=1)
    nodes = np.array([node for _, _, node in found])
    return vectors[has], nodes[has], np.array([WEIGHTS[table] for table, _, _ in found])[has]


def _with_one(rows: Floats) -> Floats:
    return np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
