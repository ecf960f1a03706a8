"""Clump1 and Clump2 of Milani Fard and Wang, section V: what each figure counts, worked out by hand."""

from __future__ import annotations

import pytest
from trees import FOOD, bag, log_of

from querycloak.methods.generalization.clump import Clump, clump
from querycloak.randomness import Randomness

ASKED = [bag("orange apple"), bag("orange banana milk"), bag("banana apple beef")]  # Example 5: <fruit, fruit>


@pytest.mark.parametrize(
    ("duplicates", "distortion", "length"),
    [
        # three transactions of <fruit, fruit> cost 3 · 2 · 2/7; milk and beef are suppressed
        ("keep", 3 * 2 * 2 / 7 + 2, 2.0),
        # of <fruit> 3 · 2/7; of the 8 items 3 are represented
        ("drop", 3 * 2 / 7 + 5, 1.0),
    ],
)
@pytest.mark.parametrize("form", ["least", "printed"])
def test_duplicates_that_are_dropped_count_as_suppressed(duplicates, distortion, length, form) -> None:
    log, concepts = log_of(ASKED)
    chosen = Clump(k=3, duplicates=duplicates, lcg=form, refine=False)
    release = clump(log, chosen, Randomness(1), concepts=concepts, taxonomy=FOOD)
    figures = release.statement.figures
    assert figures["distortion"] == pytest.approx(distortion)
    assert figures["mean transaction length"] == length
    assert figures["mean level of items (root = 1)"] == 2
    assert figures["density"] == pytest.approx(8 / (3 * 8))


def test_only_the_first_r_clusters_with_room_are_tried() -> None:
    """Step 2. Seeds are <milk, cheese, butter> and <apple, banana>; <apple, orange> is next, and belongs to the second.

    With r = 1 only the first cluster is looked at, and all is lost but two foods.
    """
    log, concepts = log_of([bag("milk cheese butter"), bag("apple orange"), bag("apple banana"), bag("milk cheese")])
    distortion = {}
    for search in (1, 2):
        chosen = Clump(k=2, search=search, order="decreasing", choose="total", lcg="printed", refine=False)
        release = clump(log, chosen, Randomness(1), concepts=concepts, taxonomy=FOOD)
        distortion[search] = release.statement.figures["distortion"]
    assert distortion[2] == pytest.approx(1 + 2 * 2 / 7)  # butter is suppressed; <apple, fruit> twice
    assert distortion[1] == pytest.approx((2 * 2 + 1) + 2 * 2)
