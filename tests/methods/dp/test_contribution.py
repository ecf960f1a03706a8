"""What one user contributes: bounded, and decided by this user's own items alone."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import set_union as plain

from querycloak.methods.dp._contribution import Contributions, add_up, count_people, keep_cheapest, weigh
from querycloak.randomness import Randomness

SETS = st.lists(st.sets(st.integers(0, 7), max_size=6), min_size=1, max_size=6)
COSTS = st.lists(st.integers(1, 9), min_size=8, max_size=8)


def pairs(sets):
    rows = [(u, i) for u, items in enumerate(sets) for i in items]
    return Contributions.of(
        np.array([r[0] for r in rows], dtype=np.int64), np.array([r[1] for r in rows], dtype=np.int64), 8
    )


def lists(some):
    out = {}
    for u, i in zip(some.user.tolist(), some.item.tolist(), strict=True):
        out.setdefault(u, []).append(i)
    return out


def test_pairs_are_distinct_and_missing_items_left_out():
    some = Contributions.of(np.array([3, 0, 3, 3, 0]), np.array([1, 2, 1, -1, 0]), 4)
    assert (some.user.tolist(), some.item.tolist()) == ([0, 0, 3], [0, 2, 1])
    assert some.first.tolist() == [0, 0, 2]
    none = Contributions.of(np.empty(0, np.int32), np.empty(0, np.int32), 0)
    assert len(keep_cheapest(none, np.ones(0, np.int64), 2, Randomness(1)).user) == 0
    assert add_up(none, weigh(none, np.ones(0, np.int64), 8)).tolist() == []
    assert count_people(none, 2, 8).tolist() == []


@given(SETS, COSTS, st.sampled_from([1, 16, 1 << 20]))
def test_weights_equal_the_reference(sets, costs, unit):
    some = pairs(sets)
    found = add_up(some, weigh(some, np.array(costs), unit))
    assert dict(Counter({i: int(n) for i, n in enumerate(found) if n})) == {
        i: n for i, n in plain.sums([sorted(s) for s in sets], costs, unit).items() if n
    }


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.sampled_from([7, 1 << 20]))
def test_no_user_weighs_more_than_one(costs, unit):
    some = Contributions.of(np.zeros(len(costs), np.int64), np.arange(len(costs)), len(costs))
    weight = weigh(some, np.array(costs), unit).astype(object)
    assert sum(w * w for w in weight) <= unit * unit
    if unit > 7:  # and hardly less: nothing is wasted
        assert sum(w * w for w in weight) >= 0.997 * unit * unit


def test_equal_costs_weigh_one_over_the_root_of_their_number():
    for t in (1, 2, 3, 7, 50):
        some = Contributions.of(np.zeros(t, np.int64), np.arange(t), t)
        weight = weigh(some, np.ones(t, np.int64), 1 << 20)
        assert len(set(weight.tolist())) == 1
        assert (1 << 20) / math.sqrt(t) - 2 <= weight[0] <= (1 << 20) / math.sqrt(t)


@given(SETS, st.integers(1, 4), st.sampled_from([1, 16, 1 << 10]))
def test_people_equal_the_reference_and_keep_the_sensitivity(sets, d, unit):
    found = count_people(pairs(sets), d, unit)
    want = plain.count_parts([sorted(s) for s in sets], d, unit)
    assert [int(n) for n in found] == [want[i] for i in range(8)]
    for u in range(len(sets)):
        without = count_people(pairs([s if v != u else set() for v, s in enumerate(sets)]), d, unit)
        assert int(((found - without) ** 2).sum()) <= d * unit * unit


def test_the_sensitivity_of_people_is_reached():
    """d items of one user: a noise for l2-sensitivity 1 would be too small by √d."""
    found = count_people(pairs([{0, 1, 2}]), 3, 16)
    assert int((found**2).sum()) == 3 * 16 * 16
    assert count_people(pairs([{0, 1, 2, 3}]), 3, 16)[0] == int(16 * math.sqrt(3 / 4))


@given(SETS, COSTS, st.integers(1, 4), st.integers(0, 5))
def test_the_cheapest_are_kept(sets, costs, d, seed):
    some = pairs(sets)
    kept = lists(keep_cheapest(some, np.array(costs), d, Randomness(seed)))
    for u, items in enumerate(sets):
        mine = kept.get(u, [])
        assert set(mine) <= items
        assert len(mine) == min(d, len(items))
        assert sorted(costs[i] for i in mine) == sorted(costs[i] for i in items)[:d]


@pytest.mark.parametrize("others", [[], [{0, 1}], [{4, 0, 1, 2, 5}] * 3])
def test_what_a_user_keeps_is_uniform_whatever_others_have(others):
    """2 of {1, 4, 6} with equal costs, 3,000 runs: each pair 1/3, within 6 standard deviations, and so with others."""
    seen = Counter()
    for seed in range(3000):
        kept = keep_cheapest(pairs([{1, 4, 6}, *others]), np.ones(8, np.int64), 2, Randomness(seed))
        seen[tuple(lists(kept)[0])] += 1
    assert len(seen) == 3
    assert all(abs(n - 1000) < 6 * math.sqrt(3000 * 2 / 9) for n in seen.values())


def test_a_tie_is_drawn_again(monkeypatch):
    """Two equal random numbers of one user: the first draw is thrown away as a whole."""
    drawn = [[7, 7, 1], [5, 3, 9]]
    monkeypatch.setattr(Randomness, "words", lambda self, n: np.array(drawn.pop(0), dtype=np.uint64) << np.uint64(8))
    assert lists(keep_cheapest(pairs([{1, 4, 6}]), np.ones(8, np.int64), 1, Randomness(1))) == {0: [4]}
    assert drawn == []


@given(SETS, COSTS, st.integers(1, 3))
@settings(max_examples=30)
def test_one_user_more_changes_no_other_users_weights(sets, costs, d):
    """Where nothing is drawn (all costs differ), the sums with a user are those without plus one bounded vector."""
    costs = [c * 8 + i for i, c in enumerate(costs)]
    ranks = np.argsort(np.argsort(costs)) + 1  # 1 … 8, all different

    def total(these):
        some = keep_cheapest(pairs(these), ranks, d, Randomness(1))
        return add_up(some, weigh(some, ranks, 64)).astype(object)

    whole = total(sets)
    for u in range(len(sets)):
        change = whole - total([s if v != u else set() for v, s in enumerate(sets)])
        assert min(change) >= 0
        assert sum(c * c for c in change) <= 64 * 64
        assert sum(c > 0 for c in change) <= d
