"""The tree of the concepts of a log, against sets of ancestors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from trees import FOOD, bag, bags, trees_with_bags

from querycloak.knowledge.generalization import generalization
from querycloak.knowledge.pruning import cost_tree


@given(trees_with_bags(), st.booleans())
def test_what_is_left_are_the_concepts_and_all_above_them(case, prune):
    taxonomy, rows = case
    used = np.array([*(c for row in rows for c in row), -1], dtype=np.int32)
    found = cost_tree(taxonomy, used, {"prune": prune})
    kept = (
        sorted({above for c in used[:-1].tolist() for above in taxonomy.ancestors(c)})
        if prune
        else range(len(taxonomy))
    )
    assert found.concept.tolist() == list(kept)
    assert found.node[found.concept].tolist() == list(range(len(kept)))
    assert found.node[-1] == -1
    assert [found.tree.label(n) for n in range(len(found.tree))] == [taxonomy.label(c) for c in kept]
    assert [found.concept[p] for p in found.tree.parent[1:]] == taxonomy.parent[list(kept)][1:].tolist()
    given_bags = bags(rows)
    assert found.concepts(found.nodes(given_bags)).to_lists() == given_bags.to_lists()


def test_leaves_that_nobody_asked_about_do_not_count():
    asked = bags([bag("apple beef"), bag("orange beef")])
    costs = cost_tree(FOOD, asked.values, {"prune": True})
    published = bags([bag("fruit beef")] * 2)
    whole = generalization(FOOD, asked, published).distortion
    assert whole == 2 * 2 / 7, "2 of the 7 other leaves are below fruit"
    assert generalization(costs.tree, costs.nodes(asked), costs.nodes(published)).distortion == 2 * 1 / 2
