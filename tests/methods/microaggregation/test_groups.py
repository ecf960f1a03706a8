from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import groups as reference
from reference import semantics
from scipy.optimize import linear_sum_assignment
from strategies import concept_bags, flatten

from querycloak.arrays.ragged import Ragged, row_starts
from querycloak.distances.distance import Matrix, distances_of
from querycloak.distances.user_concepts import part_of, user_concepts
from querycloak.errors import ParameterError
from querycloak.methods.microaggregation._blocks import topical_blocks
from querycloak.methods.microaggregation._blocks_kernels import topics
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.methods.microaggregation._grouping import group_bags
from querycloak.methods.microaggregation._mdav import mdav
from querycloak.methods.microaggregation._quotas import quotas
from querycloak.methods.microaggregation._refine import medoids, refine
from querycloak.methods.microaggregation._refine_kernels import exchange
from querycloak.methods.microaggregation._representative_kernels import representatives


@st.composite
def symmetric(draw, most=26):
    n = draw(st.integers(4, most))
    values = draw(st.lists(st.integers(0, 9), min_size=n * n, max_size=n * n))
    d = np.triu(np.array(values, dtype=np.int32).reshape(n, n), 1)
    return d + d.T


@given(symmetric(), st.integers(2, 5))
def test_refined_groups_equal_the_reference_and_never_lose(d, k) -> None:
    k = min(k, len(d))
    group = mdav(Matrix(d), k)
    refined, before, after = refine(Matrix(d), group, k)
    assert refined.tolist() == reference.refine(d.tolist(), group.tolist(), k)
    assert before == reference.medoids(d.tolist(), group.tolist())[1]
    assert after == reference.medoids(d.tolist(), refined.tolist())[1] <= before
    sizes = np.bincount(refined)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@given(symmetric(), st.integers(2, 5))
def test_no_other_assignment_to_the_same_medoids_is_better(d, k) -> None:
    """With medoids and sizes fixed, the best assignment is known: users to places, by SciPy."""
    group = mdav(Matrix(d), min(k, len(d)))
    medoid, _ = medoids(Matrix(d), group)
    near = d[medoid]
    exchange(near, medoid, group)
    free = [u for u in range(len(d)) if u not in medoid]
    places = group[free]
    rows, columns = linear_sum_assignment(near[places][:, free])
    assert near[group[free], free].sum() == near[places][:, free][rows, columns].sum()
    assert (group[medoid] == np.arange(len(medoid))).all()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), min_size=1, max_size=20))
def test_quotas_equal_the_reference_and_add_up_to_the_mean(drawn) -> None:
    _, group = np.unique([g for g, _ in drawn], return_inverse=True)
    length = np.array([n for _, n in drawn])
    share = quotas(group, length)
    assert share.tolist() == reference.quotas(group.tolist(), length.tolist())
    for g in range(group.max() + 1):
        mean = length[group == g].mean()
        assert abs(share[group == g].sum() - mean) <= 0.5 or share[group == g].sum() == 1
    assert (share <= length).all()


@given(concept_bags(least_users=2, most_users=14), st.integers(2, 4))
def test_representatives_equal_the_reference(drawn, k) -> None:
    taxonomy, users = drawn
    bags = user_concepts(*flatten(users), len(users), taxonomy)
    group = mdav(distances_of(bags), min(k, len(users)))
    quota = quotas(group, bags.weight)
    groups = Ragged.positions(group, int(group.max()) + 1)
    out_start = row_starts(groups.sums(quota[groups.values]))
    node = bags.original[representatives(bags, groups, quota, out_start)]
    for g, members in enumerate(groups.to_lists()):
        expected = reference.representative(
            taxonomy.parent.tolist(), [users[u] for u in members], quota[members].tolist()
        )
        assert node[out_start[g] : out_start[g + 1]].tolist() == expected


@given(concept_bags(most_users=10))
def test_topics_equal_the_reference(drawn) -> None:
    taxonomy, users = drawn
    bags = user_concepts(*flatten(users), len(users), taxonomy)
    assert bags.original[topics(bags)].tolist() == [reference.topic(taxonomy.parent.tolist(), bag) for bag in users]


@given(concept_bags(least_users=6, most_users=20), st.integers(2, 6))
def test_blocks_part_the_users_and_parts_keep_their_distances(drawn, per_block) -> None:
    taxonomy, users = drawn
    bags = user_concepts(*flatten(users), len(users), taxonomy)
    blocks = topical_blocks(bags, per_block)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(len(users)))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1
    whole = semantics.matrix(taxonomy.parent.tolist(), users)
    for block in blocks:
        part = distances_of(part_of(bags, block))
        assert [part.row(i).tolist() for i in range(len(block))] == [[whole[u][v] for v in block] for u in block]


@given(concept_bags(least_users=8, most_users=20), st.booleans())
def test_groups_in_blocks_keep_their_sizes(drawn, refined) -> None:
    taxonomy, users = drawn
    bags = user_concepts(*flatten(users), len(users), taxonomy)
    grouping = group_bags(bags, MdavSettings(k=2, blocks="4", refine=refined))
    sizes = np.bincount(grouping.group)
    assert sizes.min() >= 2
    assert sizes.max() <= 3
    assert grouping.blocks == round(len(users) / 4)


@pytest.mark.parametrize("blocks", ["", "-5", "some", "9", "1.5"])
def test_senseless_blocks_are_refused(blocks) -> None:
    with pytest.raises(ParameterError, match=r"blocks must be auto, off, or a number of users >= 2k \(10\)"):
        MdavSettings(blocks=blocks)


def test_auto_blocks_begin_above_20_000_users() -> None:
    assert MdavSettings().block_users(20_000) is None
    assert MdavSettings().block_users(20_001) == 5_000
    assert MdavSettings(blocks="off").block_users(1_000_000) is None
    assert MdavSettings(blocks="300").block_users(20) == 300


def test_swaps_reach_a_pairing_that_fixed_medoids_miss() -> None:
    # users at 0, 10, 1, 11 on a line, paired (0, 10) and (1, 11): only another pairing helps
    at = np.array([0, 10, 1, 11])
    d = np.abs(at[:, None] - at[None, :]).astype(np.int32)
    refined, before, after = refine(Matrix(d), np.array([0, 0, 1, 1], dtype=np.int32), 2)
    assert (before, after) == (20, 2)
    assert medoids(Matrix(d), refined)[1] == 2
