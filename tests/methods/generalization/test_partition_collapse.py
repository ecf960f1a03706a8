"""Partition over k: no k publishes (nearly) everybody as the root alone, on heavy users too."""

from __future__ import annotations

import numpy as np
import pytest
from places import DATA

import querycloak as qc
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.knowledge.generalization import transactions_by_owner
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.methods.generalization.partition import parts_of
from querycloak.randomness import Randomness

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]


def heaviest(concepts, users, most):
    """Sets of concepts of the users who have most of them."""
    sets = transactions_by_owner(concepts.user, concepts.concept, owners=users).distinct()
    return sets.take(np.sort(np.argsort(-sets.lengths, kind="stable")[:most]))


def check_no_collapse(sets):
    """For each k of 2 to 20 there are many parts, and few users are published as the root alone.

    Before users were moved one by one, these inputs had one part, the root, for most k.
    """
    for k in range(2, 21):
        of, shared = parts_of(sets, load_wordnet(), k)
        assert np.bincount(of).min() >= k
        root_only = (shared.lengths == 1) & (shared.values[shared.start[:-1]] == 0)
        assert root_only[of].mean() < 0.25, k
        assert shared.rows >= sets.rows / (4 * k), k


@pytest.mark.parametrize(
    ("users", "each", "most", "seed"), [(1000, 60, 300, 1), (1000, 60, 300, 2), (1500, 100, 500, 2)]
)
def test_heavy_users_of_a_generated_log(users, each, most, seed):
    made = generate(Generate(users=users, queries=users * each, clicks=False), load_wordnet(), Randomness(seed=seed))
    check_no_collapse(heaviest(made.concepts, users, most))


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the real logs are not next to the checkout")
@pytest.mark.parametrize("most", [100, 300, 724])
def test_heavy_users_of_a_real_log(most):
    log = qc.read_log(DATA / "excite-small.log")
    check_no_collapse(heaviest(qc.map_log(log), len(log.users), most))
