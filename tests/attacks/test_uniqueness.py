from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference.attack import people_with_unique_pair as reference_people
from reference.attack import users_with_unique_pair
from sample_releases import distinct_log, queries_of, release_of

from querycloak.attacks.uniqueness import own_texts, people_with_unique_pair, uniqueness
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.randomness import Randomness
from querycloak.releases.askers import find_askers

LOG = distinct_log()


def shares(log, published):
    release = release_of(log, published, list(range(len(published))))
    return {r.attack: r.rate for r in uniqueness(log, release, Randomness(1), askers=asked_by(log, release))}


def log_of(logs):
    return QueryLog.of([f"u{u}" for u, qs in enumerate(logs) for _ in qs], [q for qs in logs for q in qs])


@given(logs=st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5), min_size=1, max_size=70))
def test_a_log_under_new_ids_equals_the_reference(logs):
    found = shares(log_of(logs), logs)
    np.testing.assert_allclose(found["uniqueness, pairs"], np.mean(users_with_unique_pair([set(p) for p in logs])))
    queries = {q for p in logs for q in p}
    single = [q for q in queries if sum(q in p for p in logs) == 1]
    np.testing.assert_allclose(found["uniqueness, queries"], len(single) / len(queries))


def test_all_unique_and_none():
    assert shares(LOG, queries_of(LOG)) == {"uniqueness, queries": 1.0, "uniqueness, pairs": 1.0}
    same = [["a", "b", "c"]] * 3
    assert shares(log_of(same), same) == {"uniqueness, queries": 0.0, "uniqueness, pairs": 0.0}
    pairs = [["a", "b"], ["a", "c"], ["b", "c"]]
    assert shares(log_of(pairs), pairs) == {"uniqueness, queries": 0.0, "uniqueness, pairs": 1.0}


def asked_by(log, release):
    concept = np.where((log.queries == "tea").to_numpy(), 1, -1).astype(np.int32)[log.query]
    concepts = ConceptLog(np.arange(len(log)), log.user, log.query, concept)
    return find_askers(log, release, concepts=concepts, taxonomy=TEA)


TEA = Taxonomy.from_parents([-1, 0], [["drink"], ["tea"]])
TEXTS = st.sampled_from(["a", "b", "c", "a b", "b c", "tea"])


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), TEXTS), min_size=1, max_size=20),
    published=st.lists(st.lists(TEXTS, max_size=5), max_size=6),
    parameters=st.sampled_from([{}, {"epsilon": 1.0}]),
)
def test_people_equal_the_reference(rows, published, parameters):
    log = QueryLog.of([f"u{u}" for u, _ in rows], [q for _, q in rows])
    release = release_of(log, published, [0] * len(published), **parameters)
    askers = asked_by(log, release)
    found = people_with_unique_pair(log, release, askers)
    texts = release.log.queries.to_list()
    users = askers.users(log).to_lists()
    counted = [t for t in range(len(texts)) if not askers.public[t]]
    asked = [{texts[t] for t in counted if u in users[t]} for u in range(len(log.users))]
    expected = reference_people(asked, [set(log_) for log_ in published])
    assert np.flatnonzero(found).tolist() == sorted(expected)
    assert own_texts(release, askers).sum() == sum(len(users[t]) == 1 for t in counted)
    assert len(own_texts(release, askers)) == len({q for p in published for q in p})


def test_a_log_under_many_ids_still_singles_its_people_out():
    log = QueryLog.of(["ann", "ann", "bob", "bob", "cid"], ["x", "y", "x", "z", "y"])
    release = release_of(log, [["x", "y", "z"]] * 3, [0, 1, 2])
    askers = asked_by(log, release)
    assert own_texts(release, askers).tolist() == [False, False, True]
    assert people_with_unique_pair(log, release, askers).tolist() == [True, True, False]


def test_both_texts_must_be_in_one_published_log():
    log = QueryLog.of(["ann", "ann", "bob", "cid"], ["x", "y", "x", "y"])
    together = release_of(log, [["x", "y"], ["x"]], [0, 1])
    apart = release_of(log, [["x"], ["y"]], [0, 1])
    assert people_with_unique_pair(log, together, asked_by(log, together)).tolist() == [True, False, False]
    assert not people_with_unique_pair(log, apart, asked_by(log, apart)).any()


def test_people_who_are_in_no_row_are_no_people():
    log = QueryLog.of(["ann", "bob", "bob"], ["x", "x", "y"]).take(np.array([1, 2]))
    release = release_of(log, [["x", "y"]], [1])
    assert people_with_unique_pair(log, release, asked_by(log, release)).tolist() == [True]


def test_nothing_published_singles_nobody_out():
    release = release_of(LOG, [], [])
    askers = asked_by(LOG, release)
    assert own_texts(release, askers).tolist() == []
    assert people_with_unique_pair(LOG, release, askers).tolist() == [False] * 40


def test_labels_from_public_knowledge_make_no_pair():
    log = QueryLog.of(["ann", "ann", "bob"], ["tea", "x", "x"])
    taken, drawn = (release_of(log, [["tea", "x"]], [0], **parameters) for parameters in ({}, {"epsilon": 1.0}))
    assert people_with_unique_pair(log, taken, asked_by(log, taken)).tolist() == [True, False]
    assert people_with_unique_pair(log, drawn, asked_by(log, drawn)).tolist() == [False, False]


def test_a_log_of_public_labels_alone_makes_no_pair():
    log = QueryLog.of(["ann", "ann"], ["tea", "drink"])
    drawn = release_of(log, [["tea", "drink"]], [0], epsilon=1.0)
    assert people_with_unique_pair(log, drawn, asked_by(log, drawn)).tolist() == [False]


def test_whom_a_log_singles_out_who_is_not_its_only_asker():
    log = log_of([["a", "b", "c"], ["a", "b", "c"], ["a", "d"], ["d", "e"], ["d", "e"], ["e", "a"]])
    release = release_of(log, [["a", "b", "c"], ["a", "d", "e"]], [0, 2])
    found = people_with_unique_pair(log, release, asked_by(log, release))
    assert found.tolist() == [False, False, True, False, False, True]
