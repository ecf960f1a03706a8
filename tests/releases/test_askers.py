from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import askers as reference
from sample_releases import release_of, statement

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.releases.askers import ASKED, HELD, MEANT, NOBODY, UNKNOWN, find_askers
from querycloak.releases.release import CountRelease, ItemRelease, LogRelease, Truth

WORDS = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["A thing"], ["b", "B c"], ["d"], ["b", "a"], ["f"]])
"""Labels that words of queries are, one of two words, one of two concepts."""


def concepts_of(log, pairs):
    """Concepts of queries, given as (query, concept), for each row of the log."""
    rows = [(r, u, q, c) for r, (u, q) in enumerate(zip(log.user, log.query, strict=True)) for p, c in pairs if p == q]
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return ConceptLog(table[:, 0], *(table[:, i].astype(np.int32) for i in (1, 2, 3)))


def table_of(texts, categories=None):
    return QueryLog.of(["p"] * len(texts), list(texts), categories=categories)


def texts_of(most):
    return st.lists(
        st.sampled_from(
            [
                *"abcdfxy",
                "A",
                " b",
                "",
                "thing",
                "b  c",
                "d'",
                "x-y",
                "f\u200b",
                "é",
                "e",
                "!",
                "日本",
                "本",
                "[b]",
                "[a",
            ]
        ),
        max_size=most,
    ).map(" ".join)


@st.composite
def cases(draw):
    rows = draw(st.lists(st.tuples(st.integers(0, 4), texts_of(4)), max_size=12))
    log = QueryLog.of([f"u{u}" for u, _ in rows], [q for _, q in rows])
    pairs = [
        (q, c)
        for q in range(len(log.queries))
        for c in draw(st.lists(st.integers(-1, len(WORDS) - 1), max_size=3, unique=True))
    ]
    texts = draw(st.lists(texts_of(3), max_size=8))
    parameters = draw(
        st.sampled_from([{}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 0.0}, {"epsilon": 1.0, "delta": 0.1}])
    )
    if draw(st.booleans()):
        paths = draw(st.lists(st.sampled_from([*WORDS.paths, "elsewhere"]), min_size=len(texts), max_size=len(texts)))
        if draw(st.booleans()):  # as methods publish them: the label of the path
            texts = [path.rpartition("/")[2] for path in paths]
        release = ItemRelease(table_of(texts, paths), statement(**parameters))
    else:
        release = draw(st.sampled_from([LogRelease, CountRelease]))(table_of(texts), statement(**parameters))
    if not parameters and not release.holds_concepts:
        release = replace(release, statement=replace(release.statement, parts=draw(st.booleans())))
    kept = draw(st.integers(0, len(log)))  # a vocabulary may hold queries that no row has
    return log.take(np.arange(kept)), release, pairs


@given(cases())
def test_equals_the_reference(case):
    log, release, pairs = case
    concepts = concepts_of(log, pairs)
    found = find_askers(log, release, concepts=concepts, taxonomy=WORDS)
    expected = reference.askers(log, release, concepts, WORDS)
    assert found.queries.to_lists() == [sorted(queries) for queries, _, _, _ in expected]
    assert found.people.tolist() == [len(users) for _, users, _, _ in expected]
    assert found.users(log).to_lists() == [sorted(users) for _, users, _, _ in expected]
    backwards = np.arange(len(expected))[::-1]
    assert found.users(log, backwards).to_lists() == [sorted(users) for _, users, _, _ in expected[::-1]]
    assert found.how.tolist() == [how for _, _, how, _ in expected]
    assert found.public.tolist() == [public for _, _, _, public in expected]


LOG = QueryLog.of(
    ["ann", "bob", "cid", "ann", "cid"], ["Green Tea", "green  tea ", "cheap green tea cups", "f at night", "d"]
)
MEANINGS = concepts_of(LOG, [(0, 3), (1, 3), (2, 1), (3, 4), (4, 2)])


def asked(release, log=LOG, concepts=MEANINGS):
    return find_askers(log, release, concepts=concepts, taxonomy=WORDS)


def test_whole_queries_phrases_labels_and_nothing():
    texts = ["GREEN tea", "tea cups", "green cups", "b c", "a thing", "d"]
    found = asked(release_of(LOG, [texts], [0]))
    assert found.how.tolist() == [ASKED, HELD, HELD, MEANT, MEANT, ASKED]
    assert found.people.tolist() == [2, 1, 1, 3, 3, 1]  # of "green cups", one person alone asked for cups
    assert found.own.tolist() == [False, True, True, False, False, True]
    assert not found.public.any()


def test_where_parts_are_published_all_who_hold_a_text_are_behind_it():
    release = release_of(LOG, [["green tea", "tea cups", "[b]", "[d]", "d"]], [0])
    parts = replace(release, statement=replace(release.statement, parts=True))
    assert asked(release).people.tolist()[:2] == [2, 1]
    assert asked(parts).people.tolist() == [3, 1, 3, 1, 1]
    assert asked(parts).how.tolist() == [ASKED, HELD, MEANT, MEANT, ASKED]
    assert asked(parts).own.tolist() == [False, True, False, True, True]


def test_one_person_who_asked_twice_is_one_person():
    log = QueryLog.of(["ann", "ann", "ann"], ["red tea", "Red tea", "hot red tea"])
    found = asked(release_of(log, [["red tea", "tea"]], [0]), log, concepts_of(log, []))
    assert found.people.tolist() == [1, 1]
    assert found.queries.to_lists() == [[0, 1], [0, 1, 2]]


