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
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.measures.srp import srp
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
    found = srp(log, release, Randomness(0), concepts=concepts, taxonomy=taxonomy, levels=level)[0]
    there, once = reference_srp(taxonomy, original, published, level)
    assert found.details[f"level {level}"] == pytest.approx(there)
    assert found.details[f"level {level}, one for one"] == pytest.approx(once)


def test_a_query_has_the_category_of_the_site_it_led_to_most_often() -> None:
    sites = SiteDirectory.of(["tea.example", "car.example"], ["Top/Tea/Green", "Top/Cars"])
    urls = ["http://tea.example/", "http://tea.example/", "http://car.example/", "http://car.example/"]
    log = QueryLog.of(["a", "a", "a", "b"], ["x", "x", "x", "y"], urls=urls)
    release = release_of(log, [["y"], ["x", "x"]], [0, 1])
    found = qc.measure(log, release, names=["srp"], directory=sites)[0]
    assert found.details["level 1"] == 0  # a asked for tea, and is published with cars; b the other way round
    release = release_of(log, [["x"], ["y"]], [0, 1])
    found = qc.measure(log, release, names=["srp"], directory=sites)[0]
    assert found.details["level 1"] == 1
    assert found.details["level 1, one for one"] == 0.5
    assert found.details["level 2"] == 1
    assert found.details["level 3"] == 0
