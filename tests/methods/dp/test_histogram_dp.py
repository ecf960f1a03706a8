"""histogram-dp: noise on every bin, enough for replacing all of a user's queries."""

from __future__ import annotations

import numpy as np
import pytest

import querycloak as qc
from querycloak.errors import ParameterError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp.histogram_dp import HistogramDp, histogram_dp
from querycloak.randomness import Randomness

TREE = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["thing"], ["fruit"], ["meat"], ["apple"], ["pear"]])


def run(concept, users, seed=1, **settings):
    log = QueryLog.of([f"u{u}" for u in users], [f"q{i}" for i in range(len(users))])
    rows = np.arange(len(users), dtype=np.int64)
    concepts = ConceptLog(rows, log.user, log.query, np.array(concept, dtype=np.int32))
    made = HistogramDp(**{"domain": "all", **settings})
    return log, histogram_dp(log, made, Randomness(seed), concepts=concepts, taxonomy=TREE)


def counts_of(log, release):
    out = {}
    for u, q, n in zip(release.log.user, release.log.query, release.log.extra["count"], strict=True):
        out[log.users[int(release.truth.user[u])], release.log.queries[int(q)]] = n
    return out


def test_with_a_huge_epsilon_counts_are_true():
    log, release = run([2, 2, 3, 1, -1, 4], [0, 0, 0, 1, 1, 1], epsilon=1e6)
    assert counts_of(log, release) == {
        ("u0", "apple"): 2, ("u0", "pear"): 1, ("u1", "fruit"): 1, ("u1", "meat"): 1,
    }  # fmt: skip
    assert release.kind == "items"
    assert release.log.categories.gather(release.log.category).to_list()[0].startswith("thing/")


def test_what_goes_beyond_is_left_out():
    log, release = run([2, 2, 3, 4], [0, 0, 0, 0], epsilon=1e6, per_user_queries=2)
    assert counts_of(log, release) == {("u0", "apple"): 2}


def test_users_without_a_concept_have_noise_too():
    _, release = run([-1] * 200, range(200), epsilon=0.1)
    assert len(release.log.users) > 150  # a user stays without a positive bin with probability about 2^-5


@pytest.mark.parametrize(("sensitivity", "most"), [("replace", 20), ("paper", 10)])
def test_the_noise_is_made_for_the_largest_change(sensitivity, most):
    assert HistogramDp(per_user_queries=10, sensitivity=sensitivity).most_change == most
    # positive noise of a zero bin has mean scale + 1/2 or so: 600 users x 5 bins, half of them positive
    _, release = run([-1] * 600, range(600), per_user_queries=10, sensitivity=sensitivity)
    assert release.log.extra["count"].mean() == pytest.approx(most + 0.5, rel=0.15)


def test_the_papers_sensitivity_is_said_to_be_half():
    _, release = run([2], [0], sensitivity="paper")
    assert "twice that against another" in release.statement.model
    assert "had asked no queries" in release.statement.covers[0]


def test_bad_settings_are_refused():
    for values in ({"epsilon": -1}, {"per_user_queries": 0}, {"sensitivity": "none"}):
        with pytest.raises(ParameterError):
            HistogramDp(**values)


def test_over_the_topics_of_the_paper():
    log = QueryLog.of(["a", "b"], ["asthma", "tennis"])
    release = qc.anonymize(log, "histogram-dp", seed=1, epsilon=1e6)
    assert sorted(release.log.queries.to_list()) == ["asthma", "tennis"]
