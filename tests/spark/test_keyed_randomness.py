import pickle

import numpy as np
import pytest

from querycloak.errors import ParameterError
from querycloak.spark.keyed_randomness import KeyedRandomness


def test_a_task_that_runs_twice_draws_the_same_and_a_new_release_does_not():
    release = KeyedRandomness()
    again = pickle.loads(pickle.dumps(release))
    assert (release.words(["ann", "bob"], 8) == again.words(["ann", "bob"], 8)).all()
    assert (release.of("ann").words(100) == again.of("ann").words(100)).all()
    assert not (release.words(["ann"], 8) == KeyedRandomness().words(["ann"], 8)).any()


def test_words_of_a_name_do_not_depend_on_who_else_is_there():
    source = KeyedRandomness(seed=3)
    assert source.words(["ann"], 2).tolist() == source.words(["bob", "ann"], 2)[1:].tolist()


def test_purposes_names_and_seeds_have_words_of_their_own():
    source = KeyedRandomness(seed=3)
    drawn = [
        source.words(["ann"])[0, 0],
        source.words(["bob"])[0, 0],
        source.child("ids").words(["ann"])[0, 0],
        source.child("rows").words(["ann"])[0, 0],
        source.of("ann").words(1)[0],
        KeyedRandomness(seed=4).words(["ann"])[0, 0],
    ]
    assert len(set(map(int, drawn))) == len(drawn)


def test_words_are_spread_evenly():
    words = KeyedRandomness(seed=1).words(map(str, range(20_000)))[:, 0]
    counts = np.bincount((words >> np.uint64(60)).astype(np.int64), minlength=16)
    assert ((counts - 1250) ** 2 / 1250).sum() < 45  # chi-square with 15 degrees: above 45 once in 10,000; seeded


def test_the_secret_is_not_shown():
    source = KeyedRandomness()
    assert repr(source) == "KeyedRandomness(secret)"
    assert "secret key" in source.describe()
    assert "experiments" in KeyedRandomness(seed=1).describe()


def test_nonsense_is_refused():
    with pytest.raises(ParameterError):
        KeyedRandomness(seed=-1)
    with pytest.raises(ValueError, match="1 to 8"):
        KeyedRandomness(seed=1).words(["ann"], 9)
