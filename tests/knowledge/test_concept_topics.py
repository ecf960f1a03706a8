"""The topic of each concept: those of our tree for WordNet, a level of its own for another taxonomy."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

from querycloak.knowledge.concept_topics import NO_TOPIC, concept_topics
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.wordnet import load_wordnet


def level_of(width: int, depth: int) -> Taxonomy:
    """A chain down to a level of some concepts, two below each."""
    level = list(range(depth, depth + width))
    parents = [-1, *range(depth - 1), *[depth - 1] * width, *np.repeat(level, 2).tolist()]
    return Taxonomy.from_parents(parents, [[f"c{i}"] for i in range(len(parents))])


@pytest.mark.parametrize(
    ("word", "topic"),
    [
        ("dog", "Animals & Pets"),
        ("football", "Sports & Outdoors"),
        ("chickenpox", "Health"),
        ("hotel", "Travel"),
        ("mortgage", "Money"),
        ("entity", NO_TOPIC),
        ("happening", NO_TOPIC),
    ],
)
def test_nouns_have_the_top_level_topics_of_our_tree(word, topic):
    wordnet = load_wordnet()
    topics = concept_topics(wordnet)
    assert topics.names[topics.of_concept[wordnet.concept(word)]] == topic


def test_every_concept_of_wordnet_is_counted_once():
    tree, topics = load_topic_tree(), concept_topics(load_wordnet())
    top = [tree.taxonomy.label(c) for c in tree.taxonomy.children(0)]
    assert topics.names == (*top, NO_TOPIC)
    nodes = topics_of_concepts(tree, load_wordnet()).tolist()
    paths = [NO_TOPIC if node < 0 else tree.taxonomy.path(node).split("/")[1] for node in nodes]
    assert Counter(paths) == Counter(topics.names[t] for t in topics.of_concept.tolist())
    assert np.mean(topics.of_concept == topics.none) == pytest.approx(0.175, abs=0.01)


def test_a_copy_of_wordnet_has_the_same_topics_and_a_namesake_its_own():
    topics = concept_topics(load_wordnet())
    copy = concept_topics(pickle.loads(pickle.dumps(load_wordnet())))
    assert copy.names == topics.names
    assert np.array_equal(copy.of_concept, topics.of_concept)
    namesake = Taxonomy.from_parents([-1, 0], [["thing"], ["dog"]], name="wordnet")
    assert concept_topics(namesake).names == ("thing", "dog")


def test_our_tree_has_its_own_top_level():
    tree = load_topic_tree().taxonomy
    topics = concept_topics(tree)
    assert topics.names == (tree.label(0), *(tree.label(c) for c in tree.children(0)))
    assert topics.none == -1
    assert topics.names[topics.of_concept[load_topic_tree().node["Animals & Pets/Dogs"]]] == "Animals & Pets"


@pytest.mark.parametrize(("width", "depth", "topics"), [(10, 1, 11), (10, 3, 13), (9, 1, 28), (10, 5, 5)])
def test_another_tree_has_its_first_wide_level_or_depth_four(width, depth, topics):
    assert len(concept_topics(level_of(width, depth)).names) == topics


def test_topics_of_one_label_are_told_apart():
    tree = Taxonomy.from_parents([-1, 0, 0, 1, 2], [["top"], ["cats"], ["dogs"], ["food"], ["food"]])
    assert concept_topics(tree).names == ("top", "cats", "top/cats/food", "dogs", "top/dogs/food")
