from __future__ import annotations

import numpy as np
from reference.claim import likenesses, shares
from sample_trials import as_it_is
from samples import sample_log

from querycloak.attacks.likeness import Likeness, share_of_top
from querycloak.attacks.vectors import text_spaces

LOG = sample_log(users=12)
SPACES = text_spaces(LOG, as_it_is(LOG))


def test_the_sum_of_cosines():
    people, texts = np.array([7, 2], dtype=np.int32), np.array([5, 0, 3])
    likeness = Likeness.of(SPACES, LOG, people, texts)
    expected = likenesses(SPACES, LOG, people)
    for p in (0, 1, 0):  # nothing of one person is left for the next
        np.testing.assert_allclose(likeness.of_person(p, np.array([3, 5])), expected[p, [3, 5]], atol=1e-5)


def test_a_person_of_whom_nothing_is_known():
    likeness = Likeness.of(SPACES, LOG.take(LOG.user != 7), np.array([7], dtype=np.int32), np.array([1, 2]))
    assert likeness.of_person(0, np.array([1, 2])).tolist() == [0.0, 0.0]


def test_shares_against_the_reference():
    random = np.random.default_rng(2)
    for n in range(9):
        score = random.integers(0, 4, n).astype(np.float64)
        for most in (1, 3, 5):
            expected = shares(score.tolist(), most)
            np.testing.assert_allclose(share_of_top(score, most), [expected[i] for i in range(n)], atol=1e-12)
