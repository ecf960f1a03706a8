from __future__ import annotations

import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.attack import users_with_unique_pair
from sample_releases import distinct_log, queries_of, release_of

from querycloak.attacks.uniqueness import uniqueness
from querycloak.randomness import Randomness

LOG = distinct_log()


def shares(published):
    release = release_of(LOG, published, list(range(len(published))))
    return {r.attack: r.rate for r in uniqueness(LOG, release, Randomness(1))}


@pytest.mark.parametrize("most", [0, 1 << 28], ids=["marks", "bits"])
@given(published=st.lists(st.lists(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=70))
def test_equals_the_reference(published, most):
    with patch.object(sys.modules["querycloak.attacks.uniqueness"], "_BITS_AT_MOST", most):
        found = shares(published)
    np.testing.assert_allclose(found["uniqueness, pairs"], np.mean(users_with_unique_pair([set(p) for p in published])))
    queries = {q for p in published for q in p}
    single = [q for q in queries if sum(q in p for p in published) == 1]
    np.testing.assert_allclose(found["uniqueness, queries"], len(single) / max(len(queries), 1))


def test_all_unique_and_none():
    assert shares(queries_of(LOG)) == {"uniqueness, queries": 1.0, "uniqueness, pairs": 1.0}
    assert shares([["a", "b", "c"]] * 3) == {"uniqueness, queries": 0.0, "uniqueness, pairs": 0.0}
    assert shares([["a", "b"], ["a", "c"], ["b", "c"]]) == {"uniqueness, queries": 0.0, "uniqueness, pairs": 1.0}
