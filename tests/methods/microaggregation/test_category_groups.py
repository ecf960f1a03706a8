from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import categories as reference
from strategies import taxonomies

from querycloak.methods.microaggregation._category_groups import group_by_categories, user_categories


@st.composite
def users_with_categories(draw, least=2, most=14):
    taxonomy = draw(taxonomies())
    some = st.lists(st.integers(0, len(taxonomy) - 1), max_size=5)
    return taxonomy, draw(st.lists(some, min_size=least, max_size=most)), draw(st.integers(1, 4))


def flat(users):
    pairs = [(u, c) for u, cs in enumerate(users) for c in cs]
    return np.array([u for u, _ in pairs], dtype=np.int64), np.array([c for _, c in pairs], dtype=np.int64)


@given(users_with_categories())
def test_shared_categories_are_odp_sim(drawn) -> None:
    taxonomy, users, levels = drawn
    found = user_categories(*flat(users), len(users), taxonomy, levels)
    records = [reference.at_levels(taxonomy, cs, levels) for cs in users]
    for u in range(len(users)):
        shared = found.shared_with(found.of(u)).tolist()
        assert shared == [reference.odp_sim(records[u], record) for record in records]


@given(users_with_categories(), st.integers(2, 5))
def test_groups_equal_algorithm_2_with_ties(drawn, k) -> None:
    taxonomy, users, levels = drawn
    k = min(k, len(users))
    group = group_by_categories(user_categories(*flat(users), len(users), taxonomy, levels), k)
    records = [reference.at_levels(taxonomy, cs, levels) for cs in users]
    assert [np.flatnonzero(group == g).tolist() for g in range(group.max() + 1)] == reference.group(records, k)
    sizes = np.bincount(group)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("seed", range(3))
def test_many_users_equal_algorithm_2(seed) -> None:
    from querycloak.knowledge.taxonomy import Taxonomy

    rng = np.random.default_rng(seed)
    taxonomy = Taxonomy.from_parents([-1, *(int(rng.integers(0, i)) for i in range(1, 80))], [["x"]] * 80)
    users = [rng.integers(0, 80, rng.integers(1, 9)).tolist() for _ in range(60)]
    group = group_by_categories(user_categories(*flat(users), 60, taxonomy, 5), 4)
    records = [reference.at_levels(taxonomy, cs, 5) for cs in users]
    assert [np.flatnonzero(group == g).tolist() for g in range(group.max() + 1)] == reference.group(records, 4)
