"""What a statement proves, whatever is written in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_releases import statement


def test_k_anonymity_of_users_bounds_the_chance_of_naming_one():
    assert statement(k=5).bound == 0.2
    assert statement().bound is None


@pytest.mark.parametrize("k", [1.0, 0.0, -1.0, 0.5, 2.5, float("nan"), float("inf")])
def test_a_k_that_hides_nobody_bounds_nothing(k):
    assert statement(k=k).bound is None


def test_a_k_of_something_else_than_users_bounds_nothing():
    assert replace(statement(k=1000), unit="query").bound is None
