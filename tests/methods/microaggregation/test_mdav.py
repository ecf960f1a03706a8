from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.mdav import mdav as reference_mdav
from strategies import concept_bags, flatten

from querycloak.distances.distance import Matrix, distances_of
from querycloak.distances.user_concepts import user_concepts
from querycloak.methods.microaggregation._mdav import mdav


def groups_of(group) -> list[list[int]]:
    return [np.flatnonzero(group == g).tolist() for g in range(group.max() + 1)]


@st.composite
def symmetric(draw):
    """Distances of 2 to 30 users, drawn from few values so that ties are everywhere."""
    n = draw(st.integers(2, 30))
    values = draw(st.lists(st.integers(0, 3), min_size=n * n, max_size=n * n))
    d = np.triu(np.array(values, dtype=np.int32).reshape(n, n), 1)
    return d + d.T


@given(symmetric(), st.integers(2, 7))
def test_groups_equal_the_reference_with_ties(d, k) -> None:
    k = min(k, len(d))
    assert groups_of(mdav(Matrix(d), k)) == reference_mdav(d.tolist(), k)


@pytest.mark.slow
@given(concept_bags(least_users=7, most_users=25), st.integers(2, 7))
def test_groups_of_bags_equal_the_reference_and_both_forms_of_distances_agree(drawn, k) -> None:
    taxonomy, users = drawn
    bags = user_concepts(*flatten(users), len(users), taxonomy)
    kept = distances_of(bags)
    group = mdav(kept, k)
    assert groups_of(group) == reference_mdav([kept.row(u).tolist() for u in range(len(users))], k)
    assert (mdav(distances_of(bags, most_kept=0), k) == group).all()


@given(symmetric(), st.integers(2, 7))
def test_every_group_has_k_to_2k_minus_1_users(d, k) -> None:
    k = min(k, len(d))
    sizes = np.bincount(mdav(Matrix(d), k))
    assert sizes.sum() == len(d)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_all_equal_users_and_k_equal_to_n(n) -> None:
    d = np.zeros((n, n), dtype=np.int32)
    assert mdav(Matrix(d), n).tolist() == [0] * n
    assert groups_of(mdav(Matrix(d), 2)) == reference_mdav(d.tolist(), 2)
