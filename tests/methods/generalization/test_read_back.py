"""A release over WordNet, from file to file: what is read back agrees with the statement to the digit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from places import EXCITE

import querycloak as qc
from querycloak.arrays.ragged import Ragged
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.knowledge.generalization import leaf_loss, transactions_by_owner
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.methods.generalization import _clump_kernels as kernels
from querycloak.randomness import Randomness
from querycloak.releases.classes import distinct_logs

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]


@pytest.fixture(scope="module")
def bench():
    """400 generated users with 60 queries each; mapped once."""
    made = generate(Generate(users=400, queries=24_000, clicks=False), load_wordnet(), Randomness(seed=1))
    return qc.Workbench(made.log)


def read_back(bench, folder, method, **settings):
    """Write a release with its truth, and read both."""
    release = bench.anonymize(method, seed=1, **settings)
    commitment = qc.write_truth(release, bench.log, folder / "truth")
    qc.write_release(release, folder / "release.tsv", commitment=commitment)
    back = qc.read_release(folder / "release.tsv")
    return replace(back, truth=qc.read_truth(folder / "truth", bench.log, back))


def check(bench, back):
    """Measured on what was read, the figures are those of the statement, and no item stands for nothing."""
    (score,) = bench.measure(back, ["generalization"])
    assert {name: score.details[name] for name in back.statement.figures} == back.statement.figures
    assert score.details["false items, share"] == 0
    several = {c for c, path in enumerate(bench.taxonomy.paths) if bench.taxonomy.concept_of_path[path] != c}
    concepts = bench.concepts_of(back)
    assert several & set(concepts.concept.tolist()), "some published path names several concepts, or nothing is tested"
    return concepts


def check_least(bench, back, concepts):
    """Each class publishes the least common generalization of its members, by the file that was read."""
    tree = bench.taxonomy
    asked = transactions_by_owner(bench.concepts.user, bench.concepts.concept, len(bench.log.users)).distinct()
    of, first = distinct_logs(back.log)
    said = transactions_by_owner(concepts.user, concepts.concept, len(back.log.users)).take(first)
    loss, divisor = leaf_loss(tree)
    least = kernels.Tree(tree.parent, tree.size, loss, divisor, tree.height, True)
    found = Ragged(*kernels.generalize_kernel(least, asked.take(back.truth.user), of.astype(np.int32)))
    assert found.to_lists() == said.to_lists()


@pytest.mark.parametrize("form", ["users", "classes"])
def test_clump(bench, tmp_path, form):
    back = read_back(bench, tmp_path, "clump", k=5, output_form=form)
    check_least(bench, back, check(bench, back))


@pytest.mark.parametrize(
    ("method", "settings"),
    [("partition", {"k": 2}), ("clump", {"as_in_paper": True}), ("clump", {"prune": True, "output_form": "classes"})],
)
def test_other_settings(bench, tmp_path, method, settings):
    check(bench, read_back(bench, tmp_path, method, **settings))


def test_classes_are_attacked_as_users_are(bench, tmp_path):
    found = [
        bench.attack(read_back(bench, tmp_path, "clump", k=5, output_form=form), ["consistent-classes"], seed=1)
        for form in ("users", "classes")
    ]
    assert [(a.attack, a.rate, a.targets) for a in found[0]] == [(a.attack, a.rate, a.targets) for a in found[1]]
    assert len(found[0]) > 0


@pytest.mark.data
@pytest.mark.skipif(not EXCITE.exists(), reason="the real logs are not next to the checkout")
def test_a_real_log(tmp_path):
    bench = qc.Workbench(qc.read_log(EXCITE))
    back = read_back(bench, tmp_path, "clump", k=5)
    check_least(bench, back, check(bench, back))
    check(bench, read_back(bench, tmp_path, "partition", k=2))
