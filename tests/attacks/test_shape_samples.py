"""How many people are looked for by their shape where that takes long."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from sample_trials import as_it_is, nonsense_log

from querycloak.attacks.shape import FEWEST, LEAST, PROMISED, WORK, WORK_OF_A_SHARE, _within, match_shapes
from querycloak.attacks.targets import find_targets
from querycloak.randomness import Randomness
from querycloak.releases.account import ADD_REMOVE, AccountLine


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


def test_a_promise_of_differential_privacy_is_tried_on_more_people():
    assert len(_within(np.full(2000, WORK_OF_A_SHARE), WORK, Randomness(1), 7, PROMISED, PROMISED)) == PROMISED
    # The whole attack: each of 210 people takes more than is affordable, and 200 of them are looked for all the same.
    log = nonsense_log(PROMISED + 10, queries=3)
    release = as_it_is(log)
    line = AccountLine(purpose="all", relation=ADD_REMOVE, epsilon=1.0)
    promised = replace(release, statement=replace(release.statement, account=(line,)))
    owners = np.arange(len(log.users), dtype=np.int32)
    for each, people in ((release, FEWEST), (promised, PROMISED)):
        targets = find_targets(log, each, Randomness(1))
        with patch("querycloak.attacks.shape.WORK", 1.0), patch("querycloak.attacks.shape.WORK_OF_A_SHARE", 1.0):
            chance, _ = match_shapes(log, owners, each, targets, None, Randomness(1))
        assert len(chance) == people
