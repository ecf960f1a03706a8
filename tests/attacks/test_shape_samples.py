"""How many people are looked for by their shape where that takes long."""

from __future__ import annotations

import numpy as np
import pytest

from querycloak.attacks.shape import FEWEST, LEAST, WORK, WORK_OF_A_SHARE, _within
from querycloak.randomness import Randomness


@pytest.mark.parametrize(
    ("each_takes", "values", "people"),
    [
        (WORK / 1000, 1, 999),
        (WORK / 20, 1, FEWEST),
        (WORK / 100, 7, FEWEST),
        (WORK_OF_A_SHARE / 100.5, 1, 100),
        (WORK_OF_A_SHARE / 100.5 / 7, 7, 100),
        (WORK_OF_A_SHARE, 1, LEAST),
    ],
)
def test_few_people_are_looked_for_where_each_takes_long(each_takes, values, people):
    chosen = _within(np.full(2000, each_takes), WORK, Randomness(1), values)
    assert len(chosen) == pytest.approx(people, abs=1)
    assert len(set(chosen.tolist())) == len(chosen)
    assert (np.diff(chosen) > 0).all()


def test_of_a_small_log_no_fewer_are_looked_for():
    assert len(_within(np.full(2000, WORK_OF_A_SHARE), WORK, Randomness(1), 7, FEWEST)) == FEWEST
