"""What all methods with groups of k users keep, and what each of them does of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import sample_directory, sample_log

import querycloak as qc
from querycloak.distances.distance import SCALE
from querycloak.errors import InputError, ParameterError
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.microaggregation.semantic_microaggregation import (
    SemanticMicroaggregation,
    semantic_microaggregation,
)
from querycloak.randomness import Randomness
from querycloak.releases.classes import class_sizes
from querycloak.texts.phrases import NOT_PUBLISHED

GROUPED = [
    "plain-microaggregation",
    "semantic-microaggregation",
    "syntactic-microaggregation",
    "url-microaggregation",
    "word-microaggregation",
]
PAPER = [False, True]
BY_MDAV = ["plain-microaggregation", "semantic-microaggregation", "syntactic-microaggregation"]


def run(name, log=None, **given):
    if name == "url-microaggregation":
        given["directory"] = sample_directory()
    return qc.anonymize(sample_log() if log is None else log, name, seed=3, **given)


def bags(log: QueryLog) -> list[Counter]:
    out = [Counter() for _ in log.users]
    for u, q in zip(log.user.tolist(), log.query.tolist(), strict=True):
        out[u][log.queries[q]] += 1
    return out


@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("k", [2, 3, 5, 7, 24])
@pytest.mark.parametrize("name", GROUPED)
def test_every_user_shares_its_log_with_k_minus_1_others(name, k, paper) -> None:
    release = run(name, k=k, **({"as_in_paper": True} if paper else {"min_query_users": 3}))
    assert class_sizes(release.log).min() >= k
    assert release.statement.parameters == {"k": k}
    assert release.statement.bound == 1 / k
    assert release.statement.figures["smallest group"] >= k
    assert release.statement.figures["largest group"] <= 2 * k - 1


@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("name", GROUPED)
def test_rows_of_members_come_in_the_same_order(name, paper) -> None:
    release = run(name, k=4, as_in_paper=paper)
    rows = [release.log.query[release.log.user == u].tolist() for u in range(len(release.log.users))]
    by_bag = {}
    for row in rows:
        by_bag.setdefault(tuple(sorted(row)), set()).add(tuple(row))
    assert all(len(orders) == 1 for orders in by_bag.values())


@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("name", GROUPED)
def test_rows_of_a_user_are_ordered_by_their_text(name, paper) -> None:
    """Any other order could tell who of the group brought which query, or when."""
    release = run(name, k=4, as_in_paper=paper)
    for u in range(len(release.log.users)):
        texts = release.log.queries.gather(release.log.query[release.log.user == u]).to_list()
        assert texts == sorted(texts)


@pytest.mark.parametrize("name", GROUPED)
def test_every_published_query_was_asked(name) -> None:
    assert set(run(name, k=3, as_in_paper=True).log.queries.to_list()) <= set(sample_log().queries.to_list())


@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("name", GROUPED)
def test_a_published_log_is_as_long_as_its_members_on_average(name, paper) -> None:
    """Groups are found by their bags; sample users all have 10 queries."""
    if paper and name == "semantic-microaggregation":
        return  # as many as concepts
    release = run(name, k=3, **({"as_in_paper": True} if paper else {"min_query_users": 1}))
    assert {bag.total() for bag in bags(release.log)} == {10}


@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("name", BY_MDAV)
def test_refinement_keeps_the_guarantee(name, refined) -> None:
    release = run(name, k=3, refine=refined)
    assert class_sizes(release.log).min() >= 3
    if refined:
        plain = run(name, k=3)
        key = "mean distance to the group's medoid"
        assert release.statement.figures[key] <= plain.statement.figures[key]


def log_of_rooms(askers: int, users: int = 12) -> QueryLog:
    """Users in clubs of `askers`, who ask nine times for a tea room that only their club knows, and twice for tea.

    The room is most of what they ask, so every method publishes it unless a rule forbids it. Six more ask for tea only.
    """
    rows = [(f"user {u}", query) for u in range(users) for query in [f"tea in room {u // askers}"] * 9 + ["tea"] * 2]
    rows += [(f"guest {u}", "tea") for u in range(6) for _ in range(11)]
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows], urls=["http://www.tea.example"] * len(rows))


@pytest.mark.parametrize("rare", ["phrase", "label", "drop"])
@pytest.mark.parametrize("askers", [1, 2, 3])
@pytest.mark.parametrize("name", GROUPED)
def test_rare_queries_are_not_published(name, askers, rare) -> None:
    log = log_of_rooms(askers)

    def published(least):
        release = run(name, log, k=3, min_query_users=least, rare=rare)
        assert class_sizes(release.log).min() >= 3
        return release

    # Not a test unless the rule decides: with a bound that the rooms reach, they are published.
    assert any(q.startswith("tea in room ") for q in published(askers).log.queries.to_list())
    release = published(askers + 1)
    assert release.log.queries.to_list()
    assert not any(q.startswith("tea in room ") for q in release.log.queries.to_list())
    said = f"at least {askers + 1} people, counted over"
    assert any(said in text for text in release.statement.covers)
    if rare == "drop":
        assert release.log.queries.to_list() == ["tea"]


@pytest.mark.parametrize("name", GROUPED)
def test_fewer_users_than_k_are_refused_with_their_number(name) -> None:
    with pytest.raises(InputError, match=r"k = 25 users need at least 25 users.* the log has 24"):
        run(name, k=25)


@pytest.mark.parametrize("name", GROUPED)
def test_k_below_2_is_refused(name) -> None:
    with pytest.raises(ParameterError, match=r"\.k must be an integer >= 2, got 1"):
        run(name, k=1)


@pytest.mark.parametrize("name", GROUPED)
def test_threads_do_not_change_the_release(name) -> None:
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    one = run(name, k=3)
    numba.set_num_threads(threads)
    other = run(name, k=3)
    assert one.log.users.equals(other.log.users)
    assert one.log.queries.equals(other.log.queries)
    assert (one.log.query == other.log.query).all()
    assert one.statement == other.statement


def test_users_without_a_concept_are_left_out_and_counted_as_in_the_paper() -> None:
    log = QueryLog.of(["a", "b", "c", "d", "d"], ["tea", "coffee", "tea", "qzxv wwqk", "xxqq"])
    release = run("semantic-microaggregation", log, k=2, as_in_paper=True)
    assert len(release.log.users) == 3
    assert release.statement.figures["users left out, without a concept"] == 1
    assert release.statement.dropped["user without a concept"] == 2


def test_too_few_users_with_a_concept_says_how_many_there_are() -> None:
    log = QueryLog.of(["a", "b", "c"], ["tea", "qzxv wwqk", "xxqq"])
    with pytest.raises(InputError, match="need at least 2 users with a concept, the log has 1"):
        run("semantic-microaggregation", log, k=2, as_in_paper=True)


@pytest.mark.parametrize("name", GROUPED)
def test_queries_without_a_concept_take_part(name) -> None:
    """Two who know one unknown word, two who know another: they are grouped by it, and published with it."""
    rows = [(u, "tea") for u in "abcd"] * 3 + [(u, "qzxv") for u in "efef"] + [(u, "wwqk kkwq") for u in "ghgh"]
    log = QueryLog.of([u for u, _ in rows], [q for _, q in rows], urls=["http://tea.example"] * 12 + [None] * 8)
    release = run(name, log, k=2)
    assert release.truth is not None
    assert sorted(release.truth.user.tolist()) == list(range(8))
    for user, bag in zip(release.truth.user.tolist(), bags(release.log), strict=True):
        asked = "qzxv" if log.users[user] in "ef" else "wwqk kkwq" if log.users[user] in "gh" else "tea"
        assert bag == {asked: 3 if asked == "tea" else 2}
    if name == "semantic-microaggregation":
        assert release.statement.figures["queries without a concept"] == 8
    if name in {"url-microaggregation", "word-microaggregation"}:
        figures = release.statement.figures
        assert (figures["queries"], figures["queries with a category"]) == (20, 12)
        assert figures["queries without a category"] == 8


def test_a_log_without_urls_says_that_a_resolver_can_help() -> None:
    log = QueryLog.of(["a", "b"], ["tea", "coffee"])
    with pytest.raises(InputError, match="--resolver"):
        run("url-microaggregation", log, k=2)
    sites = sample_directory()
    release = qc.anonymize(
        log, "url-microaggregation", k=2, as_in_paper=True, directory=sites, resolver=lambda _: "tea.example"
    )
    assert len(release.log.users) == 2


def test_a_log_without_a_directory_uses_its_own_categories_or_is_refused() -> None:
    log = QueryLog.of(["a", "b", "c"], ["tea", "tea", "mate"], categories=["Top/Tea", "Top/Tea", None])
    release = qc.anonymize(log, "url-microaggregation", k=2, seed=1, as_in_paper=True)
    assert release.statement.figures["users left out, without a category"] == 1
    assert release.statement.figures["queries with a category"] == 2
    assert release.statement.figures["queries"] == 3
    with pytest.raises(InputError, match="--directory"):
        qc.anonymize(QueryLog.of(["a", "b"], ["x", "y"]), "url-microaggregation", k=2)


def test_wikipedia_is_skipped_and_the_best_ranked_site_counts() -> None:
    from querycloak.mapping.categories import query_categories

    sites = SiteDirectory.of(["en.wikipedia.org", "tea.example", "car.example"], ["Top/Wiki", "Top/Tea", "Top/Cars"])
    urls = ["http://en.wikipedia.org/wiki/Tea", "http://car.example/x", "http://tea.example/y"]
    log = QueryLog.of(["a"] * 3, ["tea"] * 3, times=[5, 5, 5], urls=urls)
    log = replace(log, rank=np.array([1, 3, 2], np.int32))
    found = query_categories(log, sites)
    assert [sites.taxonomy.label(c) for c in found.category] == ["Tea"]


def test_a_click_counts_for_its_own_event_when_others_come_in_between() -> None:
    from querycloak.mapping.categories import query_categories

    sites = SiteDirectory.of(["tea.example", "car.example"], ["Top/Tea", "Top/Cars"])
    urls = ["http://none.example", "http://car.example", "http://tea.example"]
    log = QueryLog.of(["a", "b", "a"], ["tea", "cars", "tea"], times=[5, 5, 5], urls=urls)
    found = query_categories(log, sites)
    assert [sites.taxonomy.label(c) for c in found.category] == ["Tea", "Cars"]


# Semantic microaggregation on logs whose concepts are given.


@st.composite
def concept_logs(draw):
    taxonomy = Taxonomy.from_parents([-1, 0, 0, 1, 1, 2, 2, 3], [[f"label {i}"] for i in range(8)])
    users = draw(st.integers(3, 9))
    rows = []
    for u in range(users):
        asked = draw(st.lists(st.tuples(st.integers(1, 7), st.integers(0, 2)), min_size=1, max_size=5))
        rows += [(u, concept, variant) for concept, variant in asked]
    log = QueryLog.of([f"user {u}" for u, _, _ in rows], [f"{'abc'[v]} about {c}" for _, c, v in rows])
    concept = np.array([c for _, c, _ in rows], dtype=np.int32)
    return taxonomy, log, ConceptLog(np.arange(len(rows)), log.user, log.query, concept)


@given(concept_logs(), st.integers(2, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_semantic_releases_of_any_log(drawn, k, min_query_users) -> None:
    taxonomy, log, concepts = drawn
    given_settings = SemanticMicroaggregation(k=k, min_query_users=min_query_users)
    release = semantic_microaggregation(log, given_settings, Randomness(1), concepts=concepts, taxonomy=taxonomy)
    assert release.truth is not None
    published, original = bags(release.log), bags(log)
    if len(published):
        assert class_sizes(release.log).min() >= k
    said = Counter(u for u, bag in enumerate(original) for _ in bag)
    assert set(release.truth.user.tolist()) <= set(said)
    for text in release.log.queries.to_list():
        if text.startswith("["):
            mine = {c for c in range(len(taxonomy)) if taxonomy.label(c) == text[1:-1]}
            below = {c for c in range(len(taxonomy)) if mine & {c, *taxonomy.ancestors(c)}}
            people = {u for u, c in zip(concepts.user.tolist(), concepts.concept.tolist(), strict=True) if c in below}
        else:
            people = {u for u, bag in enumerate(original) if any(f" {text} " in f" {q} " for q in bag)}
        assert len(people) >= min_query_users
    lengths = {}
    if len(release.truth.user) < len(log.users):
        return
    for u, bag in zip(release.truth.user.tolist(), published, strict=True):
        lengths.setdefault(tuple(sorted(bag.items())), []).append((bag.total(), original[u].total()))
    if len(set(map(len, lengths.values()))) == len(lengths) == 1:  # one group: its mean is known
        (pairs,) = lengths.values()
        kinds = release.statement.dropped[NOT_PUBLISHED]
        assert kinds or abs(pairs[0][0] - np.mean([own for _, own in pairs])) <= 0.5


def test_equal_concepts_are_swapped_for_any_query_of_the_log() -> None:
    taxonomy = Taxonomy.from_parents([-1, 0], [["top"], ["tea"]])
    log = QueryLog.of(["a", "b", "c", "d"], ["tea one", "tea two", "tea three", "tea four"])
    concepts = ConceptLog(np.arange(4), log.user, log.query, np.ones(4, np.int32))
    seen = set()
    for seed in range(40):
        release = semantic_microaggregation(
            log, SemanticMicroaggregation(k=2, as_in_paper=True), Randomness(seed), concepts=concepts, taxonomy=taxonomy
        )
        seen |= set(release.log.queries.to_list())
        assert all(bag.total() == 1 for bag in bags(release.log))
    assert seen == set(log.queries.to_list())


def test_the_distance_that_the_statement_reports_is_the_mean_distance() -> None:
    taxonomy = Taxonomy.from_parents([-1, 0, 0], [["top"], ["tea"], ["cars"]])
    log = QueryLog.of(["a", "b"], ["tea", "cars"])
    concepts = ConceptLog(np.arange(2), log.user, log.query, np.array([1, 2], np.int32))
    release = semantic_microaggregation(
        log, SemanticMicroaggregation(k=2), Randomness(1), concepts=concepts, taxonomy=taxonomy
    )
    assert release.statement.figures["mean distance to the group's medoid"] == pytest.approx(0.5, abs=2 / SCALE)
