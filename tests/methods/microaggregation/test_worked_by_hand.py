"""The papers' last steps on logs so small that the published log can be worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import querycloak as qc
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.categories import query_categories
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.microaggregation.semantic_microaggregation import (
    SemanticMicroaggregation,
    semantic_microaggregation,
)
from querycloak.randomness import Randomness

LABELS = ["Top", "Sports", "Water Sports", "Swimming and Diving", "Windsurfing", "Regional", "Europe", "Mediterranean"]
ODP = Taxonomy.from_parents([-1, 0, 1, 2, 2, 0, 5, 6], [[label] for label in LABELS])
AT = {ODP.label(c): c for c in range(len(ODP))}


def bags(log: QueryLog) -> list[Counter]:
    out = [Counter() for _ in log.users]
    for u, q in zip(log.user.tolist(), log.query.tolist(), strict=True):
        out[u][log.queries[q]] += 1
    return out


@pytest.mark.parametrize("seed", range(3))
def test_the_two_users_of_example_4_are_published_with_the_mediterranean(seed) -> None:
    """Batet et al. 2013, section 4.3, with the users of Example 4.

    Centroid category: the Mediterranean has weight 3 of 5 and shares no ancestor with the sports, so its sum is 2; that
    of a sport is 3 + 0.5. Quotas 2/2 and 3/2: three categories in all. Nearest first: both give the Mediterranean only.
    """
    asked = [
        ("u1", "diving", "Swimming and Diving"),
        ("u1", "mediterranean", "Mediterranean"),
        ("u2", "windsurfing", "Windsurfing"),
        ("u2", "mediterranean", "Mediterranean"),
        ("u2", "mediterranean", "Mediterranean"),
    ]
    log = QueryLog.of([a[0] for a in asked], [a[1] for a in asked])
    concepts = ConceptLog(np.arange(5), log.user, log.query, np.array([AT[a[2]] for a in asked], np.int32))
    chosen = SemanticMicroaggregation(k=2, as_in_paper=True)
    release = semantic_microaggregation(log, chosen, Randomness(seed), concepts=concepts, taxonomy=ODP)
    assert bags(release.log) == [Counter({"mediterranean": 3})] * 2


def test_without_semantics_only_the_distribution_counts() -> None:
    """Batet et al. 2013, section 5.2: x was asked 4 times, so it is the centroid; each of the two gives 4/2 queries."""
    log = QueryLog.of(["a"] * 4 + ["b"] * 4, ["x", "x", "x", "y", "x", "z", "z", "z"])
    release = qc.anonymize(log, "plain-microaggregation", k=2, seed=1, as_in_paper=True)
    assert bags(release.log) == [Counter({"x": 3, "z": 1})] * 2


@pytest.mark.parametrize("method", ["url-microaggregation", "word-microaggregation"])
def test_each_member_gives_its_share_of_its_own_queries(method) -> None:
    """Erola and Castellà-Roca, eq. 2: a group of two with 6 and 2 queries has 6/2 of the one and 2/2 of the other."""
    rows = [("a", f"tea {i}") for i in range(6)] + [("b", f"coffee tea {i}") for i in range(2)]
    sites = SiteDirectory.of(["tea.example"], ["Top/Tea"])
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows], urls=["http://tea.example/"] * len(rows))
    seen = Counter()
    for seed in range(20):
        release = qc.anonymize(log, method, k=2, seed=seed, as_in_paper=True, directory=sites)
        one, other = bags(release.log)
        assert one == other
        assert set(one.values()) == {1}, "drawn without putting back"
        assert sorted(text.startswith("coffee") for text in one) == [False] * 3 + [True]
        seen += one
    assert len(seen) == 8, "any of a member's queries may be drawn"


def test_a_page_has_the_category_of_its_domain() -> None:
    """Erola and Castellà-Roca, section IV-A: a page that is listed for itself counts as its domain all the same."""
    sites = SiteDirectory.of(["shop.example", "shop.example/cars"], ["Top/Shops", "Top/Cars"])
    urls = ["http://www.shop.example/cars/red", "http://deep.shop.example/x"]
    log = QueryLog.of(["a", "b"], ["red cars", "deep"], urls=urls)
    found = query_categories(log, sites)
    assert [sites.taxonomy.label(c) for c in found.category] == ["Shops", "Shops"]
