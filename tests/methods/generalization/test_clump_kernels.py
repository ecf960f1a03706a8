"""The kernels of clump against their reference implementations, and Lemma 1 with what follows from it."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.clump import largest_matching, reference_clump, reference_ggd, reference_lcg, reference_refine
from trees import FOOD, bag, bags, lists, trees_with_bags

from querycloak.arrays.ragged import Ragged
from querycloak.knowledge.generalization import generalization, leaf_loss
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.methods.generalization import _clump_kernels as kernels
from querycloak.methods.generalization.clump import Clump, clusters_of
from querycloak.randomness import Randomness

PATH_WITH_FORK = Taxonomy.from_parents([-1, 0, 1, 1], [["0"], ["1"], ["2"], ["3"]])


def tree_of(taxonomy, form="least"):
    loss, divisor = leaf_loss(taxonomy)
    return kernels.Tree(taxonomy.parent, taxonomy.size, loss, divisor, taxonomy.height, form == "least")


def lcg(taxonomy, a, b, form="least"):
    """The kernel on two lists; its loss is checked on the way."""
    stack = np.empty((3, taxonomy.height + 2), np.int64)
    out = np.empty(max(len(a), len(b)), np.int32)
    tree = tree_of(taxonomy, form)
    length, loss = kernels.least_common(tree, np.array(a, np.int32), np.array(b, np.int32), stack, out)
    assert loss == tree.loss[out[:length]].sum()
    return sorted(out[:length].tolist())


@given(trees_with_bags(fewest=2, most=2), st.sampled_from(["least", "printed"]))
def test_two_bags_like_the_reference(case, form):
    taxonomy, (a, b) = case
    assert lcg(taxonomy, a, b, form) == reference_lcg(taxonomy, [a, b], form)


@given(trees_with_bags(fewest=2, most=5), st.randoms(use_true_random=False))
def test_lemma_1_merging_one_by_one_in_any_order_gives_the_whole(case, shuffler):
    taxonomy, members = case
    whole = reference_lcg(taxonomy, members)
    shuffler.shuffle(members)
    assert reduce(lambda a, b: lcg(taxonomy, a, b), members) == whole


@given(trees_with_bags(fewest=2, most=5))
def test_length_is_that_of_the_shortest_and_every_item_covers_an_item_of_its_own(case):
    taxonomy, members = case
    shared = reduce(lambda a, b: lcg(taxonomy, a, b), members)
    assert len(shared) == min(map(len, members))
    for member in members:
        assert largest_matching(taxonomy, shared, member) == len(shared)


@given(trees_with_bags(fewest=2, most=4))
def test_printed_form_covers_too_and_is_never_less_distorted(case):
    taxonomy, members = case
    printed = reduce(lambda a, b: lcg(taxonomy, a, b, "printed"), members)
    for member in members:
        assert largest_matching(taxonomy, printed, member) == len(printed) == min(map(len, members))
    least = reference_lcg(taxonomy, members)
    assert reference_ggd(taxonomy, members, least) <= reference_ggd(taxonomy, members, printed)


@given(trees_with_bags(fewest=2, most=3, longest=4))
@settings(max_examples=50)
def test_no_common_generalization_is_more_special(case):
    """Replace any published item by a child of it: some member no longer has an item of its own below it."""
    taxonomy, members = case
    shared = reference_lcg(taxonomy, members)
    for at, item in enumerate(shared):
        for child in taxonomy.children(item):
            closer = [*shared[:at], child, *shared[at + 1 :]]
            assert any(largest_matching(taxonomy, closer, member) < len(closer) for member in members)


def test_smallest_case_where_the_printed_form_breaks_lemma_1():
    members = [[2, 2, 3], [3, 3], [2, 2]]
    assert reference_lcg(PATH_WITH_FORK, members, "printed") == [1, 1]
    assert reduce(lambda a, b: lcg(PATH_WITH_FORK, a, b, "printed"), members) == [0, 1]
    assert reference_lcg(PATH_WITH_FORK, members) == [1, 1]
    assert reduce(lambda a, b: lcg(PATH_WITH_FORK, a, b), members) == [1, 1]


@given(
    trees_with_bags(fewest=2, most=14),
    st.integers(2, 4),
    st.integers(1, 4),
    st.sampled_from(["decreasing", "increasing", "random"]),
    st.sampled_from(["least", "printed"]),
    st.sampled_from(["rise", "total"]),
    st.sampled_from(["all", "search"]),
)
def test_clump_like_the_reference(case, k, search, order, form, choose, leftovers):
    taxonomy, transactions = case
    k = min(k, len(transactions))
    chosen = Clump(k=k, search=search, order=order, lcg=form, choose=choose, leftovers=leftovers, refine=False)
    of, shared = clusters_of(bags(transactions), taxonomy, chosen, Randomness(seed=3))
    shuffled = Randomness(seed=3).child("order").permutation(len(transactions)).tolist()
    members, expected = reference_clump(
        taxonomy,
        transactions,
        k,
        search=search,
        order=order,
        form=form,
        choose=choose,
        leftovers=leftovers,
        shuffled=shuffled,
    )
    assert [sorted(m) for m in members] == [np.flatnonzero(of == c).tolist() for c in range(len(members))]
    assert lists(shared) == expected
    assert np.bincount(of).min() >= k


@given(trees_with_bags(fewest=4, most=12, longest=4), st.integers(2, 3), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_refine_like_the_reference(case, k, search, passes):
    taxonomy, transactions = case
    greedy, before = clusters_of(bags(transactions), taxonomy, Clump(k=k, refine=False), Randomness(seed=3))
    tree, given_bags = tree_of(taxonomy), bags(transactions)
    of = greedy.copy()
    held = given_bags
    gain, _ = kernels.refine_kernel(tree, held, of, k, search, passes)
    members = reference_refine(taxonomy, transactions, greedy.tolist(), k, search, passes)
    assert [sorted(m) for m in members] == [np.flatnonzero(of == c).tolist() for c in range(len(members))]
    after = Ragged(*kernels.generalize_kernel(tree, held, of))
    assert lists(after) == [reference_lcg(taxonomy, [transactions[t] for t in m]) for m in members]
    assert np.bincount(of).min() >= k
    assert np.bincount(of).max() < 2 * k
    costs = [
        generalization(taxonomy, given_bags, shared.take(where)).distortion
        for shared, where in ((before, greedy), (after, of))
    ]
    assert costs[0] - costs[1] == pytest.approx(gain / tree.divisor)
    assert gain >= 0


@given(trees_with_bags(fewest=2, most=9))
def test_generalizing_clusters_from_their_members_gives_what_the_greedy_pass_kept(case):
    taxonomy, transactions = case
    of, shared = clusters_of(bags(transactions), taxonomy, Clump(k=2, refine=False), Randomness(seed=3))
    held = bags(transactions)
    assert lists(Ragged(*kernels.generalize_kernel(tree_of(taxonomy), held, of))) == lists(shared)


@pytest.mark.parametrize(("members", "moves"), [(3, False), (2, True)])
def test_a_cluster_never_grows_to_twice_k(members, moves):
    """The apple among the beef would fit better with the apples, but they may not be four for k = 2."""
    transactions = [bag("apple")] * members + [bag("apple"), bag("beef"), bag("beef")]
    of = np.array([0] * members + [1] * 3, dtype=np.int32)
    held = bags(transactions)
    gain, _ = kernels.refine_kernel(tree_of(FOOD), held, of, 2, 10, 4)
    assert of.tolist() == [0] * members + [0 if moves else 1, 1, 1]
    assert (gain > 0) == moves
