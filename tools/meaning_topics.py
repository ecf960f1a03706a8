"""Topics of queries by every way that `meaning_figures.py` compares, each with the scores that a model learns from."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from kdd_cup import MOST, kdd_topics, older_topics
from topic_training import Data, answers
from whole_query import WholeQuery, query_vectors

from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kdd_cup import Labelled

Floats = npt.NDArray[np.float64]
Votes = list[Counter[str]]

STEPS = {
    "sites and brands": ("site", "brand"),
    "+ labels": ("label",),
    "+ neighbours, names, doubtful labels": ("address", "doubtful", "name", "neighbours"),
    "+ spelling, glued words": ("spelling", "glued"),
}
"""Layers that each step adds."""
VOTES = {"site": 3, "brand": 3, "label": 2}
"""Weight of a unit's topics, 1 for guesses."""
THRESHOLD = 0.25
"""Least score of a topic where the whole query has a say."""


class Ways:
    """What is learned of topics without labels; made once."""

    def __init__(self) -> None:
        tree = load_topic_tree()
        self.tree = tree.taxonomy
        self.of_node = kdd_topics(tree)
        self.of_older = older_topics(load_wordnet())
        self.of_concept = topics_of_concepts(tree, load_wordnet())
        self.topics = sorted(frozenset().union(*self.of_node))
        self.index = {topic: i for i, topic in enumerate(self.topics)}
        self.layers = Mapper(self.tree)
        self.before = {name: Mapper(load_wordnet(), name) for name in ("phrases", "segments")}

    @cached_property
    def whole(self) -> WholeQuery:
        """The models of whole queries."""
        return WholeQuery(self.of_node, self.topics)

    def by_older_table(self, queries: Sequence[str], mapping: str) -> Votes:
        """Return the votes of concepts of WordNet, by the older table."""
        found = [[c for c in self.before[mapping].concepts(query) if c >= 0] for query in queries]
        return [Counter(t for c in units for t in sorted(self.of_older[c])) for units in found]

    def by_tree(self, queries: Sequence[str], mapping: str) -> Votes:
        """Return the votes of concepts of WordNet, by the topic of each in our tree."""
        found = [[int(self.of_concept[c]) for c in self.before[mapping].concepts(query) if c >= 0] for query in queries]
        return [Counter(t for node in units if node > 0 for t in sorted(self.of_node[node])) for units in found]

    def by_layers(self, queries: Sequence[str], layers: Sequence[str]) -> Votes:
        """Return the votes of the units that these layers found."""
        out = []
        for query in queries:
            votes: Counter[str] = Counter()
            for clause in self.layers.map_query(query).clauses:
                for unit in clause.units:
                    if unit.concept > 0 and unit.layer in layers:
                        votes.update(dict.fromkeys(sorted(self.of_node[unit.concept]), VOTES.get(unit.layer, 1)))
            out.append(votes)
        return out

    def shares(self, votes: Votes) -> Floats:
        """Return the share of each topic in the votes: float64[queries, topics]."""
        out = np.zeros((len(votes), len(self.topics)))
        for row, counted in zip(out, votes, strict=True):
            for topic, count in counted.items():
                row[self.index[topic]] = count / counted.total()
        return out

    def data(self, labelled: Sequence[Labelled]) -> Data:
        """Return what a model learns from, or is tested on."""
        queries = [pair.query for pair in labelled]
        vectors = query_vectors(queries)
        every = [layer for added in STEPS.values() for layer in added]
        parts = [
            self.shares(self.by_layers(queries, every)),
            self.whole.by_ridge(vectors),
            self.whole.by_nearest(vectors),
        ]
        chosen = np.zeros(parts[0].shape)
        for row, pair in zip(chosen, labelled, strict=True):
            row[[self.index[topic] for topic in pair.topics if topic in self.index]] = 1
        inputs = np.concatenate([vectors, *(_of_length_1(part) for part in parts)], axis=1)
        untrained: Floats = np.sum(parts, axis=0)
        return Data(inputs, untrained, chosen)

    def named(self, found: list[list[int]]) -> list[list[str]]:
        """Return topics by name."""
        return [[self.topics[topic] for topic in topics] for topics in found]

    def untrained(self, queries: Sequence[str], data: Data) -> dict[str, list[list[str]]]:
        """Return the ranked topics of each query, by every way that learns from no label."""
        out = {
            "`phrases`, older table": ranked(self.by_older_table(queries, "phrases")),
            "`segments`, older table": ranked(self.by_older_table(queries, "segments")),
            "`segments`": ranked(self.by_tree(queries, "segments")),
        }
        layers: list[str] = []
        for step, added in STEPS.items():
            layers += added
            out[f"`layers`: {step}" if len(layers) == len(added) else step] = ranked(self.by_layers(queries, layers))
        out["+ the whole query by its vector"] = self.named(answers(data.untrained, THRESHOLD))
        return out


def ranked(votes: Votes) -> list[list[str]]:
    """Return the topics with the most votes, those that were voted for first among equals."""
    return [[topic for topic, _ in counted.most_common(MOST)] for counted in votes]


def best_constant(labelled: Sequence[Labelled]) -> list[str]:
    """Return the five topics that were chosen most."""
    counted = Counter(topic for pair in labelled for topic in sorted(pair.topics))
    return [topic for topic, _ in counted.most_common(MOST)]


def _of_length_1(rows: Floats) -> Floats:
    length: Floats = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return rows / length
