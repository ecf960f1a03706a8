from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import ParameterError
from querycloak.randomness import Randomness


def test_a_seed_repeats_and_children_differ():
    a, b = Randomness(3), Randomness(3)
    np.testing.assert_array_equal(a.words(10), b.words(10))
    assert (a.child("x").words(10) != a.child("y").words(10)).any()
    np.testing.assert_array_equal(Randomness(3).child("x").words(4), Randomness(3).child("x").words(4))


def test_a_seeded_stream_is_the_same_on_every_machine():
    # Written down once: Philox keyed by a hash of the seed. A change here changes every seeded result.
    assert Randomness(7).integers(1000, 6).tolist() == [637, 432, 953, 709, 51, 367]


def test_a_key_repeats_from_any_position_and_its_parts_differ():
    key = bytes(range(32))
    whole = Randomness(key=key).words(20_000)
    again = Randomness(key=key)
    np.testing.assert_array_equal(np.concatenate([again.words(n) for n in (0, 1, 4095, 1, 9000, 6903)]), whole)
    assert again.position == 20_000
    again.wind_to(5000)
    np.testing.assert_array_equal(again.words(10), whole[5000:5010])
    assert len(np.unique(whole)) == len(whole)
    others = [Randomness(key=key).child("x"), Randomness(key=key).child("y"), Randomness(key=key[::-1])]
    assert len({tuple(r.words(4).tolist()) for r in others} | {tuple(whole[:4].tolist())}) == 4
    assert Randomness(key=key).repeats
    assert not Randomness().repeats
    assert "key" in Randomness(key=key).child("x").describe()
    # Written down once: SHAKE-256 of key, path and block. A change here breaks runs that are under way.
    assert whole[:2].tolist() == [12372522459378903020, 250337823795725704]


@pytest.mark.parametrize("wrong", [{"key": b"short"}, {"seed": 1, "key": bytes(32)}])
def test_a_key_has_its_length_and_goes_without_a_seed(wrong):
    with pytest.raises(ValueError):
        Randomness(**wrong)


def test_the_operating_system_does_not_repeat():
    assert (Randomness().words(8) != Randomness().words(8)).any()


def test_integers_are_uniform():
    # 60,000 draws over 6 faces: chi-square with 5 degrees of freedom is below 25.7 with probability 0.9999.
    counts = np.bincount(Randomness(1).integers(6, 60_000), minlength=6)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 25.7


@given(st.integers(1, 2**63), st.integers(0, 50))
def test_integers_stay_below_their_bound(bound, n):
    out = Randomness(1).integers(bound, n)
    assert len(out) == n
    assert ((out >= 0) & (out < bound)).all()


def test_permutation_and_uniform():
    assert sorted(Randomness(2).permutation(100).tolist()) == list(range(100))
    values = Randomness(2).uniform(1000)
    assert ((values >= 0) & (values < 1)).all()


def test_identifiers_are_new_and_distinct():
    avoid = {str(i) for i in range(10**11, 10**11 + 1000)}
    ids = Randomness(2).identifiers(1000, avoid=avoid, digits=True)
    assert len(set(ids)) == 1000
    assert not set(ids) & avoid
    assert all(len(i) == 12 and i.isdigit() for i in ids)


@pytest.mark.parametrize("digits", [True, False])
def test_an_id_to_avoid_is_drawn_again(digits):
    first = Randomness(2).identifiers(20, digits=digits)
    again = Randomness(2).identifiers(20, avoid=set(first[:7]), digits=digits)
    assert again[:13] == first[7:]
    assert len(set(again) | set(first)) == 27


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_refuses_other_seeds(seed):
    with pytest.raises(ParameterError, match="seed must be an integer >= 0"):
        Randomness(seed)