def test_a_label_under_pure_differential_privacy_is_nobodys_own():
    found = asked(release_of(LOG, [["d", "d f", "green tea"]], [0], epsilon=1.0))
    assert found.public.tolist() == [True, True, False]
    assert found.how.tolist() == [MEANT, NOBODY, ASKED]
    assert found.own.tolist() == [False, False, False]
    assert found.people.tolist() == [1, 0, 2]


def test_queries_of_the_log_chosen_with_a_delta_are_not_public():
    found = asked(release_of(LOG, [["d"]], [0], epsilon=1.0, delta=1e-6))
    assert found.how.tolist() == [ASKED]
    assert found.own.tolist() == [True]


def test_joined_labels_are_not_public_where_words_of_the_log_are_kept():
    release = release_of(LOG, [["d", "d f"]], [0], epsilon=1.0)
    release = replace(release, statement=replace(release.statement, settings={"rebuild": "paper"}))
    assert asked(release).public.tolist() == [True, False]


def test_items_go_by_their_path_not_by_their_label():
    paths = WORDS.paths
    found = asked(ItemRelease(table_of(["f", "f", "gone"], [paths[3], paths[3], "gone"]), statement(k=5.0)))
    assert found.how.tolist() == [MEANT, UNKNOWN]
    assert found.people.tolist() == [2, 0]
    found = asked(ItemRelease(table_of(["b", "b"], [paths[1], paths[2]]), statement(k=5.0)))
    assert found.people.tolist() == [3]


def test_an_item_whose_text_is_no_label_of_its_path_is_a_text_like_others():
    found = asked(ItemRelease(table_of(["f at night", "d"], [WORDS.paths[0]] * 2), statement(k=5.0)))
    assert found.how.tolist() == [ASKED, ASKED]
    assert found.own.tolist() == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        "dr oneil oncology",
        "oncology, dr. o'neil",
        "dr. o\u200b'neil oncolo\u200bgy",
        "Dr._Ó'Neil_oncology",
        "dr dr oneil",
    ],
)
def test_a_text_in_another_spelling_is_still_its_askers(text):
    log = QueryLog.of(["ann", "bob", "cid", "cid"], ["dr. o'neil oncology", "dr oncology", "oncology", "dr"])
    found = asked(release_of(log, [[text]], [0]), log, concepts_of(log, []))
    assert found.own.tolist() == [True]
    assert found.queries.to_lists() == [[0]]


def test_a_text_of_words_that_several_asked_is_nobodys_and_one_of_no_known_word_is_unknown():
    log = QueryLog.of(["ann", "bob"] * 2, ["red tea", "red tea", "blue cups", "blue cups"])
    texts = ["blue tea", "cups tea red", "9f86d081884c", "tea 9f86d081884c", "☕"]
    found = asked(release_of(log, [texts], [0]), log, concepts_of(log, []))
    assert found.how.tolist() == [NOBODY, NOBODY, UNKNOWN, UNKNOWN, UNKNOWN]
    assert found.people.tolist() == [0] * 5


def test_nothing_published_and_nothing_asked():
    empty = QueryLog.of([], [])
    nothing = concepts_of(empty, [])
    assert asked(release_of(LOG, [], [])).people.tolist() == []
    assert asked(release_of(LOG, [["tea"]], [0]), empty, nothing).how.tolist() == [UNKNOWN]


@pytest.mark.slow
@pytest.mark.needs_jit
def test_many_texts_take_seconds():
    random = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(40_000)])
    rank = np.minimum(random.zipf(1.2, (300_000, 4)), len(words)) - 1
    queries = [" ".join(row[: 1 + i % 4]) for i, row in enumerate(words[rank].tolist())]
    log = QueryLog.of([f"u{i % 9_000}" for i in range(len(queries))], queries)
    texts = [" ".join(q.split()[1:]) if i % 2 else q for i, q in enumerate(queries[:50_000])]
    table = table_of(texts)
    begin = time.perf_counter()
    found = asked(LogRelease(table, statement()), log, concepts_of(QueryLog.of([], []), []))
    assert time.perf_counter() - begin < 30
    assert (found.how[table.query[: len(texts) : 2]] == ASKED).all()


def test_the_vocabulary_may_be_larger_than_what_is_asked():
    log = LOG.take(np.array([0]))
    found = find_askers(log, release_of(LOG, [["d"]], [0]), concepts=concepts_of(log, []), taxonomy=WORDS)
    assert found.how.tolist() == [NOBODY]  # a label that nobody means


def test_a_phrase_does_not_go_on_into_the_next_query():
    log = QueryLog.of(["ann"] * 5 + ["bob"] * 5, ["red tea", "cups blue", "tea", "tea pot", "red cups"] * 2)
    # the rarest word is looked up first: in "tea cups" the last word, in "blue tea" the first
    found = asked(
        release_of(log, [["tea cups", "blue tea", "red tea cups", "tea red cups"]], [0]), log, concepts_of(log, [])
    )
    assert found.how.tolist() == [NOBODY] * 4


def test_a_path_that_two_concepts_share_means_both():
    regions = Taxonomy.from_parents([-1, 0, 1, 0, 3], [["location"], ["region"], ["spot"], ["region"], ["zone"]])
    log = QueryLog.of(["ann", "bob"], ["spot", "zone"])
    concept = np.array([regions.labels.index(["spot"]), regions.labels.index(["zone"])], dtype=np.int32)
    concepts = ConceptLog(np.arange(2), log.user, log.query, concept)
    path = regions.paths[regions.labels.index(["region"])]
    table = QueryLog.of(["p", "q"], ["region", "region"], categories=[path, path])
    release = ItemRelease(table, statement(k=2), Truth(np.array([0, 1], dtype=np.int32)))
    found = find_askers(log, release, concepts=concepts, taxonomy=regions)
    assert found.people.tolist() == [2]
