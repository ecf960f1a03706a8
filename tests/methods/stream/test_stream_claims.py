"""What the method claims on a generated log with a directory-like tree; the card has the table of a longer one."""

from __future__ import annotations

import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.generator.tree import generate_directory_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.randomness import Randomness

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench():
    random = Randomness(seed=3)
    tree = generate_directory_tree(load_wordnet(), random.child("tree"), depth=13, categories=5000)
    settings = Generate(users=1300, queries=60_000, clicks=False, categories=True, order="time")
    return Workbench(generate(settings, tree, random.child("log")).log)


def test_the_attackers_of_the_paper_stay_below_1_in_k_and_fall_with_k(bench):
    for depth in (1, 5, 11):
        best = []
        for k in (3, 10, 30):
            release = bench.anonymize("self-adjusting", seed=1, k=k, depth=depth)
            assert release.statement.figures["fewest candidates"] >= k
            simple, full, _ = bench.attack(release, ["stream-linkage"], seed=1)
            best.append(max(simple.rate, full.rate))
            assert max(simple.high, full.high) < 1 / k
        assert best == sorted(best, reverse=True)


def test_nearly_all_leaves_where_the_baseline_keeps_much_back(bench):
    """At k = 3: over 99 % at every depth; 40 % or more stays behind at fixed depth 11."""
    n = len(bench.log)
    for depth in (1, 5, 11):
        release = bench.anonymize("self-adjusting", seed=1, k=3, depth=depth, as_in_paper=True)
        assert len(release.log) > 0.99 * n
    fixed = bench.anonymize("fixed-depth", seed=1, k=3, depth=11, as_in_paper=True)
    assert len(fixed.log) < 0.6 * n


def test_the_distance_of_categories_falls_with_the_depth(bench):
    """It falls, but not to the 2 % of the paper, which the algorithm as printed does not reach: see the card."""
    shares = []
    for depth in (1, 5, 11):
        release = bench.anonymize("self-adjusting", seed=1, k=3, depth=depth, as_in_paper=True)
        shares.append(bench.measure(release, ["category-emd"])[1].value)
    assert shares == sorted(shares, reverse=True)
