"""The topic of each concept, under a name that a reader knows: what tasks, measures and reports count by.

WordNet's own upper levels are philosophy (abstraction, physical entity). Its concepts are shown under the top-level
topics of our tree (`topic_tree`), and counted by its nodes: by 28 topics a blind log can hardly be told from its log.
Those that the tree does not place are counted as `NO_TOPIC`, a topic of its own: a release that says no more than
"entity" must not seem to keep the topics of its log because what it says is left out.

Another taxonomy is its own tree of topics: those of its first level that has as many concepts as a reader needs to tell
queries apart, as the top-level categories of a directory; concepts above that level are topics themselves.

>>> from querycloak.knowledge.wordnet import load_wordnet
>>> wordnet = load_wordnet()
>>> topics = concept_topics(wordnet)
>>> [topics.names[topics.of_concept[wordnet.concept(word)]] for word in ("dog", "football", "entity")]
['Animals & Pets', 'Sports & Outdoors', 'No topic']
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.topics import TOPIC_DEPTH
from querycloak.knowledge.wordnet import load_wordnet

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Int32s, Taxonomy

__all__ = ["NO_TOPIC", "ConceptTopics", "concept_topics"]

NO_TOPIC: Final = "No topic"
"""Name of the topic of WordNet's concepts that our tree does not place."""
ENOUGH: Final = 10
"""A level with fewer concepts is too coarse to be topics."""


@dataclass(frozen=True, eq=False)
class ConceptTopics:
    """The topics of a taxonomy."""

    of_concept: Int32s
    """int32[concepts of the taxonomy], into `names`"""
    names: tuple[str, ...]
    """no two are equal"""
    counted: Int32s
    """int32[concepts of the taxonomy], the finer topic of each, by which figures are counted"""
    shown: Int32s
    """int32[finer topics], into `names`: what each is shown as"""
    none: int = -1
    """the index of `NO_TOPIC`; -1 = every concept has a topic"""


@lru_cache(maxsize=4)
def concept_topics(taxonomy: Taxonomy) -> ConceptTopics:
    """Return the topics of a taxonomy; found once, 40 ms for WordNet."""
    return _of_wordnet(taxonomy) if _is_wordnet(taxonomy) else _of_levels(taxonomy)


def _is_wordnet(taxonomy: Taxonomy) -> bool:
    """Tell whether concepts have the numbers of WordNet's: a copy in another process is another object."""
    return taxonomy.name == "wordnet" and np.array_equal(taxonomy.parent, load_wordnet().parent)


def _of_wordnet(wordnet: Taxonomy) -> ConceptTopics:
    tree = load_topic_tree()
    top = tree.taxonomy.children(0)
    index = np.full(len(tree.taxonomy) + 1, len(top), dtype=np.int32)  # of each node, and of -1: that of NO_TOPIC
    for i, node in enumerate(top):
        index[node : node + int(tree.taxonomy.size[node])] = i
    names = (*map(tree.taxonomy.label, top), NO_TOPIC)
    nodes = topics_of_concepts(tree, wordnet)
    counted = np.where(nodes < 0, len(tree.taxonomy), nodes).astype(np.int32)
    return ConceptTopics(index[nodes], names, counted, index, none=len(top))


def _of_levels(taxonomy: Taxonomy) -> ConceptTopics:
    wide = np.flatnonzero(np.bincount(taxonomy.depth)[: TOPIC_DEPTH + 1] >= ENOUGH)
    depth = int(wide[0]) if len(wide) else TOPIC_DEPTH
    topic, of_concept = np.unique(taxonomy.ancestor_at_depth(depth), return_inverse=True)
    names = list(map(taxonomy.label, topic.tolist()))
    times = Counter(names)
    keys = taxonomy.keys if max(times.values()) > 1 else []
    distinct = (keys[c] if times[name] > 1 else name for c, name in zip(topic.tolist(), names, strict=True))
    of = of_concept.astype(np.int32)
    return ConceptTopics(of, tuple(distinct), of, np.arange(len(topic), dtype=np.int32))
