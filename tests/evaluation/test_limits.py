from __future__ import annotations

import math

import pytest
from sample_attacks import found

from querycloak.evaluation.limits import Limits


@pytest.mark.parametrize(
    ("limit", "high", "times"),
    [(0.2, 0.1, 0.5), (0.2, 0.2, 1.0), (0.2, 0.5, 2.5), (0.0, 0.1, math.inf), (0.0, 0.0, 0.0)],
)
def test_a_result_as_a_multiple_of_its_limit(limit, high, times):
    result = found("relink", 0.0, high=high)
    assert Limits(link=limit).times(result) == pytest.approx(times)
    assert Limits(link=limit).keeps(result) == (times <= 1)


def test_what_has_no_limit_is_near_none():
    assert Limits().times(found("uniqueness", 1.0, risk="count")) == 0
