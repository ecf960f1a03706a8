from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.categories import srp as reference_srp
from sample_releases import release_of
from strategies import taxonomies

import querycloak as qc
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.measures.srp import srp
from querycloak.methods.microaggregation._category_groups import EventUnits, group_by_categories, user_categories
from querycloak.randomness import Randomness


@st.composite
def releases(draw):
    taxonomy = draw(taxonomies(most=12))
    some = st.lists(st.integers(0, len(taxonomy) - 1), min_size=1, max_size=5)
    users = draw(st.integers(1, 5))
    original = draw(st.lists(some, min_size=users, max_size=users))
    every = st.sampled_from(sorted({c for cs in original for c in cs}))
    published = draw(st.lists(st.lists(every, min_size=1, max_size=5), min_size=users, max_size=users))
    return taxonomy, original, published


@given(releases(), st.integers(1, 4))
def test_srp_equals_the_reference(drawn, level) -> None:
    taxonomy, original, published = drawn
    log = QueryLog.of(
        [f"u{u}" for u, cs in enumerate(original) for _ in cs], [f"query {c}" for cs in original for c in cs]
    )
    concept = np.array([c for cs in original for c in cs], dtype=np.int32)
    concepts = ConceptLog(np.arange(len(log)), log.user, log.query, concept)
    release = release_of(log, [[f"query {c}" for c in cs] for cs in published], list(range(len(original))))
    found = srp(log, release, Randomness(0), concepts=concepts, taxonomy=taxonomy, levels=level)
    expected = {at: reference_srp(taxonomy, original, published, at) for at in range(1, level + 1)}
    expected = {f"level {at}": both for at, both in expected.items() if both is not None}
    if not expected:
        assert found == []
        return
    assert [score.measure for score in found] == ["semantics that remain", "semantics that remain, one for one"]
    for which, score in enumerate(found):
        assert score.details == pytest.approx({name: both[which] for name, both in expected.items()})
        assert score.value == pytest.approx(np.mean([both[which] for both in expected.values()]))


def test_a_query_has_the_category_of_the_site_it_led_to_most_often() -> None:
    sites = SiteDirectory.of(["tea.example", "car.example"], ["Top/Tea/Green", "Top/Cars"])
    urls = ["http://tea.example/", "http://tea.example/", "http://car.example/", "http://car.example/"]
    log = QueryLog.of(["a", "a", "a", "b"], ["x", "x", "x", "y"], urls=urls)
    release = release_of(log, [["y"], ["x", "x"]], [0, 1])
    lenient, strict = qc.measure(log, release, names=["srp"], directory=sites)
    assert lenient.details["level 1"] == 0  # a asked for tea, and is published with cars; b the other way round
    release = release_of(log, [["x"], ["y"]], [0, 1])
    lenient, strict = qc.measure(log, release, names=["srp"], directory=sites)
    assert lenient.details == {"level 1": 1, "level 2": 1}
    assert strict.details == {"level 1": 0.5, "level 2": pytest.approx(1 / 3)}


def test_an_unchanged_log_keeps_everything_with_a_directory_of_one_level() -> None:
    """Levels that the directory does not have are no loss: before, they counted as 0, and this was 0.2."""
    sites = SiteDirectory.of(["tea.example", "car.example"], ["Top/Tea", "Top/Cars"])
    log = QueryLog.of(["a", "b"], ["x", "y"], urls=["http://tea.example/", "http://car.example/"])
    for score in qc.measure(log, release_of(log, [["x"], ["y"]], [0, 1]), names=["srp"], directory=sites):
        assert score.value == 1
        assert list(score.details) == ["level 1"]


def test_without_any_category_there_is_nothing_to_measure() -> None:
    sites = SiteDirectory.of(["tea.example"], ["Top/Tea"])
    log = QueryLog.of(["a"], ["x"], urls=["http://other.example/"])
    assert qc.measure(log, release_of(log, [["x"]], [0]), names=["srp"], directory=sites) == []


def test_a_published_query_answers_for_one_original_query_of_its_user() -> None:
    """Strict: the bags of a user are intersected, level by level; another user's published queries do not help."""
    sites = SiteDirectory.of(["tea.example", "car.example"], ["Top/Tea", "Top/Cars"])
    urls = ["http://tea.example/"] * 3 + ["http://car.example/"] * 2
    log = QueryLog.of(["a", "a", "a", "a", "b"], ["x", "x", "x", "y", "y"], urls=urls)
    release = release_of(log, [["x"], ["x", "x", "x", "y"]], [0, 1])
    lenient, strict = qc.measure(log, release, names=["srp"], directory=sites)
    assert lenient.value == pytest.approx(4 / 5)  # three of tea for a, one of cars for b
    assert strict.value == pytest.approx(2 / 5)  # one of each


def test_one_for_one_tells_groups_of_like_users_from_random_ones() -> None:
    """The looser count cannot: a group's log has nearly every category, whoever is in the group."""
    taxonomy = Taxonomy.from_parents([-1, *[0] * 8], [["top"], *([f"topic {t}"] for t in range(8))])
    rng = np.random.default_rng(0)
    interests = rng.dirichlet(np.full(8, 0.3), size=120)  # each has one or two main topics, and asks for all
    asked = [rng.choice(8, 60, p=0.3 / 8 + 0.7 * interest) + 1 for interest in interests]
    log = QueryLog.of([f"u{u}" for u in range(120) for _ in range(60)], [f"query {c}" for cs in asked for c in cs])
    concept = np.concatenate(asked).astype(np.int32)
    concepts = ConceptLog(np.arange(len(log)), log.user, log.query, concept)

    def kept(group):
        published = []
        for u in range(120):
            members = np.concatenate([asked[v] for v in np.flatnonzero(group == group[u])])
            draw = np.random.default_rng(int(group[u])).choice(members, 60, replace=False)
            published.append([f"query {c}" for c in draw])
        release = release_of(log, published, list(range(120)))
        return [s.value for s in srp(log, release, Randomness(0), concepts=concepts, taxonomy=taxonomy)]

    units = EventUnits(np.arange(len(log)), log.user, concept)
    bags, sets = (group_by_categories(user_categories(units, 120, taxonomy, 1, s), 5) for s in ("bags", "sets"))
    by_bags, by_sets, at_random = kept(bags), kept(sets), kept(rng.permutation(bags))
    assert max(by_bags[0], by_sets[0], at_random[0]) - min(by_bags[0], by_sets[0], at_random[0]) < 0.02
    assert by_bags[1] > at_random[1] + 0.05  # 0.75 against 0.64
    assert by_bags[1] > by_sets[1] + 0.05
