from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from item_releases import item_release
from reference.consistent_classes import topic_features as reference_features
from trees import FOOD, concept_log, trees

from querycloak.attacks.known import topic_features
from querycloak.attacks.path_nodes import path_nodes
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog


@st.composite
def trees_with_twins(draw):
    """A random tree in which siblings may share their label."""
    tree = draw(trees())
    labels = [[draw(st.sampled_from(["a", "b", "c"]))] for _ in range(len(tree))]
    return Taxonomy.from_parents(tree.parent, labels)


@given(trees_with_twins())
def test_nodes_are_the_distinct_paths(tree):
    nodes = path_nodes(tree)
    assert [nodes.tree.paths[n] for n in nodes.of[:-1].tolist()] == tree.paths
    assert len(set(nodes.tree.paths)) == len(nodes.tree) == len(set(tree.paths))
    assert nodes.of[-1] == -1
    assert nodes.several.tolist() == [tree.paths.count(path) > 1 for path in nodes.tree.paths]


@given(trees_with_twins(), st.data())
def test_above_are_the_ancestors(tree, data):
    nodes = path_nodes(tree)
    some = data.draw(st.lists(st.integers(0, len(nodes.tree) - 1), max_size=5))
    found = nodes.above(np.array(some, dtype=np.int32)).to_lists()
    assert found == [nodes.tree.ancestors(n) for n in some]


@given(trees_with_twins(), st.data())
def test_topic_features_equal_the_reference(tree, data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, len(tree) - 1)), min_size=1, max_size=8))
    log = QueryLog.of(["u"] * len(rows), [f"q{q}" for q, _ in rows])
    concepts = concept_log(log, [c for _, c in rows])
    published = data.draw(st.lists(st.integers(0, len(tree) - 1), min_size=1, max_size=3))
    features = topic_features(log, concepts, item_release(log, tree, [published], [0]), tree)
    paths = path_nodes(tree).tree.paths
    expected = reference_features(len(log.queries), zip(log.query.tolist(), concepts.concept, strict=True), tree)
    found = [sorted(paths[f] for f in row) for row in features.of_item.to_lists()]
    assert found == [sorted(bag.elements()) for bag in expected]
    assert {paths[f] for f in features.published.values} == {tree.path(c) for c in published}
    assert features.published.counts.sum() == len(published)


def test_a_path_that_the_taxonomy_lacks_is_no_node():
    log = QueryLog.of(["u"], ["q"])
    other = Taxonomy.from_parents([-1, 0], [["food"], ["stone"]])
    release = item_release(log, other, [[0, 1]], [0])
    assert path_nodes(FOOD).published(release, FOOD).tolist() == [0, -1]
