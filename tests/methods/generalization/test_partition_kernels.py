"""The kernel of partition against its reference implementation."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference.clump import largest_matching
from reference.partition import reference_partition
from trees import bags, lists, trees_with_bags

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.methods.generalization.partition import parts_of


@given(trees_with_bags(fewest=2, most=14, distinct=True), st.integers(2, 4))
def test_partition_like_the_reference(case, k):
    taxonomy, sets = case
    k = min(k, len(sets))
    of, shared = parts_of(bags(sets), taxonomy, k)
    found = [(np.flatnonzero(of == p).tolist(), nodes) for p, nodes in enumerate(lists(shared))]
    assert sorted(found) == reference_partition(taxonomy, sets, k)
    assert np.bincount(of).min() >= k
    for members, nodes in found:
        for t in members:
            assert largest_matching(taxonomy, nodes, sets[t]) == len(nodes)


TWO_FORKS = Taxonomy.from_parents([-1, 0, 1, 1, 0, 4, 4], [["root"], ["a"], ["a1"], ["a2"], ["b"], ["b1"], ["b2"]])


def test_all_alike_are_published_as_they_are():
    of, shared = parts_of(bags([[2, 3, 5]] * 6), TWO_FORKS, k=3)
    assert of.tolist() == [0] * 6
    assert lists(shared) == [[2, 3, 5]]


def test_of_two_nodes_that_gain_alike_the_first_is_split():
    of, shared = parts_of(bags([[2, 5], [2, 6], [3, 5], [3, 6]]), TWO_FORKS, k=2)
    assert of[0] == of[1] != of[2] == of[3]
    assert sorted(lists(shared)) == [[2, 4], [3, 4]]
