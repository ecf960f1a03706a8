"""What may be published instead of a query, against the rule told query by query."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import phrases as reference
from samples import no_meaning

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.texts.identifiers import find_identifiers
from querycloak.texts.names import name_spans
from querycloak.texts.phrases import LABEL, NOTHING, PHRASE, QUERY, shared_texts
from querycloak.texts.text_settings import TextRule

TREE = Taxonomy.from_parents(
    [-1, 0, 1, 2, 3, 4, 5, 5, 3, 8], [[f"c{i}"] for i in range(10)]
)  # 0 to 5 one below the other, 6 and 7 below 5, 8 below 3, 9 below 8
WORDS = ["tea", "Tea", "green", "the", "of", "&", "日本", "日", "本", "555-010-1234", "jane", "miller"]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
    st.lists(st.sampled_from(WORDS[:8]), min_size=1, max_size=3).map("  ".join),
    st.lists(st.sampled_from(["日", "本", "カナ", "x"]), min_size=1, max_size=4).map("".join),
)
ROWS = st.lists(st.tuples(st.sampled_from("uvwxyz"), TEXTS), min_size=1, max_size=14)
RULES = st.builds(
    TextRule,
    people=st.integers(1, 4),
    rare=st.sampled_from(["phrase", "label", "drop", "keep"]),
    identifiers=st.sampled_from(["drop", "keep"]),
    famous=st.integers(1, 5),
    most_rows=st.sampled_from([None, None, 1, 3]),
)


def forbidden_by(rule, log):
    rows = list(zip(log.user.tolist(), log.queries.gather(log.query).to_list(), strict=True))
    often = {user for user, n in Counter(log.user.tolist()).items() if rule.most_rows and n > rule.most_rows}
    held = [(user, f" {' '.join(text.lower().split())} ") for user, text in rows if user not in often]

    def forbidden(text, people):
        if rule.identifiers == "keep":
            return False
        names = [" ".join(text[begin:end].lower().split()) for begin, end in name_spans(text, TREE)]
        rare = any(len({user for user, query in held if f" {name} " in query}) < rule.famous for name in names)
        return bool(find_identifiers(pl.Series([text]))[0]) or (people < rule.famous and rare)

    return forbidden


def found_by(log, rule, concepts=None):
    """Return {query: (text, kind, people)} as the package finds it."""
    needs = no_meaning() if concepts is None else {"concepts": concepts, "taxonomy": TREE}
    found = shared_texts(log, rule, **needs | {"taxonomy": TREE})
    assert len(set(found.words.to_list())) == len(found.words)
    return {
        query: (None if t < 0 else found.words[t], kind, 0 if t < 0 else int(found.people[t]))
        for query, t, kind in zip(log.queries.to_list(), found.text.tolist(), found.kind.tolist(), strict=True)
    }


@pytest.mark.slow
@settings(max_examples=300)
@given(rows=ROWS, rule=RULES, data=st.data())
def test_equals_the_rule(rows, rule, data):
    log = QueryLog.of([u for u, _ in rows], [q for _, q in rows])
    concept = st.lists(st.integers(-1, len(TREE) - 1), min_size=1, max_size=3)
    units = {query: data.draw(concept) for query in log.queries.to_list()}
    meaning = {query: list(dict.fromkeys(c for c in found if c >= 0)) for query, found in units.items()}
    pairs = [(row, c) for row, (_, query) in enumerate(rows) for c in units[query]]
    row = np.array([r for r, _ in pairs], dtype=np.int64)
    concepts = ConceptLog(row, log.user[row], log.query[row], np.array([c for _, c in pairs], dtype=np.int32))
    expected = reference.shared_texts(
        rows,
        rule.people,
        rule.rare,
        forbidden=forbidden_by(rule, log),
        meaning=meaning,
        taxonomy=TREE,
        most_rows=rule.most_rows,
    )
    found = found_by(log, rule, concepts)
    assert {q: what[:2] for q, what in found.items()} == {q: what[:2] for q, what in expected.items()}
    for query, (text, _, people) in found.items():  # a text may come as a query, a phrase and a label: most people
        assert people == max([people for t, _, people in expected.values() if t == text], default=0), query


def rule(m, rare="phrase", **more):
    return TextRule(people=m, rare=rare, identifiers="drop", **more)


def one(rows, query, m, **more):
    return found_by(QueryLog.of([u for u, _ in rows], [q for _, q in rows]), rule(m, **more))[query]


@pytest.mark.parametrize(("m", "expected"), [(2, ("tea", QUERY, 3)), (3, ("tea", QUERY, 3)), (4, (None, NOTHING, 0))])
def test_the_number_of_people_at_its_edge(m, expected):
    assert one([("a", "tea"), ("b", "tea"), ("c", "tea"), ("c", "tea")], "tea", m) == expected


@pytest.mark.parametrize(("m", "expected"), [(2, ("日本", PHRASE, 2)), (3, ("日", PHRASE, 3))])
def test_a_run_of_letters_is_another_than_the_same_with_a_space(m, expected):
    assert one([("a", "日本茶"), ("b", "日本海"), ("c", "日 本")], "日本茶", m) == expected


def test_an_address_keeps_the_part_that_others_asked():
    rows = [(u, f"{u}hotel panama city florida") for u in "abcde"]
    query = "609 allen ave panama city florida 32401"
    assert one([*rows, ("f", query)], query, 5) == ("panama city florida", PHRASE, 6)


def test_the_longer_run_is_taken_then_that_of_more_people_then_the_left():
    rows = [("a", "red tea cup pot"), ("b", "red tea"), ("c", "cup pot"), ("d", "cup pot"), ("e", "tea cup")]
    assert one(rows, "red tea cup pot", 2)[0] == "cup pot"
    assert one(rows[:3], "red tea cup pot", 2)[0] == "red tea"


def test_stop_words_and_marks_alone_are_no_phrase():
    rows = [(u, f"{u}x of the & {u}y") for u in "abc"]
    assert one(rows, "ax of the & ay", 3) == (None, NOTHING, 0)
    assert one([(u, f"{u}x of tea {u}y") for u in "abc"], "ax of tea ay", 3) == ("of tea", PHRASE, 3)


def test_a_spelling_of_too_few_people_is_not_published():
    rows = [("a", "Green Tea"), ("b", "green tea"), ("c", "green  tea")]
    assert {one(rows, query, 3) for _, query in rows} == {("green tea", QUERY, 3)}
    assert one([*rows, ("d", "Green Tea")], "Green Tea", 2)[0] == "Green Tea"


def test_seven_words_that_all_asked_within_queries_are_cut_to_six():
    rows = [(u, f"{u} one two three four five six seven") for u in "abc"]
    assert one(rows, rows[0][1], 3)[0] == "one two three four five six"
    assert (
        one(
            [("a", "b"), *((u, "one two three four five six seven") for u in "abc")],
            "one two three four five six seven",
            3,
        )[1]
        == QUERY
    )


def test_a_machine_counts_as_nobody_and_its_rows_are_treated_like_others():
    rows = [("a", "tea"), ("b", "tea"), ("bot", "tea"), ("bot", "tea"), ("bot", "cup")]
    assert one(rows, "tea", 3) == ("tea", QUERY, 3)
    assert one(rows, "tea", 3, most_rows=2) == (None, NOTHING, 0)
    assert one(rows, "tea", 2, most_rows=2) == ("tea", QUERY, 2)


def test_labels_learned_from_the_log_are_not_published():
    log = QueryLog.of(["a", "b"], ["x", "y"])
    codes = np.array([6, 7], dtype=np.int32)
    for learned, expected in ((False, ("[c5]", LABEL, 2)), (True, (None, NOTHING, 0))):
        concepts = ConceptLog(np.arange(2), log.user, log.query, codes, learned=learned)
        assert found_by(log, rule(2), concepts)["x"] == expected


def test_an_empty_log_and_an_empty_query():
    assert found_by(QueryLog.of([], []), rule(2)) == {}
    assert one([("a", ""), ("b", " ")], "", 2) == ("", QUERY, 2)
    assert one([("a", ""), ("b", "tea")], "", 2) == (None, NOTHING, 0)


def test_counts_are_of_events():
    log = QueryLog.of(["a", "b", "a", "a"], ["tea", "tea", "tea cup", "zzz"])
    found = shared_texts(log, rule(2), **no_meaning())
    assert list(found.counts(log.query).values()) == [2, 1, 0, 1]


@pytest.mark.parametrize(("famous", "published"), [(8, "karen hartwell boston"), (9, "hartwell boston")])
def test_the_name_must_be_famous_and_not_the_text_that_holds_it(famous, published):
    texts = ["karen hartwell"] * 5 + ["karen hartwell boston"] * 3
    log = QueryLog.of([f"u{i}" for i in range(8)], texts)
    rule = TextRule(people=3, rare="phrase", identifiers="drop", famous=famous)
    assert found_by(log, rule)["karen hartwell boston"][0] == published
