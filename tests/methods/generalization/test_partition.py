"""Partition: the paper's worked example, the release, and what is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from trees import FOOD, TABLE_II, bags, log_of, published, words

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


def test_refused():
    with pytest.raises(InputError, match="partition with k = 6 needs 6 or more users"):
        run(TABLE_II, 6)
    with pytest.raises(ParameterError, match=r"Partition\.k must be an integer >= 2, got 1"):
        Partition(k=1)
