"""The scale from the blind log to the original."""

from __future__ import annotations

import pytest

from querycloak.tasks.task import TaskScore, scaled


def score(value, low=None, high=None, **more):
    low, high = value if low is None else low, value if high is None else high
    return TaskScore(task="topics", value=value, low=low, high=high, cases=3, **more)


def test_both_ends_and_the_middle():
    ends = score(0.8), score(0.4)
    found = scaled(score(0.6, 0.5, 0.7), *ends)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.25, 0.75))
    assert scaled(ends[0], *ends).value == 1
    assert scaled(ends[1], *ends).value == 0


def test_far_outside_is_cut():
    found = scaled(score(0.5, 0.0, 1.0), score(0.55), score(0.45))
    assert (found.low, found.high) == (-1, 1.2)


@pytest.mark.parametrize(
    "ends", [(score(0.4), score(0.4)), (score(0.3), score(0.4)), (score(0.0, possible=False), score(0.0))]
)
def test_no_scale_where_the_original_is_no_better_than_blind(ends):
    assert scaled(score(0.5), *ends) is None


def test_what_cannot_do_a_task_has_zero():
    found = scaled(score(0.0, possible=False), score(1.0), score(0.5))
    assert (found.value, found.low, found.high, found.possible) == (0, 0, 0, False)
