"""The topics of web search: one tree, every reference to WordNet resolves, and a topic for what people ask about."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from querycloak.errors import InputError
from querycloak.evaluation.workbench import load_taxonomy
from querycloak.knowledge.senses import concepts_of_senses, split_sense
from querycloak.knowledge.tables import table_rows
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topic_tree import load_topic_tree, read_topic_tree, topics_of_concepts
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper
from querycloak.mapping.words import label_text

KDD = Path(__file__).parents[2] / "tools" / "kdd_topics_tree.tsv"
ANIMALS = Taxonomy.from_parents(
    [-1, 0, 1, 1, 3, 0],
    [["thing"], ["animal"], ["cat"], ["dog"], ["puppy"], ["toy"]],
)  # depth-first: thing 0, animal 1, cat 2, dog 3, puppy 4, toy 5


@pytest.fixture(scope="module")
def topic_of():
    """Topic of the sense of a word, as a path without the root; '' = none."""
    tree, wordnet = load_topic_tree(), load_wordnet()
    topic = topics_of_concepts(tree, wordnet)

    def find(sense):
        node = int(topic[concepts_of_senses([sense], wordnet)[0]])
        return tree.taxonomy.path(node).removeprefix("Top/") if node >= 0 else ""

    return find


def written(tmp_path, text):
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    return read_topic_tree(tmp_path / "t.tsv")


def test_a_tree_of_a_readable_size():
    topics = load_taxonomy("topics")
    assert 300 <= len(topics) <= 600
    assert 20 <= len(topics.children(0)) <= 30
    assert topics.height <= 4
    for node in range(len(topics)):
        names = [label_text(topics.label(child)) for child in topics.children(node)]
        assert len(set(names)) == len(names)


def test_a_word_means_one_topic_however_it_is_written():
    nodes = defaultdict(set)
    for node, labels in enumerate(load_topic_tree().taxonomy.labels):
        for label in labels:
            nodes[label_text(label)].add(node)
    assert [word for word, found in nodes.items() if len(found) > 1 or not word] == []


def test_every_reference_to_wordnet_is_a_concept_and_is_found_as_find_does():
    senses = [subtree.sense for subtree in load_topic_tree().subtrees()]
    wordnet = load_wordnet()
    found = concepts_of_senses(senses, wordnet)
    assert [sense for sense, concept in zip(senses, found, strict=True) if concept < 0] == []
    some = range(0, len(senses), 40)
    splits = [split_sense(senses[i]) for i in some]
    assert [wordnet.find(label)[number - 1] for label, number in splits] == [int(found[i]) for i in some]


def test_most_concepts_of_wordnet_have_a_topic():
    topic = topics_of_concepts(load_topic_tree(), load_wordnet())
    assert topic.shape == (82_115,)
    assert topic.dtype == np.int32
    assert 0.78 <= np.mean(topic >= 0) <= 0.90


@pytest.mark.parametrize(
    ("sense", "topic"),
    [
        ("dog#1", "Animals & Pets/Dogs"),
        ("wolf#1", "Animals & Pets/Wild Animals"),
        ("chickenpox#1", "Health/Diseases & Conditions/Epidemics & Infections"),
        ("hotel#1", "Travel/Hotels & Lodging"),
        ("auction#2", "Shopping/Auctions"),
        ("actor#1", "Entertainment/Celebrities"),
        ("guitar#1", "Entertainment/Music/Instruments & Sheet Music"),
        ("mortgage#1", "Money/Mortgages"),
        ("tire#1", "Vehicles/Parts & Repair"),
        ("python#1", "Animals & Pets/Reptiles & Amphibians"),
        ("jaguar#1", "Animals & Pets/Wild Animals"),
        ("organization#1", "Society"),
        ("happening#1", ""),
        ("device#1", "Shopping"),
        ("system#1", ""),
    ],
)
def test_topics_of_common_nouns(topic_of, sense, topic):
    assert topic_of(sense) == topic


def test_queries_map_to_topics_as_to_any_taxonomy():
    topics = load_taxonomy("topics")
    mapper = Mapper(topics)
    assert [topics.path(c) for c in mapper.concepts("dog food")] == ["Top/Animals & Pets/Pet Supplies"]
    assert [topics.path(c) for c in mapper.concepts("used cars")] == ["Top/Vehicles/Buying & Selling Cars"]
    assert [topics.path(c) for c in mapper.concepts("men")] == ["Top/Society/People/Men"]


def test_the_deepest_subtree_decides_and_a_minus_takes_out(tmp_path):
    tree = written(tmp_path, "All\tthing#1\t\nPets\tanimal#1, -dog#1\tpets\nPets/Young\tpuppy#1\t\n")
    all_, pets, young = (tree.node[path] for path in ("All", "Pets", "Pets/Young"))
    assert topics_of_concepts(tree, ANIMALS).tolist() == [all_, pets, pets, all_, young, all_]
    tree = written(tmp_path, "Pets\tanimal#1, -dog#1\tpets\n")
    assert topics_of_concepts(tree, ANIMALS).tolist() == [-1, 1, 1, -1, -1, -1]


def test_every_concept_has_the_topic_of_its_nearest_listed_ancestor():
    """Against a walk up the tree from each of some concepts."""
    tree, wordnet = load_topic_tree(), load_wordnet()
    subtrees = tree.subtrees()
    concepts = concepts_of_senses([subtree.sense for subtree in subtrees], wordnet).tolist()
    listed = {c: s.node for c, s in zip(concepts, subtrees, strict=True) if not s.taken_out}
    taken_out = {(c, s.node) for c, s in zip(concepts, subtrees, strict=True) if s.taken_out}

    def topic(concept):
        left = set()
        for above in wordnet.ancestors(concept):
            left |= {node for c, node in taken_out if c == above}
            if listed.get(above, -1) not in {-1, *left}:
                return listed[above]
        return -1

    some = range(0, len(wordnet), 23)
    assert topics_of_concepts(tree, wordnet)[some].tolist() == [topic(concept) for concept in some]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("Pets\tanimal#1\n", r"line 1: expected 3 tab-separated fields \(path, subtrees, words\), found 2"),
        ("# a\nPets\t\tpet\nPets\t\t\n", "line 3: the topic 'Pets' is listed twice"),
        ("Pets/Dogs\t\t\n", "line 1: the topic 'Pets/Dogs' does not follow the topic above it"),
        ("Pets\t\t\nToys\t\t\nPets/Dogs\t\t\n", "line 3: the topic 'Pets/Dogs' does not follow"),
        ("Pets/\t\t\n", "line 1: a topic has no name"),
        ("Pets\t\tpuppy\nToys\t\tpuppy\n", "line 2: the word 'puppy' is of 'Pets' too"),
        ("Pets\tcow#1\t\n", "line 1: there is no concept 'cow#1'"),
        ("Pets\tdog#2\t\n", "line 1: there is no concept 'dog#2'"),
        ("Pets\tdog\t\n", "line 1: there is no concept 'dog'"),
        ("Pets\tdog#1\t\nToys\tdog#1\t\n", "line 2: 'dog#1' is listed in line 1 too"),
        ("Pets\tcat#1, -dog#1\t\n", "line 1: 'dog#1' is taken out of a topic that does not have it"),
    ],
)
def test_bad_files_are_refused_by_line(tmp_path, text, match):
    with pytest.raises(InputError, match=match):
        topics_of_concepts(written(tmp_path, text), ANIMALS)


def test_every_topic_of_the_kdd_cup_has_nodes_and_every_node_has_one():
    tree = load_topic_tree()
    rows = [fields for _, fields in table_rows(KDD.read_text("utf-8"), KDD.name, ["topic", "nodes"])]
    assert len({topic for topic, _ in rows}) == len(rows) == 67
    paths = [path.strip() for _, nodes in rows for path in nodes.split(";")]
    assert [path for path in paths if path not in tree.node] == []
    listed = {tree.node[path] for path in paths}
    assert [path for path, node in tree.node.items() if listed.isdisjoint(tree.taxonomy.ancestors(node))] == []
