"""Partition: the paper's worked example, the release, and what is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from trees import FOOD, TABLE_II, bag, bags, log_of, published, words

from querycloak.errors import InputError, ParameterError
from querycloak.knowledge.generalization import generalization
from querycloak.methods.generalization.partition import Partition, partition, parts_of
from querycloak.randomness import Randomness


def run(transactions, k, *, unmapped=()):
    log, concepts = log_of(transactions, unmapped=unmapped)
    return partition(log, Partition(k=k), Randomness(1), concepts=concepts, taxonomy=FOOD)


def test_table_ii():
    of, shared = parts_of(bags(TABLE_II), FOOD, k=2)
    assert of[0] == of[3]
    assert of[1] == of[2] == of[4] != of[0]
    nodes = {int(p): words(shared.values[shared.start[p] : shared.start[p + 1]]) for p in set(of.tolist())}
    assert nodes[int(of[0])] == ["fruit", "meat"]
    assert nodes[int(of[1])] == ["food"]
    # The paper's own sum, term by term. It prints 8.85 for it: a slip of one, since the sum is 69 / 7 = 9.857.
    by_the_paper = (2 * (2 / 7 + 1 / 7) + 1) + (3 * 1 + 5)
    assert generalization(FOOD, bags(TABLE_II), shared.take(of)).distortion == pytest.approx(by_the_paper)
    assert by_the_paper == pytest.approx(8.857 + 1, abs=1e-3)


def test_release_of_table_ii():
    release = run(TABLE_II, 2, unmapped=["nobody"])
    assert sorted(Counter(map(tuple, published(release).values())).items()) == [
        ((("food", "food"),), 3),
        ((("fruit", "food/fruit"), ("meat", "food/meat")), 2),
    ]
    assert release.kind == "items"
    assert release.statement.parameters == {"k": 2}
    assert release.statement.figures["distortion"] == pytest.approx(69 / 7)
    assert release.statement.dropped["of users without any concept"] == 1


ODD = [*[bag("apple beef")] * 3, *[bag("apple orange beef")] * 9, bag("milk"), bag("milk cheese")]
"""12 users with fruit and meat, 2 with dairy."""


def test_a_few_odd_users_do_not_pull_everybody_up_to_the_root():
    """Of 12 users alike, only the 3 that 2 odd ones lack at k = 5 keep the root: those with the fewest items."""
    of, shared = parts_of(bags(ODD), FOOD, k=5)
    nodes = [words(shared.values[shared.start[p] : shared.start[p + 1]]) for p in of.tolist()]
    assert nodes == [["food"]] * 3 + [["apple", "beef", "orange"]] * 9 + [["food"]] * 2


def test_a_whole_group_joins_where_nobody_can_be_spared():
    of, shared = parts_of(bags([*[bag("apple")] * 5, *[bag("beef")] * 6, bag("milk")]), FOOD, k=5)
    published_nodes = [words(shared.values[shared.start[p] : shared.start[p + 1]]) for p in of.tolist()]
    # fruit gains 5 x 5/7 by the split, meat 6 x 6/7: only one user can be spared, and 4 are missing
    assert published_nodes == [["food"]] * 5 + [["beef"]] * 6 + [["food"]]


def test_a_group_of_k_hands_nobody_over():
    """Fruit gains less than meat by the split, and has nobody to spare: all four that are missing come from meat."""
    of, shared = parts_of(bags([*[bag("apple")] * 5, *[bag("beef")] * 9, bag("milk")]), FOOD, k=5)
    nodes = [words(shared.values[shared.start[p] : shared.start[p + 1]]) for p in of.tolist()]
    assert nodes == [["apple"]] * 5 + [["food"]] * 4 + [["beef"]] * 5 + [["food"]]


def test_refused():
    with pytest.raises(InputError, match="partition with k = 6 needs 6 or more users"):
        run(TABLE_II, 6)
    with pytest.raises(ParameterError, match=r"Partition\.k must be an integer >= 2, got 1"):
        Partition(k=1)
