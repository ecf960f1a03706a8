"""Clump: the paper's worked examples, the release, its statement, and what is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.clump import largest_matching, reference_ggd, reference_lcg
from trees import FOOD, TABLE_II, bag, bags, log_of, published, words

from querycloak.errors import InputError, ParameterError
from querycloak.knowledge.generalization import generalization
from querycloak.methods.generalization.clump import Clump, clump, clusters_of
from querycloak.randomness import Randomness

EXAMPLES = [
    (["orange beef", "apple chicken beef"], "fruit beef"),
    (["orange milk", "apple cheese butter"], "fruit dairy"),
    (["orange apple", "orange banana milk", "banana apple beef"], "fruit fruit"),
    (["orange beef", "apple milk"], "fruit food"),
]


def run(transactions, /, *, unmapped=(), seed=1, taxonomy=FOOD, **settings):
    log, concepts = log_of(transactions, taxonomy, unmapped=unmapped)
    return log, clump(log, Clump(**settings), Randomness(seed), concepts=concepts, taxonomy=taxonomy)


@pytest.mark.parametrize("form", ["least", "printed"])
@pytest.mark.parametrize(("members", "expected"), EXAMPLES)
def test_examples_2_and_5(members, expected, form):
    given_bags = [bag(m) for m in members]
    of, shared = clusters_of(bags(given_bags), FOOD, Clump(k=len(members), lcg=form), Randomness(seed=1))
    assert set(of.tolist()) == {0}
    assert words(shared.values) == sorted(expected.split())
    assert reference_lcg(FOOD, given_bags, form) == shared.values.tolist()


def test_example_3_distortion():
    members = [bag("orange beef"), bag("apple chicken beef")]
    assert reference_ggd(FOOD, members, bag("fruit beef")) * 7 == 11
    found = generalization(FOOD, bags(members), bags([bag("fruit beef")] * 2))
    assert found.distortion == pytest.approx(11 / 7)


@pytest.mark.parametrize("form", ["least", "printed"])
@pytest.mark.parametrize("choose", ["rise", "total"])
def test_table_ii(form, choose):
    of, shared = clusters_of(
        bags(TABLE_II), FOOD, Clump(k=2, lcg=form, choose=choose, refine=False), Randomness(seed=1)
    )
    assert of.tolist() == [0, 0, 1, 1, 1]
    assert words(shared.values[:3]) == ["beef", "food", "fruit"]
    assert words(shared.values[3:]) == ["chicken", "food"]
    found = generalization(FOOD, bags(TABLE_II), shared.take(of))
    assert round(found.distortion, 2) == 6.57
    assert found.worst == 13


def test_release_of_table_ii():
    log, release = run(TABLE_II, k=2, unmapped=["nobody"], refine=False)
    rows = published(release)
    assert release.kind == "items"
    assert len(rows) == 5
    assert sorted(Counter(map(tuple, rows.values())).values()) == [2, 3]
    first = next(mine for mine in rows.values() if len(mine) == 3)
    assert first == [("food", "food"), ("fruit", "food/fruit"), ("beef", "food/meat/beef")]
    assert set(rows).isdisjoint(log.users.to_list())
    original = {u: TABLE_II[u] for u in range(5)}
    by_path = {path: c for c, path in enumerate(FOOD.paths)}
    for code, (_, mine) in zip(release.truth.user.tolist(), rows.items(), strict=True):
        items = [by_path[path] for _, path in mine]
        assert largest_matching(FOOD, items, original[code]) == len(items)


def test_statement_of_table_ii():
    _, release = run(TABLE_II, k=2, unmapped=["nobody"], refine=False)
    statement = release.statement
    assert statement.parameters == {"k": 2}
    assert statement.unit == "user"
    assert round(statement.figures["distortion"], 2) == 6.57
    assert statement.figures["distortion, share of worst case"] == pytest.approx(46 / 7 / 13)
    assert statement.figures["mean transaction length"] == pytest.approx(12 / 5)
    assert statement.figures["items suppressed, share"] == pytest.approx(1 / 13)
    assert statement.figures["mean level of items (root = 1)"] == pytest.approx((2 * (2 + 3 + 1) + 3 * (3 + 1)) / 12)
    assert statement.counts_in["users without a concept"] == 1
    assert statement.dropped["of users without any concept"] == 1
    assert statement.counts_out["smallest cluster"] == 2


def test_duplicates_are_kept_or_dropped_in_what_is_published():
    twins = [bag("apple orange banana"), bag("apple orange beef"), bag("banana apple milk")]
    _, kept = run(twins, k=3)
    assert [label for label, _ in next(iter(published(kept).values()))] == ["food", "fruit", "apple"]
    two = [bag("apple orange"), bag("banana orange beef"), bag("banana apple")]
    _, kept = run(two, k=3)
    _, dropped = run(two, k=3, duplicates="drop")
    assert [label for label, _ in next(iter(published(kept).values()))] == ["fruit", "fruit"]
    assert [label for label, _ in next(iter(published(dropped).values()))] == ["fruit"]
    assert dropped.statement.figures["distortion"] > kept.statement.figures["distortion"]
    assert dropped.statement.figures["mean transaction length"] == 1


def test_transactions_are_sets_or_bags():
    asked = [bag("apple apple beef"), bag("apple apple milk")]
    _, sets = run(asked, k=2)
    _, as_asked = run(asked, k=2, transactions="bags")
    assert [label for label, _ in next(iter(published(sets).values()))] == ["food", "apple"]
    assert [label for label, _ in next(iter(published(as_asked).values()))] == ["food", "apple", "apple"]
    assert as_asked.statement.counts_in["items"] == 6


@given(
    st.lists(st.lists(st.integers(0, len(FOOD) - 1), min_size=1, max_size=5), min_size=6, max_size=20),
    st.integers(2, 6),
    st.sampled_from(["keep", "drop"]),
    st.booleans(),
)
def test_every_published_transaction_is_shared_by_k(transactions, k, duplicates, refine):
    _, release = run(transactions, k=k, duplicates=duplicates, refine=refine)
    rows = published(release)
    assert len(rows) == len(transactions)
    assert min(Counter(map(tuple, rows.values())).values()) >= k


def test_refining_never_distorts_more():
    random = np.random.default_rng(5)
    transactions = [sorted(set(random.integers(1, len(FOOD), 4).tolist())) for _ in range(60)]
    before, after = (
        run(transactions, k=4, refine=refine)[1].statement.figures["distortion"] for refine in (False, True)
    )
    assert after < before


def test_refining_is_the_default_and_the_paper_is_an_option():
    usual, paper, printed = Clump(), Clump(as_in_paper=True), Clump(lcg="printed")
    assert (usual.refine, usual.lcg, usual.choose, usual.prune) == (True, "least", "rise", False)
    assert (paper.refine, paper.lcg, paper.choose, paper.prune) == (False, "printed", "total", True)
    assert printed.refine is False, "the printed form has no Lemma 1 to refine by"
    assert Clump.from_json(paper.to_json()) == paper
    figures = [run(TABLE_II, k=2, **settings)[1].statement.figures for settings in ({}, {"refine": False})]
    assert figures[0]["distortion"] < figures[1]["distortion"]


def test_one_cluster_where_k_is_all():
    _, release = run(TABLE_II, k=5)
    (only,) = set(map(tuple, published(release).values()))
    assert only == (("food", "food"), ("meat", "food/meat"))


def test_too_few_users_with_a_concept_are_refused():
    with pytest.raises(InputError, match=r"k = 6 needs 6 or more users with a concept, but 5 of 7 users have"):
        run(TABLE_II, k=6, unmapped=["x", "y"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 1}, r"Clump.k must be an integer >= 2, got 1\."),
        ({"search": 0}, r"Clump.search must be an integer >= 1, got 0\."),
        ({"passes": 0}, r"Clump.passes must be an integer >= 1, got 0\."),
        ({"order": "up"}, r"Clump.order must be one of decreasing, increasing, random, got 'up'\."),
        ({"refine": True, "lcg": "printed"}, "Clump.refine needs lcg = least"),
        ({"as_in_paper": True, "refine": True}, "Clump.refine must be False with as_in_paper, which sets it, got True"),
        ({"output_form": "table"}, r"Clump.output_form must be one of users, classes, got 'table'\."),
    ],
)
def test_nonsense_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        Clump(**settings)
