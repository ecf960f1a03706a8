"""How long records waited, counted in a table of fixed size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.methods.stream.delays import BUCKETS, Delays

DELAYS = st.lists(st.one_of(st.integers(0, 200), st.integers(0, 1 << 40)), min_size=1, max_size=60)


def counted(values, cut=0):
    delays = Delays()
    delays.add(np.array(values[:cut], dtype=np.int64))
    delays.add(np.array(values[cut:], dtype=np.int64))
    return delays


@given(DELAYS, st.integers(0, 60), st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_a_percentile_is_never_below_the_true_one_and_at_most_a_thirty_second_above(values, cut, share):
    delays = counted(values, cut)
    true = sorted(values)[math.ceil(share * len(values)) - 1]
    found = delays.percentile(share)
    assert true <= found <= true + true / 32
    assert found <= delays.longest == max(values)
    assert delays.mean == pytest.approx(sum(values) / len(values))


def test_below_64_records_it_is_exact():
    assert [counted([v]).percentile(0.5) for v in range(64)] == list(range(64))
    assert counted([3, 63, 63, 63]).percentile(0.25) == 3


def test_nothing_has_left():
    assert Delays().figures() == {"mean delay": 0, "delay p50": 0, "delay p90": 0, "delay p99": 0, "longest delay": 0}


def test_it_goes_on_from_what_was_saved():
    whole, first = counted([5, 70, 10**6]), counted([5, 70])
    again = Delays.from_state(first.counts, first.total, first.longest)
    again.add(np.array([10**6]))
    assert again.figures() == whole.figures()


@pytest.mark.parametrize(("total", "longest"), [(75, 4), (75, 1 << 40), (4, 70)])
def test_a_state_that_contradicts_itself_is_refused(total, longest):
    from querycloak.arrays.checks import BadStateError

    with pytest.raises(BadStateError):
        Delays.from_state(counted([5, 70]).counts, total, longest)
    assert len(counted([5]).counts) == BUCKETS
