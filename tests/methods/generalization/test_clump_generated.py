"""Clump against partition on a generated log over WordNet: what the method card says, held by tests."""

from __future__ import annotations

import numpy as np
import pytest

from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.knowledge.generalization import generalization, transactions_by_owner
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.measures.generalization import generalization as measure
from querycloak.methods.generalization.clump import Clump, clump, clusters_of
from querycloak.methods.generalization.partition import Partition, partition, parts_of
from querycloak.randomness import Randomness

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def taxonomy():
    return load_wordnet()


@pytest.fixture(scope="module")
def made(taxonomy):
    return generate(Generate(users=10_000, queries=280_000, clicks=False), taxonomy, Randomness(seed=1))


@pytest.fixture(scope="module")
def sets(made):
    found = transactions_by_owner(made.concepts.user, made.concepts.concept, owners=10_000).distinct()
    found = found.take(np.flatnonzero(found.lengths > 0))
    assert 18 < found.lengths.mean() < 24, "about 21 concepts a user, as in the paper"
    return found


def clumped(sets, taxonomy, **settings):
    of, shared = clusters_of(sets, taxonomy, Clump(**settings), Randomness(seed=1))
    assert np.bincount(of).min() >= settings["k"]
    return generalization(taxonomy, sets, shared.take(of)), generalization(taxonomy, sets, shared.distinct().take(of))


@pytest.mark.parametrize("k", [5, 7, 10, 15])
def test_clump_distorts_less_than_partition_and_is_longer_with_duplicates(sets, taxonomy, k):
    kept, dropped = clumped(sets, taxonomy, k=k, refine=False)
    of, shared = parts_of(sets, taxonomy, k)
    assert np.bincount(of).min() >= k
    baseline = generalization(taxonomy, sets, shared.take(of))
    assert kept.distortion < baseline.distortion
    assert kept.length > dropped.length
    assert kept.length > baseline.length


def test_refining_lowers_distortion_by_a_twentieth_or_more(sets, taxonomy):
    before, _ = clumped(sets, taxonomy, k=5, refine=False)
    after, _ = clumped(sets, taxonomy, k=5, refine=True, passes=1)
    assert after.distortion <= 0.95 * before.distortion


def test_the_least_generalization_distorts_less_than_the_printed_one(sets, taxonomy):
    least, _ = clumped(sets, taxonomy, k=5, refine=False)
    printed, _ = clumped(sets, taxonomy, k=5, lcg="printed")
    assert least.distortion < printed.distortion


@pytest.mark.parametrize(("method", "settings"), [(clump, Clump(refine=False)), (partition, Partition())])
def test_every_published_item_stands_for_one_of_its_user(made, taxonomy, method, settings):
    needs = {"concepts": made.concepts, "taxonomy": taxonomy}
    release = method(made.log, settings, Randomness(seed=1), **needs)
    theirs = release.concepts(taxonomy, None)
    score = measure(made.log, release, Randomness(seed=1), release_concepts=theirs, **needs)
    assert score.details["false items, share"] == 0
    assert {name: score.details[name] for name in release.statement.figures} == release.statement.figures
