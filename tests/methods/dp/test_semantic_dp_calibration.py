"""The true loss of semantic-dp is its claim, less two percent at most: computed exactly over whole domains."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import semantic_dp as definition
from reference import semantic_dp_loss as reference

import querycloak as qc
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topics import read_topics
from querycloak.methods.dp._semantic_dp_calibration import LARGEST_CALIBRATED, anchor
from querycloak.methods.dp._semantic_dp_kernels import FULL
from querycloak.methods.dp._semantic_dp_loss_kernels import worst_losses
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism

CRITERIA = ("sqc1", "sqc2", "nsqc")
LEAST = Decimal("0.98")


@pytest.fixture(scope="module")
def wordnet():
    taxonomy = qc.load_taxonomy()
    return taxonomy, read_topics("paper", taxonomy)


def exact_loss(taxonomy, root, criterion, topics, epsilon):
    """ln of the worst ratio of the whole-number weights that the draws use, the input without a concept included."""
    mechanism = Mechanism.over(taxonomy, [root], criterion=criterion, profile=topics)
    tables = mechanism.calibration.tables([epsilon], [0])
    far = int(tables.far[0])
    if criterion == "nsqc":  # all totals are equal, and 1 / n is between both probabilities
        return definition.loss_of(Fraction(FULL, far))
    near = [[int(w) for w in row] for row in tables.near[0]]
    found = reference.worst_ratio(taxonomy, root, topics if criterion == "sqc2" else (), near, far)
    return definition.loss_of(found)


def assert_tight(loss, epsilon):
    assert LEAST * Decimal(epsilon) <= loss <= Decimal(epsilon), f"{float(loss) / epsilon:.4f} of epsilon"


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("epsilon", [0.05, 0.15, 1.0, 10.0])
def test_topics_of_the_paper_spend_what_they_claim(wordnet, criterion, epsilon):
    taxonomy, topics = wordnet
    for root in {*topics.main, *topics.fine}:
        assert_tight(exact_loss(taxonomy, root, criterion, topics.fine, epsilon), epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("epsilon", [1e-9, 0.15, 1.0, 10.0, LARGEST_CALIBRATED])
@pytest.mark.parametrize("domain", ["all", "one"])
def test_wide_domains_spend_what_they_claim(wordnet, criterion, epsilon, domain):
    taxonomy, topics = wordnet
    root = 0 if domain == "all" else topics.common(taxonomy)
    assert_tight(exact_loss(taxonomy, root, criterion, topics.fine, epsilon), epsilon)


@pytest.mark.slow
def test_every_shape_of_a_domain_in_wordnet_spends_what_it_claims(wordnet):
    """All concepts with up to 999 others below them, as a domain, one of each shape: a shape is the list of parents."""
    taxonomy, _ = wordnet
    shapes = {
        tuple((taxonomy.parent[c + 1 : c + n] - c).tolist())
        for c, n in enumerate(taxonomy.size.tolist())
        if 2 <= n <= 1000
    }
    assert len(shapes) > 1000
    for i, shape in enumerate(sorted(shapes)):
        small = Taxonomy.from_parents([-1, *shape], [[f"c{j}"] for j in range(len(shape) + 1)])
        epsilon = (0.01, 0.15, 1.0, 3.0, 10.0, 30.0)[i % 6]
        assert_tight(exact_loss(small, 0, "sqc1", (), epsilon), epsilon)


@st.composite
def trees(draw, most=14):
    n = draw(st.integers(2, most))
    parents = [-1, *(draw(st.integers(0, i - 1)) for i in range(1, n))]
    taxonomy = Taxonomy.from_parents(parents, [[f"c{i}"] for i in range(n)])
    topics = []
    for c in draw(st.lists(st.integers(0, n - 1), max_size=5)):
        if not any(taxonomy.covers(c, o) or taxonomy.covers(o, c) for o in topics):
            topics.append(c)
    return taxonomy, topics


@given(trees(), st.sampled_from(["sqc1", "sqc2"]), st.sampled_from([1e-9, 0.15, 3.0, 30.0]))
@settings(deadline=None, max_examples=80)
def test_the_reference_over_cells_is_the_definition_over_all_pairs(case, criterion, epsilon):
    taxonomy, topics = case
    mechanism = Mechanism.over(taxonomy, [0], criterion=criterion, profile=topics)
    table = {c: mechanism.probabilities(c, epsilon) for c in range(len(taxonomy))}
    expected = definition.loss_of(definition.worst_ratio(table, len(taxonomy)))
    assert exact_loss(taxonomy, 0, criterion, topics, epsilon) == expected


def assert_worst_case_of_the_formula(taxonomy, topics, criterion, k):
    """Compare the kernel with the definition over all pairs, in floating point."""
    n = len(taxonomy)
    c = Mechanism.over(taxonomy, [0], criterion=criterion, profile=topics).calibration
    wide = definition.spread(taxonomy, 0, criterion, topics)
    rows = [definition.probabilities(taxonomy, 0, criterion, topics, i, anchor(k), wide) for i in range(n)]
    rows.append(dict.fromkeys(range(n), 1 / n))
    ratio = max(max(r[o] for r in rows) / min(r[o] for r in rows) for o in range(n))
    weights = np.exp(-anchor(k) * np.minimum(1.0, c.loss[None] / c.spread[:, None, None]))
    found = worst_losses(c.cells, weights, float(np.exp(-anchor(k))), c.size)
    assert found[0] == pytest.approx(np.log(ratio), abs=1e-11)


@given(trees(), st.sampled_from(["sqc1", "sqc2"]), st.sampled_from([1, 4, 9, 28]))
@settings(deadline=None, max_examples=80)
def test_the_worst_case_at_an_anchor_is_that_of_the_formula(case, criterion, k):
    assert_worst_case_of_the_formula(*case, criterion, k)


@pytest.mark.parametrize("k", [1, 9])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_worst_case_of_an_uneven_tree_is_that_of_the_formula(seed, k):
    """40 concepts: inputs that give an outcome the same weight have totals that differ."""
    source = np.random.default_rng(seed)
    parents = [-1, *(int(source.integers(max(0, i - 12), i)) for i in range(1, 40))]
    taxonomy = Taxonomy.from_parents(parents, [[f"c{i}"] for i in range(40)])
    assert_worst_case_of_the_formula(taxonomy, [], "sqc1", k)


def test_several_domains_are_calibrated_one_by_one():
    """A star and a chain: what one allows, the other does not."""
    taxonomy = Taxonomy.from_parents([-1, 0, 1, 1, 1, 1, 0, 6, 7, 8, 9], [[f"c{i}"] for i in range(11)])
    both = Mechanism.over(taxonomy, [1, 6], criterion="sqc1").calibration
    alone = [Mechanism.over(taxonomy, [root], criterion="sqc1").calibration.rate(1.0, 0) for root in (1, 6)]
    assert [both.rate(1.0, number) for number in (0, 1)] == alone
    assert alone[0] != alone[1]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-13, 86.0, 1e6, 1e308])
def test_beyond_what_whole_numbers_can_tell_apart_the_papers_rate_holds(criterion, epsilon):
    taxonomy = Taxonomy.from_parents([-1, 0, 0, 1, 1], [[f"c{i}"] for i in range(5)])
    mechanism = Mechanism.over(taxonomy, [0], criterion=criterion, profile=[1])
    table = {c: mechanism.probabilities(c, epsilon) for c in range(5)}
    assert definition.loss_of(definition.worst_ratio(table, 5)) <= Decimal(epsilon)
    assert mechanism.calibration.rate(epsilon, 0) >= epsilon / 2
