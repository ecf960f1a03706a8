"""The measure of generalization, on releases of clump and partition and on releases that lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from reference.clump import largest_matching
from trees import FOOD, TABLE_II, bag, bags, concept_log, log_of, trees_with_bags

from querycloak.errors import InputError
from querycloak.knowledge.generalization import generalization as cost
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.measures._generalization_kernels import standing_kernel
from querycloak.measures.generalization import generalization
from querycloak.methods.generalization.clump import Clump, clump
from querycloak.randomness import Randomness


def made(transactions=TABLE_II, taxonomy=FOOD, /, **settings):
    """(log, release, concepts, concepts of the release)."""
    log, concepts = log_of(transactions, taxonomy)
    release = clump(log, Clump(refine=False, **settings), Randomness(1), concepts=concepts, taxonomy=taxonomy)
    return log, release, concepts, of_release(release, taxonomy)


def of_release(release, taxonomy=FOOD):
    return release.concepts(taxonomy, None)


def measured(log, release, concepts, release_concepts, taxonomy=FOOD):
    needs = {"concepts": concepts, "release_concepts": release_concepts, "taxonomy": taxonomy}
    return generalization(log, release, Randomness(1), **needs)


def test_finds_what_the_statement_says():
    log, release, concepts, theirs = made(k=2)
    score = measured(log, release, concepts, theirs)
    assert score.value == pytest.approx(46 / 7 / 13)
    assert score.better == "lower"
    for name, figure in release.statement.figures.items():
        assert score.details[name] == figure, name
    assert score.details["false items, share"] == 0
    assert score.details["density"] == pytest.approx(13 / (5 * 8))


def test_without_the_truth_items_are_taken_at_their_word():
    log, release, concepts, theirs = made(k=2)
    score = measured(log, replace(release, truth=None), concepts, theirs)
    assert score.value == pytest.approx(46 / 7 / 13)
    assert "false items, share" not in score.details


def test_an_item_that_stands_for_nothing_is_found():
    log, release, concepts, theirs = made(k=2)
    lie = concept_log(release.log, np.where(theirs.concept == bag("chicken")[0], bag("milk")[0], theirs.concept))
    score = measured(log, release, concepts, lie)
    # t3 has milk; t4 and t5 do not
    assert score.details["false items, share"] == pytest.approx(2 / 12)
    assert score.details["distortion"] == pytest.approx(46 / 7 + 2)


def test_users_left_out_count_as_suppressed():
    log, release, concepts, theirs = made(k=2)
    gone = release.log.user == 0
    fewer = replace(release, log=release.log.take(~gone))
    rest = concept_log(fewer.log, theirs.concept[~gone])
    length = len(TABLE_II[int(release.truth.user[0])])
    assert measured(log, fewer, concepts, rest).details["items suppressed, share"] >= length / 13


def test_bags_are_counted_where_the_release_says_bags():
    twice = [[c for c in items for _ in range(2)] for items in TABLE_II]
    log, release, concepts, theirs = made(twice, k=2, transactions="bags")
    score = measured(log, release, concepts, theirs)
    assert score.details["distortion, worst case"] == 26
    assert score.details["distortion"] == pytest.approx(release.statement.figures["distortion"])


RIVERS = Taxonomy.from_parents([-1, 0, 0, 0], [["river"], ["Avon"], ["Avon"], ["Trent"]])


def test_siblings_of_one_label_are_no_lie_where_only_paths_are_published():
    log, release, concepts, _ = made([[2, 3], [2, 3]], RIVERS, k=2)
    old = replace(release, log=replace(release.log, extra=None))  # as before releases had keys
    theirs = of_release(old, RIVERS)
    assert theirs.concept.tolist() == [1, 3, 1, 3]
    assert measured(log, old, concepts, theirs, RIVERS).details["false items, share"] == 0


def test_keys_tell_siblings_of_one_label_apart():
    log, release, concepts, theirs = made([[2, 3], [2, 3]], RIVERS, k=2)
    assert theirs.concept.tolist() == [2, 3, 2, 3]
    lie = concept_log(release.log, [1, 3, 1, 3])
    assert measured(log, release, concepts, theirs, RIVERS).details["false items, share"] == 0
    assert measured(log, release, concepts, lie, RIVERS).details["false items, share"] == 0.5


def test_costs_are_those_of_the_tree_that_was_pruned():
    log, release, concepts, theirs = made(k=2, prune=True)
    score = measured(log, release, concepts, theirs)
    assert {name: score.details[name] for name in release.statement.figures} == release.statement.figures
    assert score.details["density"] == 13 / (5 * 8), "all leaves of the food occur in Table II"
    fruit = [bag("apple beef"), bag("orange beef")]
    log, release, concepts, theirs = made(fruit, k=2, prune=True)
    assert release.statement.figures["density"] == 4 / (2 * 3), "apple, orange and beef are left"
    assert release.statement.figures["distortion"] == 2 * (2 - 1) / (3 - 1)
    assert measured(log, release, concepts, theirs).details["distortion"] == 1
    elsewhere = concept_log(release.log, [bag("milk")[0]] * len(release.log))
    with pytest.raises(InputError, match="above none of the log"):
        measured(log, release, concepts, elsewhere)


def test_a_release_over_another_taxonomy_is_refused():
    log, release, concepts, _ = made(k=2)
    unknown = concept_log(release.log, np.full(len(release.log), -1))
    with pytest.raises(InputError, match="12 of 12 published rows have a concept that is not in taxonomy"):
        measured(log, release, concepts, unknown)


@given(trees_with_bags(fewest=2, most=6))
def test_greedy_matching_is_the_largest(case):
    taxonomy, given_bags = case
    half = len(given_bags) // 2
    asked, claimed = given_bags[:half], given_bags[half : 2 * half]
    found = standing_kernel(taxonomy.parent, taxonomy.size, taxonomy.height, bags(asked), bags(claimed))
    assert found == sum(largest_matching(taxonomy, c, a) for a, c in zip(asked, claimed, strict=True))


def test_nothing_at_all():
    empty = bags([])
    found = cost(FOOD, empty, empty)
    assert (found.distortion, found.share, found.length, found.level, found.density) == (0, 0, 0, 0, 0)
