"""The threshold of a set union, against the exact tails of the noise that runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.set_union import exact_tail
from scipy.special import ndtri

from querycloak.methods.dp import _set_union_threshold
from querycloak.methods.dp._set_union_threshold import tail, threshold


@given(st.floats(0.3, 30), st.integers(1, 120))
def test_the_bound_of_the_tail_holds(scale, m):
    exact = exact_tail(m, scale)
    bound = float(tail(np.array([float(m)]), scale)[0])
    assert bound >= exact
    assert float(tail(np.array([float(m)]), scale)[0]) <= float(tail(np.array([float(m - 1)]), scale)[0])


@st.composite
def worst_users(draw):
    """A unit and the weights of a user, squares at most unit² in sum."""
    unit, d = draw(st.sampled_from([8, 32, 101])), draw(st.integers(1, 12))
    raw = draw(st.lists(st.integers(0, 50), min_size=1, max_size=d).filter(any))
    norm = math.sqrt(sum(r * r for r in raw))
    weights = [int(r * unit / norm) for r in raw]
    while sum(w * w for w in weights) > unit * unit:
        weights[weights.index(max(weights))] -= 1
    return unit, d, weights


@given(worst_users(), st.floats(0.2, 6), st.sampled_from([0.3, 1e-2, 1e-6]), st.integers(1, 40))
@settings(max_examples=150)
def test_what_one_user_adds_is_published_with_probability_delta_at_most(user, deviation, delta, floor):
    unit, d, weights = user
    scale = deviation * unit
    least = threshold(d, scale, delta, unit=unit, floor=floor)
    for before in (0, floor - 1):  # nobody else has the items, or others almost as much as makes them looked at
        none = 1.0
        for w in weights:
            if w:
                none *= 1 - exact_tail(least - before - w, scale)
        assert 1 - none <= delta


@pytest.mark.parametrize("d", [1, 2, 5, 20, 50])
@pytest.mark.parametrize(("deviation", "delta"), [(4.6, 3e-7), (1.8, 5e-6), (0.5, 1e-3)])
def test_it_is_that_of_gopi_and_others_where_equal_weights_are_the_worst(d, deviation, delta):
    """Never below max over t of 1/√t + sigma·Φ⁻¹((1 - δ)^(1/t)), at most 1 % above: unequal weights can be worse."""
    unit = 1 << 20
    published = max(1 / math.sqrt(t) + deviation * ndtri((1 - delta) ** (1 / t)) for t in range(1, d + 1))
    found = threshold(d, deviation * unit, delta, unit=unit, floor=1) / unit
    assert published <= found <= published * 1.01


def test_one_user_less_is_too_low():
    """d items of a user alone, equal weights: at the threshold less one weight, δ is not kept."""
    for d in (1, 4, 50):
        unit, scale, delta = 64, 64 * 4.6, 1e-6
        least = threshold(d, scale, delta, unit=unit)
        w = int(unit / math.sqrt(d))
        assert d * exact_tail(least - w, scale) <= delta
        assert d * exact_tail(least - unit - w, scale) > 1.1 * delta


@pytest.mark.parametrize("grid", [1, 2, 3, 5])
@pytest.mark.parametrize("weights", [[8], [5, 5], [7, 3], [4, 4, 4, 4]])
def test_it_holds_on_any_grid(monkeypatch, grid, weights):
    """A coarse grid may raise the threshold, never lower it: each step is bounded by its end and its beginning."""
    monkeypatch.setattr(_set_union_threshold, "_GRID", grid)
    unit, scale, delta = 8, 2.0, 1e-3
    assert sum(w * w for w in weights) <= unit * unit
    least = _set_union_threshold.threshold.__wrapped__(4, scale, delta, unit=unit, floor=1)
    assert sum(exact_tail(least - 1 - w, scale) for w in weights) <= delta
