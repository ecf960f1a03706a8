from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from reference.attack import chance_of_match as reference_chance

from querycloak.arrays.ragged import Ragged
from querycloak.attacks.matching import chance_of_match, code_words, count_features, expand
from querycloak.attacks.published_ids import PublishedIds

BAG = st.dictionaries(st.integers(0, 5), st.integers(1, 3), max_size=4)


def rows_of(users):
    user = [u for u, bag in enumerate(users) for f, c in bag.items() for _ in range(c)]
    feature = [f for bag in users for f, c in bag.items() for _ in range(c)]
    return count_features(np.array(user, dtype=np.int64), np.array(feature, dtype=np.int64), len(users))


@given(known=st.lists(BAG, max_size=4), published=st.lists(BAG, min_size=1, max_size=6), cosine=st.booleans())
def test_equals_the_reference_implementation(known, published, cosine):
    owner = [i % len(published) for i in range(len(known))]
    ours = chance_of_match(
        rows_of(known), rows_of(published), PublishedIds.one_each(np.array(owner, dtype=np.int32)), 6, cosine=cosine
    ).tolist()
    reference = reference_chance(known, published, owner, cosine=cosine)
    if cosine:
        # Bags in proportion tie in exact arithmetic only; the kernel may part them by the last bit.
        assert all(a >= b or b < 1 for a, b in zip(ours, reference, strict=True))
    else:
        np.testing.assert_allclose(ours, reference)


def test_equal_bags_tie_exactly_also_with_cosine():
    bag = {0: 3, 1: 1, 4: 2}
    chance = chance_of_match(
        rows_of([{0: 1, 4: 5}]),
        rows_of([bag, {2: 1}, bag, bag]),
        PublishedIds.one_each(np.array([2], dtype=np.int32)),
        6,
        cosine=True,
    )
    assert chance.tolist() == [1 / 3]


def test_nothing_in_common_is_a_blind_guess():
    chance = chance_of_match(
        rows_of([{5: 1}]), rows_of([{0: 1}] * 4), PublishedIds.one_each(np.array([1], dtype=np.int32)), 6, cosine=True
    )
    assert chance.tolist() == [0.25]


def test_words_are_coded_alike_over_vocabularies():
    (first, second), n = code_words(pl.Series(["Green tea", "", "tea!"]), pl.Series(["GREEN"]))
    (green, tea), none, (also_tea,) = first.to_lists()
    assert (none, also_tea) == ([], tea)
    assert (n, second.to_lists()) == (2, [[green]])


def test_expand():
    user, value = expand(np.array([7, 8, 9]), np.array([1, 0, 2]), Ragged.of_lists([[10, 11], [12], []], np.int64))
    assert user.tolist() == [7, 8, 8]
    assert value.tolist() == [12, 10, 11]
