from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from item_releases import item_release
from reference import consistent_classes as reference
from trees import FOOD, TABLE_II, bag, concept_log, log_of, trees_with_bags

from querycloak.arrays.ragged import Ragged
from querycloak.attacks._consistency_kernels import Items, Rule, name_classes
from querycloak.attacks.consistent_classes import consistent_classes
from querycloak.attacks.halves import halves
from querycloak.attacks.known_queries import known_queries
from querycloak.attacks.published_classes import PublishedClasses
from querycloak.attacks.result import CannotAttackError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.methods.generalization.clump import Clump, clump
from querycloak.methods.generalization.partition import Partition, partition
from querycloak.randomness import Randomness

RANDOM = Randomness(1)

WIDE = Taxonomy.from_parents(
    [-1, *[0] * 8, *(1 + i // 10 for i in range(80))], [[f"c{i}"] for i in range(89)], name="wide"
)
"""8 topics below the root, 10 leaves each."""
LEAF = [[c for c in range(1, 89) if WIDE.depth[c] == 2 and WIDE.covers(top, c)] for top in WIDE.children(0)]
"""leaves of each topic"""


def attack(log, concepts, release, taxonomy):
    """Both results: whole and half."""
    return consistent_classes(log, release, RANDOM, halves=halves(log, RANDOM), concepts=concepts, taxonomy=taxonomy)


def people(n=40):
    """Transactions that nobody shares: three leaves of one topic, one of another."""
    out = []
    for p in range(n):
        mine, other, step = LEAF[p % 8], LEAF[(p + 1) % 8], p // 8
        out.append(sorted([mine[step], mine[step + 5], mine[(step + 1) % 5], other[9 - step]]))
    return out


# --- the kernel


@given(
    trees_with_bags(fewest=2, most=7),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(1, 1), (10, 3)]),
    st.booleans(),
)
def test_named_classes_equal_the_reference(case, explained, covered, weights, exact):
    tree, rows = case
    half = len(rows) // 2
    known, classes = rows[:half], [sorted(set(row)) if exact else row for row in rows[half:]]
    owner = [i % len(classes) for i in range(half)]
    ids = [2 + c for c in range(len(classes))]
    reach = [reference.ranges(tree, items, exact=exact) for items in classes]
    worth = [[1 + int(tree.depth[c]) for c in items] for items in classes]
    flat = Ragged.of_lists(classes, np.int32)
    ends = np.array([max(r) + 1 for one in reach for r in one], dtype=np.int32)
    worths = np.array([w for one in worth for w in one], dtype=np.int64)
    named = name_classes(
        Ragged.of_lists(known, np.int32),
        Items(flat.start, flat.values, ends, worths),
        np.array(ids),
        np.array(owner, dtype=np.int64),
        Rule(explained, covered, *weights),
    )
    expected = reference.name_classes(
        known, reach, worth, ids, owner, explained=explained, covered=covered, matched=weights[0], missed=weights[1]
    )
    found = zip(named.candidates.tolist(), named.right.tolist(), named.consistent.tolist(), strict=True)
    assert list(found) == expected


# --- what the methods promise is never a fault


@st.composite
def logs_to_generalize(draw):
    """A tree, in which siblings may share their label, and transactions over it."""
    tree, rows = draw(trees_with_bags(fewest=2, most=8, distinct=True))
    names = st.sampled_from(["a", "b", "c"]) if draw(st.booleans()) else None
    labels = [[draw(names)] if names is not None else [f"c{i}"] for i in range(len(tree))]
    return Taxonomy.from_parents(tree.parent, labels), rows


def log_by_concept(rows):
    """Each concept is asked by a query of its own, also where labels are the same."""
    pairs = [(f"u{u}", f"q{c}", c) for u, items in enumerate(rows) for c in items]
    log = QueryLog.of([p[0] for p in pairs], [p[1] for p in pairs])
    return log, concept_log(log, [p[2] for p in pairs])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(logs_to_generalize(), st.sampled_from(["clump", "clump printed", "clump drop", "partition"]))
def test_the_right_class_has_no_fault(case, how):
    tree, rows = case
    log, concepts = log_by_concept(rows)
    if how == "partition":
        release = partition(log, Partition(k=2), RANDOM, concepts=concepts, taxonomy=tree)
    else:
        more = {"clump printed": {"lcg": "printed"}, "clump drop": {"duplicates": "drop"}}.get(how, {})
        release = clump(log, Clump(k=2, **more), RANDOM, concepts=concepts, taxonomy=tree)
    found = PublishedClasses.find(log, release, concepts, tree)
    everyone = release.truth.user
    for whole in (True, False) if how == "partition" else (True,):
        events = np.flatnonzero(log.event)[:: 1 if whole else 2]
        known = found.known(everyone, log.user[events], log.query[events])
        for p in range(len(everyone)):
            right = found.of[p]
            items = found.items
            here = slice(items.start[right], items.start[right + 1])
            one = Items(np.array([0, here.stop - here.start]), items.node[here], items.end[here], items.worth[here])
            mine = Ragged(np.array([0, known.lengths[p]]), known.row(p))
            rule = Rule(whole, found.covers, 1, 1)
            assert name_classes(mine, one, np.ones(1, np.int64), np.zeros(1, np.int64), rule).consistent.tolist() == [1]


