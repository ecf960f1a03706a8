"""Algorithms 2 and 3 of Pàmies-Estrems & Garcia-Alfaro (2023), the attackers, by what holds for every run of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from querycloak.attacks.stream_linkage import full_linkage, simple_linkage
from querycloak.mapping.row_paths import RowPaths
from querycloak.methods.stream.engine import SelfAdjusting, make_engine
from querycloak.randomness import Randomness


@pytest.mark.parametrize(("depth", "hold"), [(1, 0), (3, 0), (3, 40)])
def test_the_full_attacker_is_the_anonymizer_fed_with_what_it_published(depth, hold) -> None:
    rng = np.random.default_rng(4)
    paths = [("a", "x", "p"), ("a", "x", "q"), ("a", "y"), ("b",)]
    user = rng.integers(0, 30, 600).astype(np.int32)
    code = rng.integers(0, len(paths), 600).astype(np.int32)
    guess = full_linkage(user, RowPaths(code, paths), 3, depth, Randomness(seed=7), make_engine, hold=hold)
    machine = SelfAdjusting(3, depth, hold=hold, random=Randomness(seed=7))
    expected = np.full(600, -1, dtype=np.int32)
    for i in range(600):
        out = machine.push([(str(user[i]), str(i), "/".join(paths[code[i]]))])
        for named, record, _ in out:
            expected[int(record)] = int(named)
    assert guess.tolist() == expected.tolist()
    assert (guess >= 0).mean() > 0.5


def test_the_simple_attacker_pairs_until_no_more_than_k_users_are_left() -> None:
    """Algorithm 2, line 2.11: a loop, where the anonymizer lets out two at most. Two users wait 20 times each before.

    With two at most for a record, three distinct users stay in a third of the runs.
    """
    user = np.array([0] * 20 + [1] * 20 + [2, 3], dtype=np.int32)
    paths = RowPaths(np.zeros(len(user), dtype=np.int32), [("a",)])
    for seed in range(20):
        guess = simple_linkage(user, paths, 2, 1, Randomness(seed=seed), make_engine)
        waiting = Counter(user.tolist()) - Counter(guess[guess >= 0].tolist())
        assert len(waiting) <= 2
