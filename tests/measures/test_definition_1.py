"""Example 1 of Milani Fard and Wang: which transactions are generalized transactions of <orange, beef>."""

from __future__ import annotations

from itertools import combinations_with_replacement

from trees import FOOD, bag, bags

from querycloak.measures._generalization_kernels import standing_kernel

EXAMPLE_1 = [
    "",
    *("orange", "beef", "fruit", "meat", "food"),
    *("orange beef", "fruit beef", "orange meat", "fruit meat", "orange food", "food beef"),
    *("fruit food", "food meat", "food food"),
]


def test_a_transaction_is_generalized_if_every_item_stands_for_an_item_of_its_own() -> None:
    """All bags of up to three items are tried; those of Example 1 are found, and no others."""
    found = []
    for size in range(4):
        for items in combinations_with_replacement(range(len(FOOD)), size):
            asked, published = bags([bag("orange beef")]), bags([items])
            if standing_kernel(FOOD.parent, FOOD.size, FOOD.height, asked, published) == size:
                found.append(sorted(items))
    assert sorted(found) == sorted(bag(words) for words in EXAMPLE_1)
