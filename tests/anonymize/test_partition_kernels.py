"""The kernel of partition against its naive twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive.clump import largest_matching
from naive.partition import naive_partition
from trees import bags, lists, trees_with_bags

from querycloak.anonymize.partition import parts_of


@given(trees_with_bags(fewest=2, most=14, distinct=True), st.integers(2, 4))
def test_partition_like_the_naive_twin(case, k):
    taxonomy, sets = case
    k = min(k, len(sets))
    of, shared = parts_of(bags(sets), taxonomy, k)
    found = [(np.flatnonzero(of == p).tolist(), nodes) for p, nodes in enumerate(lists(shared))]
    assert sorted(found) == naive_partition(taxonomy, sets, k)
    assert np.bincount(of).min() >= k
    for members, nodes in found:
        for t in members:
            assert largest_matching(taxonomy, nodes, sets[t]) == len(nodes)


def test_all_alike_are_published_as_they_are():
    taxonomy, sets = trees_of_twins()
    of, shared = parts_of(bags(sets), taxonomy, k=3)
    assert of.tolist() == [0] * 6
    assert lists(shared) == [[2, 3, 5]]


def trees_of_twins():
    from querycloak.knowledge.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_parents([-1, 0, 1, 1, 0, 4], [[str(i)] for i in range(6)])
    return taxonomy, [[2, 3, 5]] * 6
