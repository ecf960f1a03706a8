"""Transactions of concepts, and what generalizing them costs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.clump import reference_ggd, reference_lcg, reference_loss
from trees import FOOD, bags, lists, trees, trees_with_bags

from querycloak.knowledge.generalization import generalization, leaf_loss, transactions_by_owner
from querycloak.knowledge.taxonomy import Taxonomy


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 9)), max_size=30))
def test_transactions_gather_what_each_owner_has(rows):
    owner, concept = (np.array([r[i] for r in rows], dtype=np.int32) for i in range(2))
    expected = [sorted(c for o, c in rows if o == who and c >= 0) for who in range(5)]
    assert lists(transactions_by_owner(owner, concept, owners=5)) == expected


@given(trees())
def test_loss_is_the_share_of_leaves_below(taxonomy):
    loss, divisor = leaf_loss(taxonomy)
    assert [Fraction(int(n), divisor) for n in loss] == [reference_loss(taxonomy, v) for v in range(len(taxonomy))]


def test_loss_of_figure_1():
    loss, divisor = leaf_loss(FOOD)
    found = {FOOD.label(c): Fraction(int(loss[c]), divisor) for c in range(len(FOOD))}
    assert (found["food"], found["apple"]) == (1, 0)
    assert (found["fruit"], found["meat"], found["dairy"]) == (Fraction(2, 7), Fraction(1, 7), Fraction(2, 7))


def test_a_taxonomy_of_one_leaf_loses_nothing():
    chain = Taxonomy.from_parents([-1, 0, 1], [["a"], ["b"], ["c"]])
    found = generalization(chain, bags([[2], [2, 1]]), bags([[0], [0]]))
    assert found.distortion == 1  # the suppressed item


@given(trees_with_bags(fewest=1, most=5))
def test_the_cost_of_a_cluster_is_ggd(case):
    taxonomy, members = case
    shared = reference_lcg(taxonomy, members)
    found = generalization(taxonomy, bags(members), bags([shared] * len(members)))
    assert found.distortion == pytest.approx(float(reference_ggd(taxonomy, members, shared)))
    assert found.worst == sum(map(len, members))
    assert found.level == pytest.approx(1 + np.mean([taxonomy.depth[c] for c in shared]))
    assert found.root == pytest.approx(shared.count(0) / len(shared))
    assert found.suppressed == pytest.approx(1 - len(shared) * len(members) / found.worst)
