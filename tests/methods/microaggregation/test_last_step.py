"""Which rows a group publishes, and which text each is: against plain loops, and what must hold of any log."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import last_step as reference
from strategies import taxonomies

from querycloak.methods.microaggregation._last_step import Asked, draw_entries, own_concepts, take_evenly
from querycloak.randomness import Randomness
from querycloak.texts.phrases import LABEL, NOTHING, PHRASE, QUERY, SharedTexts

WORDS = ["tea", "green", "concept 3", "[concept 1]", "Concept 7"]


@st.composite
def groups_of_events(draw):
    taxonomy = draw(taxonomies(most=12))
    groups = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 4), min_size=groups, max_size=groups))
    queries = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from([QUERY, PHRASE, PHRASE, LABEL, NOTHING]), min_size=queries, max_size=queries))
    text = [draw(st.sampled_from(range(len(WORDS)))) if k != NOTHING else -1 for k in kinds]
    concepts = st.lists(st.integers(0, len(taxonomy) - 1), max_size=3)
    of_query = [draw(concepts) for _ in range(queries)]
    events = draw(st.lists(st.tuples(st.integers(0, queries - 1), st.integers(0, groups - 1)), min_size=1, max_size=25))
    label = [draw(st.sampled_from([-1, 0, c])) for c in range(len(taxonomy))]
    shared = SharedTexts(
        np.array(text), np.array(kinds, np.int8), pl.Series(WORDS), np.full(len(WORDS), 9), np.array(label)
    )
    return taxonomy, sizes, of_query, events, shared


def asked_of(events, of_query):
    units = [(i, c) for i, (q, _) in enumerate(events) for c in of_query[q]]
    pairs = np.array(units, dtype=np.int64).reshape(-1, 2)
    query, group = np.array(events, dtype=np.int32).T
    return Asked(10 + 2 * np.arange(len(events)), query, group, pairs[:, 0], pairs[:, 1])


@given(groups_of_events(), st.integers(0, 2**20))
@settings(max_examples=300)
def test_entries_equal_the_reference(drawn, seed) -> None:
    taxonomy, sizes, of_query, events, shared = drawn
    asked = asked_of(events, of_query)
    got = draw_entries(asked, np.array(sizes), shared, taxonomy, Randomness(seed))
    label_of = [f"[{taxonomy.label(c)}]" if c >= 0 else None for c in shared.label.tolist()]
    expected = reference.entries(
        [(int(r), q, g) for r, (q, g) in zip(asked.row, events, strict=True)],
        [of_query[q] for q, _ in events],
        list(zip(shared.text.tolist(), shared.kind.tolist(), strict=True)),
        WORDS,
        sizes,
        label_of,
        taxonomy,
        Randomness(seed),
    )
    words = got.words.gather(got.text).to_list()
    assert list(zip(got.group, words, got.kind, got.row, strict=True)) == expected


@given(groups_of_events(), st.integers(0, 2**20))
def test_rows_are_the_mean_of_the_group_and_no_event_is_taken_twice(drawn, seed) -> None:
    _, sizes, _, events, _ = drawn
    group = np.array([g for _, g in events])
    may = np.arange(len(events)) % 3 > 0
    about = np.array([q for q, _ in events])
    taken = take_evenly(group, about, about, may, np.array(sizes), Randomness(seed))
    assert may[taken].all()
    assert len(set(taken.tolist())) == len(taken)
    for g, size in enumerate(sizes):
        wanted = min(int((group == g).sum() / size + 0.5), int((may & (group == g)).sum()))
        assert (group[taken] == g).sum() == wanted
        for topic in set(about.tolist()):
            mine = may & (group == g)
            exact = (mine & (about == topic)).sum() * wanted / max(mine.sum(), 1)
            assert abs(((group[taken] == g) & (about[taken] == topic)).sum() - exact) < 1


def test_every_event_is_taken_with_the_same_chance() -> None:
    """7 events, 3 to take: each in 3/7 of 4,000 draws; five standard deviations are 157."""
    seen = Counter()
    every = np.ones(7, dtype=np.bool_)
    for seed in range(4000):
        order = np.arange(7)
        seen.update(take_evenly(np.zeros(7, np.int64), order, order, every, np.array([2]), Randomness(seed)).tolist())
    assert sum(seen.values()) == 4 * 4000  # 7 / 2 is rounded up
    assert all(abs(n - 4000 * 4 / 7) < 157 for n in seen.values())


def test_a_text_is_drawn_by_how_often_it_was_asked_and_a_shared_query_stays() -> None:
    from querycloak.knowledge.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_parents([-1, 0], [["top"], ["leaves"]])
    words = pl.Series(["tea", "tea cups", "of tea"])
    kinds = np.array([QUERY, QUERY, PHRASE], np.int8)
    shared = SharedTexts(np.array([0, 1, 2]), kinds, words, np.array([9, 9, 9]), np.full(2, -1))
    # group 0 asked "tea" three times and "tea cups" once; group 1 twelve rare queries, four with a phrase about it
    query = np.array([0, 0, 0, 1] + [2] * 12)
    group = np.array([0] * 4 + [1] * 12)
    unit = np.arange(10)  # of the twelve, six are about the concept: half, as many as needed
    asked = Asked(np.arange(16), query, group, unit, np.ones(10, np.int64))
    seen = Counter()
    for seed in range(1000):
        got = draw_entries(asked, np.array([1, 1]), shared, taxonomy, Randomness(seed))
        assert got.row[:4].tolist() == [0, 1, 2, 3] or sorted(got.row[:4].tolist()) == [0, 1, 2, 3]
        assert len(got.row) == 16
        seen.update(got.text[got.group == 1].tolist())
    # 6 of the 12 rows of group 1 are drawn: 6,000 draws 3 : 1 : 6, five standard deviations are 190 at most; the other
    # 6 have no concept and keep their phrase
    assert abs(seen[0] - 1800) < 190
    assert abs(seen[1] - 600) < 190
    assert abs(seen[2] - 6000 - 3600) < 190


def test_queries_without_a_concept_are_one_where_they_share_a_text() -> None:
    words = pl.Series(["ebay"])
    shared = SharedTexts(
        np.array([0, 0, -1, -1]),
        np.array([QUERY, PHRASE, NOTHING, NOTHING], np.int8),
        words,
        np.array([9]),
        np.zeros(0),
    )
    own, others = own_concepts(np.array([0, 1, 2, 3, 2]), np.array([-1, -1, -1, 5, -1]), shared, 100)
    assert own.tolist() == [100, 100, 101, 5, 101]
    assert others == 2


@pytest.mark.parametrize("kind", [PHRASE, LABEL])
def test_a_phrase_is_published_if_it_is_about_the_concept_and_a_label_if_not(kind) -> None:
    """ "in rome" is about Rome in 2 of 4 events; in 2 of 5 it is not."""
    others = 2 if kind == PHRASE else 3
    got = entries_of_phrase("in rome", others)
    assert sorted(got.kind.tolist()) == sorted([kind] * 2 + [PHRASE] * others)


@pytest.mark.parametrize(("phrase", "kind"), [("Rome", PHRASE), ("milan", LABEL)])
def test_a_phrase_that_means_something_else_alone_is_not_about_the_concept(phrase, kind) -> None:
    assert sorted(entries_of_phrase(phrase, 0).kind.tolist()) == [kind] * 2


def entries_of_phrase(phrase, others):
    """Draw all entries of one group: two events about Rome and others about nothing, all with the same phrase."""
    from querycloak.knowledge.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_parents([-1, 0, 0], [["top"], ["rome"], ["milan"]])
    label = np.array([-1, 1, -1])
    shared = SharedTexts(np.zeros(2, np.int64), np.full(2, PHRASE, np.int8), pl.Series([phrase]), np.array([9]), label)
    query = np.array([0, 0] + [1] * others)
    asked = Asked(np.arange(len(query)), query, np.zeros(len(query), np.int64), np.arange(2), np.ones(2, np.int64))
    return draw_entries(asked, np.array([1]), shared, taxonomy, Randomness(1))


def test_a_label_is_published_by_the_name_that_means_it_first() -> None:
    from querycloak.knowledge.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_parents([-1, 0, 1], [["top"], ["bank"], ["bank", "savings bank"]])
    shared = SharedTexts(np.array([-1]), np.full(1, NOTHING, np.int8), pl.Series([""]), np.array([9]), np.arange(3))
    asked = Asked(np.arange(2), np.zeros(2, np.int64), np.zeros(2, np.int64), np.arange(2), np.array([1, 2]))
    got = draw_entries(asked, np.array([1]), shared, taxonomy, Randomness(1))
    assert sorted(got.words.gather(got.text).to_list()) == ["[bank]", "[savings bank]"]
