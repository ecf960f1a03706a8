"""What a record of a stream may say: like the reference, and never what fewer than m people asked before."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.stream_texts import ReferenceTexts

from querycloak.arrays.checks import BadStateError
from querycloak.methods.stream import stream_texts
from querycloak.methods.stream.stream_texts import StreamTexts
from querycloak.texts.phrases import NOTHING
from querycloak.texts.text_settings import TextRule

KIND = ("query", "phrase", "label")
WORDS = ["green", "Tea", "tea", "the", "of", "pot", "ann", "miller", "555-010-1234", "ü"]
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
paths = st.sampled_from(
    [(), ("Food",), ("Food", "Tea"), ("a", "b", "c", "d", "e", "f"), ("a", "b", "c", "d", "e", "g")]
)
few = st.sampled_from(
    ["green tea", "Green Tea", "the pot", "ann miller", "of the", "green tea pot", "tea 555-010-1234"]
)
records = st.lists(st.tuples(st.integers(0, 6), st.one_of(few, few, queries), paths), max_size=60)
rules = st.builds(
    TextRule,
    people=st.integers(1, 4),
    rare=st.sampled_from(["phrase", "phrase", "label", "drop", "keep"]),
    identifiers=st.sampled_from(["drop", "keep"]),
    famous=st.integers(1, 6),
    most_rows=st.sampled_from([None, 2, 5]),
)


def holds_identifier(text):
    return "555-010-1234" in text


def holds_name(text):
    return "ann miller" in text.lower()


@pytest.fixture(autouse=True)
def plain_finders(monkeypatch):
    """Two finders that the reference can follow; how names are found is tested where it is done."""
    monkeypatch.setattr(stream_texts, "find_names", lambda texts, _: np.array([holds_name(t) for t in texts], np.bool_))


def make(rule, most=10**7):
    return StreamTexts(rule, most, lambda: None)


def pushed(texts, batch):
    """(kind, text) of the records of a batch, None = nothing."""
    known = {q: i for i, q in enumerate(dict.fromkeys(q for _, q, _ in batch))}
    of_paths = {p: i for i, p in enumerate(dict.fromkeys(p for _, _, p in batch))}
    chosen = texts.take(
        pl.Series(list(known), dtype=pl.String),
        np.array([known[q] for _, q, _ in batch], dtype=np.int32),
        np.array([u for u, _, _ in batch], dtype=np.int32),
        np.array([of_paths[p] for _, _, p in batch], dtype=np.int32),
        list(of_paths),
    )
    changed = np.flatnonzero(chosen.begin >= 0)
    out = [q for _, q, _ in batch]
    for i, text in zip(changed.tolist(), chosen.texts(changed).to_list(), strict=True):
        out[i] = text
    return [None if k == NOTHING else (KIND[k], text) for k, text in zip(chosen.kind.tolist(), out, strict=True)]


@settings(max_examples=150)
@given(records, rules, st.integers(1, 9), st.sampled_from([10**7, 3, 10, 25]), st.booleans())
def test_like_the_reference_whatever_the_batches_and_checkpoints(table, rule, size, most, saved):
    reference = ReferenceTexts(rule, holds_identifier, holds_name, most)
    texts, found = make(rule, most), []
    for i in range(0, len(table), size):
        found += pushed(texts, table[i : i + size])
        if saved:
            again = make(rule, most)
            again.restore(texts.to_arrays(), 7)
            assert all(np.array_equal(a, again.to_arrays()[name]) for name, a in texts.to_arrays().items())
            texts = again
    assert found == [reference.push(*record) for record in table]
    assert texts.people.phrases == len(reference.known) <= most


@settings(max_examples=100)
@given(records, rules.filter(lambda rule: rule.rare != "keep"), st.sampled_from([10**7, 10]))
def test_what_is_published_was_asked_by_m_people_before(table, rule, most):
    """From the records alone: no count of the method is used."""
    for i, said in enumerate(pushed(make(rule, most), table) if table else []):
        if said is None:
            continue
        kind, text = said
        if kind == "label":
            askers = {u for u, _, p in table[:i] if p and text[1:-1] in p}
        elif kind == "query":
            askers = {u for u, q, _ in table[:i] if q.lower() == text.lower()}
        else:
            askers = {u for u, q, _ in table[:i] if f" {text} " in f" {q.lower()} "}
        assert len(askers) >= rule.people
        if rule.identifiers == "drop":
            assert not holds_identifier(text)
            assert kind == "label" or not holds_name(text) or len(askers) >= rule.famous


@given(records.filter(len), rules, st.data())
def test_who_asks_does_not_matter(table, rule, data):
    """The last record says the same, whoever of the stream asks it, or somebody new."""
    texts = [make(rule) for _ in range(2)]
    *before, (_, query, path) = table
    askers = data.draw(st.tuples(st.integers(0, 8), st.integers(0, 8)))
    one, other = (pushed(t, [*before, (u, query, path)])[-1] for t, u in zip(texts, askers, strict=True))
    assert one == other


def test_the_record_that_brings_a_text_to_m_people_is_not_published_whole():
    texts = make(TextRule(3, "drop", "drop"))
    asked = [(u, "green tea", ()) for u in (1, 1, 2, 3, 3, 4)]
    assert pushed(texts, asked) == [None] * 4 + [("query", "green tea")] * 2


def test_a_rare_query_leaves_as_the_part_that_is_shared():
    texts = make(TextRule(3, "phrase", "drop"))
    pushed(texts, [(u, f"hotel {u} panama city florida", ()) for u in range(3)])
    assert pushed(texts, [(9, "609 allen ave panama city florida 32401", ())]) == [("phrase", "panama city florida")]


def test_ties_more_people_then_left():
    texts = make(TextRule(2, "phrase", "keep", famous=9))
    pushed(texts, [(u, q, ()) for u in range(3) for q in ("tea pot", "green cup")])
    assert pushed(texts, [(9, "x green cup y tea pot", ())]) == [("phrase", "green cup")]
    texts = make(TextRule(2, "phrase", "drop", famous=9))
    pushed(texts, [(u, "green cup", ()) for u in range(2)] + [(u, "tea pot", ()) for u in range(3)])
    assert pushed(texts, [(9, "x green cup y tea pot", ())]) == [("phrase", "tea pot")]


def test_a_text_is_published_as_it_was_spelled_only_if_so_many_spelled_it_so():
    texts = make(TextRule(3, "phrase", "drop"))
    pushed(texts, [(u, "green tea", ()) for u in range(3)] + [(4, "Green Tea", ()), (5, "Green Tea", ())])
    assert pushed(texts, [(9, "Green Tea", ())]) == [("query", "green tea")]
    assert pushed(texts, [(9, "Green Tea", ())]) == [("query", "Green Tea")]


def test_an_id_with_too_many_records_counts_as_nobody_from_then_on():
    texts = make(TextRule(2, "drop", "drop", most_rows=2))
    asked = [(0, "a"), (0, "b"), (0, "tea"), (1, "tea"), (2, "tea"), (3, "tea")]
    found = pushed(texts, [(u, q, ()) for u, q in asked])
    assert found == [None] * 5 + [("query", "tea")]


def test_a_phrase_needs_a_word_that_says_something():
    texts = make(TextRule(2, "phrase", "drop"))
    pushed(texts, [(u, f"of the {u}", ()) for u in range(3)])
    assert pushed(texts, [(9, "of the ages", ())]) == [None]


def test_no_new_phrase_is_counted_when_there_is_no_room():
    texts = make(TextRule(2, "drop", "drop"), most=2)
    assert pushed(texts, [(u, "tea", ()) for u in range(3)])[-1] == ("query", "tea")
    assert texts.is_full
    assert pushed(texts, [(u, "pot", ()) for u in range(9)]) == [None] * 9
    assert pushed(texts, [(9, "tea", ())]) == [("query", "tea")]


def test_many_items_and_pairs():
    """All tables grow several times, and pairs of items with enough people are forgotten."""
    random = np.random.default_rng(4)
    rule = TextRule(3, "phrase", "drop", famous=4)
    table = [(int(u), f"w{a % 300} w{b % 3000}", ()) for u, a, b in zip(*(random.zipf(1.4, 4000) % n for n in (200, 10**6, 10**6)), strict=True)]  # fmt: skip  # noqa: E501
    reference, texts = ReferenceTexts(rule, holds_identifier, holds_name), make(rule)
    found = [said for i in range(0, len(table), 900) for said in pushed(texts, table[i : i + 900])]
    assert found == [reference.push(*record) for record in table]
    assert len(texts.people.store.slots) > 4096
    assert len(texts.people.store.pairs) > 1024


def damage(name, change):
    def apply(arrays):
        arrays[name] = change(arrays[name].copy())

    return apply


def put(index, value):
    def change(array):
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "change",
    [
        damage("people.keys", put(0, 0)),
        damage("people.keys", put(0, np.uint64(9) << np.uint64(32) | np.uint64(1))),
        damage("people.keys", put(0, 1 << 31)),
        damage("people.keys", put(-1, np.uint64(3) << np.uint64(62))),
        damage("people.keys", put(-1, 1 << 62 | 99)),
        damage("people.keys", lambda keys: np.append(keys[:-1], keys[0])),
        damage("people.people", put(0, 99)),
        damage("people.people", put(0, 0)),
        damage("people.people", put(0, 1)),
        damage("people.first", put(0, -1)),
        damage("people.first", put(0, 7)),
        damage("people.pairs", lambda pairs: pairs[1:]),
        damage("people.pairs", lambda pairs: np.append(pairs, pairs[:1])),
        damage("people.pairs", put(0, 0)),
        damage("people.pairs", put(0, np.uint64(1) << np.uint64(32) | np.uint64(70))),
        damage("people.pairs", put(0, np.uint64(999) << np.uint64(32))),
        damage("words.texts", put(0, 120)),
        damage("rows", lambda rows: np.append(rows, np.arange(99))),
        damage("rows", put(0, -1)),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(change):
    texts = make(TextRule(3, "phrase", "drop", famous=5))
    table = [(u, q, ("Food", "Tea")) for u in range(3) for q in ("green tea", "Green Tea", "tea pot")]
    pushed(texts, table)
    arrays = texts.to_arrays()
    make(TextRule(3, "phrase", "drop", famous=5)).restore(dict(arrays), 7)
    change(arrays)
    with pytest.raises(BadStateError):
        make(TextRule(3, "phrase", "drop", famous=5)).restore(arrays, 7)