def test_partition_an_item_with_items_below_it_is_the_concept_itself():
    log, concepts = log_of([bag("fruit apple"), bag("orange apple")])
    release = item_release(log, FOOD, [bag("fruit apple"), bag("apple")], [0, 1], method="partition")
    found = PublishedClasses.find(log, release, concepts, FOOD)
    known = found.known(np.arange(2), log.user, log.query)
    named = found.name(known, np.array([0, 1]), whole=True)
    assert named.consistent.tolist() == [1, 0]  # the second has an orange, which neither class covers


def test_partition_an_item_of_several_concepts_is_not_exact():
    # two regions: one published for what is below it, the other has an item below it
    tree = Taxonomy.from_parents([-1, 0, 0, 1, 2], [["all"], ["region"], ["region"], ["spot"], ["town"]])
    spot, town = (next(c for c in range(5) if tree.label(c) == name) for name in ("spot", "town"))
    log, concepts = log_of([[spot, town]], tree)
    release = item_release(log, tree, [[int(tree.parent[spot]), town]], [0], method="partition")
    found = PublishedClasses.find(log, release, concepts, tree)
    known = found.known(np.arange(1), log.user, log.query)
    assert found.name(known, np.array([0]), whole=True).consistent.tolist() == [1]


def test_clump_suppresses_so_what_is_not_covered_is_no_fault():
    log, concepts = log_of([bag("orange beef"), bag("apple")])
    release = item_release(log, FOOD, [bag("fruit"), bag("fruit")], [0, 1])
    found = PublishedClasses.find(log, release, concepts, FOOD)
    known = found.known(np.arange(2), log.user, log.query)
    assert found.name(known, np.array([0, 1]), whole=True).consistent.tolist() == [1, 1]


def test_each_item_needs_a_concept_of_its_own():
    log, concepts = log_of([bag("orange"), bag("apple banana")])
    release = item_release(log, FOOD, [bag("fruit fruit"), bag("fruit fruit")], [0, 1])
    found = PublishedClasses.find(log, release, concepts, FOOD)
    known = found.known(np.arange(2), log.user, log.query)
    assert found.name(known, np.array([0, 1]), whole=True).consistent.tolist() == [0, 1]


@pytest.mark.parametrize(("transactions", "consistent"), [("sets", 0), ("bags", 1)])
def test_bags_count_a_concept_as_often_as_asked(transactions, consistent):
    log = QueryLog.of(["u", "u"], ["orange", "orange"], times=[1, 2])
    concepts = concept_log(log, bag("orange orange"))
    release = item_release(log, FOOD, [bag("fruit fruit")], [0], settings={"transactions": transactions})
    found = PublishedClasses.find(log, release, concepts, FOOD)
    known = found.known(np.arange(1), log.user, log.query)
    assert found.name(known, np.array([0]), whole=True).consistent.tolist() == [consistent]


def test_table_2_of_the_paper():
    log, concepts = log_of(TABLE_II)
    release = clump(log, Clump(k=2, refine=False), RANDOM, concepts=concepts, taxonomy=FOOD)
    whole, _ = attack(log, concepts, release, FOOD)
    # t1, t2 -> fruit beef food; t3, t4, t5 -> chicken food. t1 has a chicken, too, but the first is more specific.
    assert whole.details["class found"] == 1.0
    assert whole.rate == pytest.approx(2 / 5)
    assert whole.details["mean classes without a fault"] == pytest.approx(6 / 5)
    assert whole.bound == 1 / 2


# --- releases by hand: all, nothing, a known rate


def test_a_release_that_leaks_all_is_found_by_all():
    rows = people()
    log, concepts = log_of(rows, WIDE)
    whole, half = attack(log, concepts, item_release(log, WIDE, rows, list(range(40))), WIDE)
    assert whole.attack == "consistent-classes, whole"
    assert half.attack == "consistent-classes, half"
    assert whole.rate == whole.details["class found"] == 1.0
    assert half.rate > 0.6  # two of four concepts are known; some are shared
    assert whole.lift == pytest.approx(1 - 1 / 40)


