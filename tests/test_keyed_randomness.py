import pickle

import numpy as np
import pytest

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.randomness import Randomness


def keyed(seed=3, purpose="ids"):
    return KeyedRandomness(Randomness(seed).child(purpose))


def test_a_task_that_runs_twice_draws_the_same_and_a_new_release_does_not():
    release = KeyedRandomness(Randomness())
    again = pickle.loads(pickle.dumps(release))
    assert (release.words(["ann", "bob"], 8) == again.words(["ann", "bob"], 8)).all()
    assert (release.of("ann").words(100) == again.of("ann").words(100)).all()
    assert not (release.words(["ann"], 8) == KeyedRandomness(Randomness()).words(["ann"], 8)).any()


def test_words_of_a_name_do_not_depend_on_who_else_is_there():
    assert keyed().words(["ann"], 2).tolist() == keyed().words(["bob", "ann"], 2)[1:].tolist()


def test_purposes_names_turns_and_seeds_have_words_of_their_own():
    drawn = [
        keyed().words(["ann"])[0, 0],
        keyed().words(["bob"])[0, 0],
        keyed().words(["ann"], turn=1)[0, 0],
        keyed(purpose="rows").words(["ann"])[0, 0],
        keyed().of("ann").words(1)[0],
        keyed(seed=4).words(["ann"])[0, 0],
    ]
    assert len(set(map(int, drawn))) == len(drawn)


def test_words_are_spread_evenly():
    words = keyed(seed=1).words(map(str, range(20_000)))[:, 0]
    counts = np.bincount((words >> np.uint64(60)).astype(np.int64), minlength=16)
    assert ((counts - 1250) ** 2 / 1250).sum() < 45  # chi-square with 15 degrees: above 45 once in 10,000; seeded


def test_the_secret_is_not_shown():
    assert repr(KeyedRandomness(Randomness())) == "KeyedRandomness(secret)"


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="1 to 8"):
        keyed().words(["ann"], 9)


def test_ids_do_not_depend_on_the_order_of_names_even_where_candidates_meet(monkeypatch):
    def few(self, names, n=1, turn=0):
        return real(self, names, n, turn) % np.uint64(40)

    real = KeyedRandomness.words
    monkeypatch.setattr(KeyedRandomness, "words", few)
    names = [f"u{i}" for i in range(25)]
    avoid = {f"{i:016x}" for i in range(5)}
    ids = dict(zip(names, keyed().identifiers(names, avoid=avoid), strict=True))
    assert len(set(ids.values())) == 25
    assert not avoid & set(ids.values())
    back = names[::-1]
    assert dict(zip(back, keyed().identifiers(back, avoid=avoid), strict=True)) == ids


def test_ids_of_digits_have_twelve():
    ids = keyed().identifiers(["1", "2"], digits=True)
    assert all(len(text) == 12 and text.isdigit() for text in ids)
