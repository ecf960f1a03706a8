"""Profile divergence and unchanged queries: against a plain computation, and on releases with known answers."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_releases import queries_of, release_of
from samples import sample_log

import querycloak as qc
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topics import read_topics
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.measures.paper_divergence import paper_divergence
from querycloak.measures.profile_divergence import divergence_by_user, profile_divergence, topic_of_concept
from querycloak.measures.unchanged import share_in_common, unchanged
from querycloak.randomness import Randomness

TREE = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["thing"], ["fruit"], ["meat"], ["apple"], ["pear"]])
PROFILES = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 4)), max_size=25)


def reference_divergence(before, after, users):
    out = []
    for u in range(users):
        p, q = (Counter(t for who, t in rows if who == u and t >= 0) for rows in (before, after))
        if not p:
            out.append(math.nan)
        elif not q:
            out.append(1.0)
        else:
            m = {t: (p[t] / p.total() + q[t] / q.total()) / 2 for t in {*p, *q}}
            out.append(sum(
                sum(c[t] / c.total() * math.log2(c[t] / c.total() / m[t]) for t in c) for c in (p, q)
            ) / 2)  # fmt: skip
    return out


def columns(rows):
    return (
        np.array([r[0] for r in rows], dtype=np.int32),
        np.array([r[1] for r in rows], dtype=np.int32),
        np.ones(len(rows)),
    )


@given(PROFILES, PROFILES)
def test_divergence_by_user(before, after):
    found = divergence_by_user(columns(before), columns(after), 4)
    assert found.tolist() == pytest.approx(reference_divergence(before, after, 4), nan_ok=True, abs=1e-12)


def test_equal_profiles_have_exactly_none():
    rows = [(0, 1), (0, 1), (0, 2), (1, 3)] * 7
    assert divergence_by_user(columns(rows), columns(rows[::-1]), 2).tolist() == [0.0, 0.0]


def test_topics_may_be_any():
    assert topic_of_concept(TREE, [1, 4]).tolist() == [-1, 1, 1, 1, 4]
    log = QueryLog.of(["a", "a"], ["apple", "meat"])
    concepts = ConceptLog(np.arange(2), log.user, log.query, np.array([2, 4], dtype=np.int32))
    release = release_of(log, [["pear", "meat"]], [0])
    after = ConceptLog(np.arange(2), release.log.user, release.log.query, np.array([3, 4], dtype=np.int32))
    needs = {"concepts": concepts, "release_concepts": after, "taxonomy": TREE}
    assert profile_divergence(log, release, Randomness(0), topics=[1, 4], **needs)[0].value == 0
    assert profile_divergence(log, release, Randomness(0), topics=[2, 3, 4], **needs)[0].value == pytest.approx(0.5)


@given(PROFILES, PROFILES)
def test_share_in_common(before, after):
    before, after = ([r for r in rows if r[1] >= 0] for rows in (before, after))
    both = (Counter(before) & Counter(after)).total()
    expected = both / len(after) if after else 0.0
    assert share_in_common(columns(before)[:2], columns(after)[:2]) == pytest.approx(expected)


def test_a_release_of_everything_is_unchanged():
    log = sample_log()
    release = release_of(log, [[q.upper() for q in queries] for queries in queries_of(log)], list(range(24)))
    scores = {s.measure: s.value for s in qc.measure(log, release, names=["unchanged", "profile-divergence"])}
    assert scores == {"queries unchanged": 1.0, "concepts unchanged": 1.0, "profile divergence": 0.0}


def test_others_queries_are_not_ones_own():
    log = sample_log()
    own = queries_of(log)
    release = release_of(log, [["zzzz"] for _ in own], list(range(24)))
    scores = {s.measure: s.value for s in qc.measure(log, release, names=["unchanged", "profile-divergence"])}
    assert scores == {"queries unchanged": 0.0, "concepts unchanged": 0.0, "profile divergence": 1.0}


def test_without_the_truth_nothing_is_said():
    log = sample_log()
    release = release_of(log, queries_of(log), list(range(24)))
    bare = type(release)(release.log, release.statement, None)
    none = ConceptLog(*(np.zeros(0, dtype=np.int32) for _ in range(4)))
    assert unchanged(log, bare, Randomness(0), concepts=none, release_concepts=none) == []
    needs = {"concepts": none, "release_concepts": none, "taxonomy": TREE}
    assert profile_divergence(log, bare, Randomness(0), **needs) == []


def test_counts_of_a_histogram_weigh():
    log = QueryLog.of(["a"] * 3 + ["b"], ["asthma", "asthma", "tennis", "tennis"])
    release = qc.anonymize(log, "histogram-dp", seed=1, epsilon=1e6)
    found = qc.measure(log, release, names=["profile-divergence"])
    assert found[0].value == pytest.approx(0, abs=1e-12)


TOPICAL = QueryLog.of(["a", "a", "b", "b", "c"], ["asthma", "tennis", "asthma", "boxing", "green tea"])


def test_the_papers_divergence_is_over_its_19_topics():
    """asthma is a respiratory disease, influenza a communicable one, tennis an athletic game; tea is in no topic."""
    release = release_of(TOPICAL, [["asthma", "tennis"], ["influenza", "boxing"], ["tennis"]], [0, 1, 2])
    (score,) = qc.measure(TOPICAL, release, names=["paper-divergence"])
    assert (score.measure, score.better) == ("paper divergence", "lower")
    assert score.details["users"] == 2, "who asked nothing in a topic has no profile"
    taxonomy = qc.load_taxonomy()
    topic = topic_of_concept(taxonomy, read_topics("paper", taxonomy).fine)
    of = {w: int(topic[taxonomy.concept(w)]) for w in ("asthma", "influenza", "tennis", "boxing")}
    assert min(of.values()) >= 0
    assert of["asthma"] != of["influenza"]
    assert score.value == pytest.approx((0 + 0.5) / 2)
    assert score.details["over the four topics"] == pytest.approx(0), "both are diseases"


def test_the_papers_divergence_says_nothing_without_its_topics():
    log = QueryLog.of(["a"], ["green tea"])
    release = release_of(log, [["green tea"]], [0])
    assert qc.measure(log, release, names=["paper-divergence"]) == []
    none = ConceptLog(*(np.zeros(0, dtype=np.int32) for _ in range(4)))
    needs = {"concepts": none, "release_concepts": none, "taxonomy": TREE}
    assert paper_divergence(log, release, Randomness(0), **needs) == []