@pytest.mark.parametrize("method", ["clump", "partition"])
def test_a_release_that_leaks_nothing_leaves_a_blind_guess(method):
    log, concepts = log_of(people(), WIDE)
    release = item_release(log, WIDE, [[0]] * 40, list(range(40)), method=method, k=40)
    for result in attack(log, concepts, release, WIDE):
        assert result.rate == pytest.approx(1 / 40)
        assert result.baseline.rate == 1 / 40
        assert result.lift_low <= 0 <= result.lift_high
        assert result.details["class found"] == pytest.approx(1.0)  # there is one class


@pytest.mark.parametrize("method", ["clump", "partition"])
def test_groups_of_five_give_one_in_five_by_id_and_every_class(method):
    rows = [sorted([LEAF[p // 5][p % 5], LEAF[p // 5][p % 5 + 5]]) for p in range(40)]
    log, concepts = log_of(rows, WIDE)
    topic = WIDE.children(0)
    copies = 1 if method == "partition" else 2
    published = [[topic[p // 5]] * copies for p in range(40)]
    release = item_release(log, WIDE, published, list(range(40)), method=method, k=5)
    for result in attack(log, concepts, release, WIDE):
        assert result.rate == pytest.approx(1 / 5)
        assert result.bound == 1 / 5
        assert result.details["class found"] == pytest.approx(1.0)
        assert result.low <= 0.2 <= result.high


def test_ties_between_classes_are_shared():
    rows = [[LEAF[0][0], LEAF[1][0]]] * 4
    log, concepts = log_of(rows, WIDE)
    topics = WIDE.children(0)
    published = [[topics[0]], [topics[0]], [topics[1]], [topics[1]]]
    whole, _ = attack(log, concepts, item_release(log, WIDE, published, [0, 1, 2, 3]), WIDE)
    assert whole.rate == pytest.approx(1 / 4)
    assert whole.details["class found"] == pytest.approx(1 / 2)


def test_where_no_class_fits_the_one_with_the_fewest_faults_is_named():
    log, concepts = log_of([bag("apple beef"), bag("milk")])
    published = [bag("orange beef"), bag("orange chicken")]
    whole, _ = attack(log, concepts, item_release(log, FOOD, published, [0, 1]), FOOD)
    assert whole.details["mean classes without a fault"] == 0
    assert whole.rate == pytest.approx((1 + 1 / 2) / 2)  # the second person has nothing in common with either


# --- edges


def test_people_who_are_not_published_are_no_targets_but_counted():
    log, concepts = log_of(people(10), WIDE)
    release = item_release(log, WIDE, people(10)[:6], list(range(6)))
    whole, half = attack(log, concepts, release, WIDE)
    assert whole.targets == half.targets == 6
    assert whole.details["people not published"] == 4


def test_a_person_with_one_event_is_known_whole_but_not_by_half():
    log, concepts = log_of([bag("apple"), bag("beef milk")])
    whole, half = attack(log, concepts, item_release(log, FOOD, [bag("apple"), bag("meat milk")], [0, 1]), FOOD)
    assert (whole.targets, half.targets) == (2, 1)
    assert whole.rate == 1.0


def test_one_person():
    log, concepts = log_of([bag("apple beef")])
    for result in attack(log, concepts, item_release(log, FOOD, [bag("fruit")], [0]), FOOD):
        assert (result.rate, result.targets, result.baseline.rate) == (1.0, 1, 1.0)


def test_a_person_without_any_known_concept_is_guessed():
    log, concepts = log_of([bag("apple"), bag("beef")], unmapped=["x"])
    release = item_release(log, FOOD, [bag("apple"), bag("beef"), bag("apple")], [0, 1, 2])
    whole, _ = attack(log, concepts, release, FOOD)
    # nothing is known of the third: all three published logs have one item that nobody can explain
    assert whole.rate == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)


def test_an_empty_release_has_no_targets():
    log, concepts = log_of([bag("apple"), bag("beef")])
    for result in attack(log, concepts, item_release(log, FOOD, [], []), FOOD):
        assert (result.rate, result.targets) == (0.0, 0)


def test_a_release_over_another_taxonomy_cannot_be_attacked():
    log, concepts = log_of([bag("apple"), bag("beef")])
    release = item_release(log, WIDE, [[1], [2]], [0, 1])
    with pytest.raises(CannotAttackError, match="taxonomy"):
        attack(log, concepts, release, FOOD)


def test_known_queries_agree_with_classes_in_a_generalized_release():
    rows = [sorted([LEAF[p // 5][p % 5], LEAF[p // 5][p % 5 + 5]]) for p in range(40)]
    log, concepts = log_of(rows, WIDE)
    release = item_release(log, WIDE, [[WIDE.children(0)[p // 5]] for p in range(40)], list(range(40)), k=5)
    for result in known_queries(log, release, RANDOM, concepts=concepts, taxonomy=WIDE):
        assert result.rate == pytest.approx(1 / 5)
        assert result.bound == 1 / 5
