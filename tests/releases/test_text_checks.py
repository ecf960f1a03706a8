"""The gate counts again who shares a published text: whole, as a part of queries, or as a label in brackets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.phrases import holds_run
from test_publish import statement, table, truth

from querycloak.errors import GateError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.releases.publish import Evidence, publish_log

TREE = Taxonomy.from_parents([-1, 0, 1, 1], [["thing"], ["drink"], ["Tea"], ["coffee"]])
LOG = QueryLog.of(
    ["ann", "bob", "cem", "dan", "dan"],
    ["Green Tea", "green tea cheap", "very green  tea", "日本茶 shop", "日本茶"],
)
"""Three people hold "green tea"; one of them asked it whole, in capitals."""


def meaning(log, pairs, *, learned=False):
    """Concepts of queries, given as (query, label)."""
    rows = [(r, u, q, TREE.find(label)[0]) for r, (u, q) in enumerate(zip(log.user, log.query, strict=True))
            for wanted, label in pairs if log.queries[int(q)] == wanted]  # fmt: skip
    found = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return ConceptLog(found[:, 0], *(found[:, i].astype(np.int32) for i in (1, 2, 3)), learned=learned)


CONCEPTS = meaning(LOG, [("Green Tea", "tea"), ("green tea cheap", "tea"), ("very green  tea", "coffee")])
EVIDENCE = Evidence(LOG, concepts=CONCEPTS, taxonomy=TREE)


def passes(texts, evidence=EVIDENCE, **promised):
    promised = {"text_users": 3, "parts": True} | promised
    try:
        return publish_log(table(texts), statement(**promised), truth(1), evidence).passed
    except GateError as error:
        if "were asked by fewer than" not in str(error):
            raise
        return False


def test_a_phrase_of_enough_people_passes_and_one_of_a_person_too_few_does_not():
    assert passes(["green tea"])
    assert not passes(["green tea"], text_users=4)
    assert not passes(["green tea"], parts=False)
    assert not passes(["tea green"])
    assert not passes(["green te"])


def test_a_phrase_is_published_as_texts_are_compared():
    assert not passes(["Green Tea"])
    assert not passes(["green  tea"])
    assert passes(["Green Tea"], text_users=2, evidence=replace(EVIDENCE, original=twice(LOG)))


def twice(log):
    """The same log, asked by as many others."""
    users = pl.concat([log.users, log.users + "2"])
    user = np.concatenate([log.user, log.user + np.int32(len(log.users))])
    return QueryLog(user, users, np.concatenate([log.query, log.query]), log.queries)


def test_a_label_in_brackets_counts_those_who_mean_it_or_something_below():
    assert passes(["[drink]", "[Drink]"])
    assert not passes(["[drink]"], text_users=4)
    assert not passes(["[tea]"])
    assert passes(["[tea]"], text_users=2)
    assert not passes(["drink"])
    assert not passes(["[drink]"], parts=False)
    assert not passes(["[nothing]"])


def test_a_label_needs_a_mapping_that_was_not_learned_from_the_log():
    assert not passes(["[drink]"], evidence=Evidence(LOG))
    assert not passes(["[drink]"], evidence=replace(EVIDENCE, concepts=replace(CONCEPTS, learned=True)))


def test_concepts_of_another_log_are_refused():
    for other in (QueryLog.of(["ann"], ["tea"]), replace(LOG, query=LOG.query[::-1].copy())):
        with pytest.raises(GateError, match="those of another log"):
            passes(["[drink]"], evidence=replace(EVIDENCE, original=other))


def test_ids_that_are_taken_for_machines_count_as_nobody():
    log = QueryLog.of(["ann", "bob", "bob", "bob"], ["green tea", "old green tea", "tea", "cup"])
    assert passes(["green tea"], evidence=Evidence(log), text_users=2)
    assert passes(["green tea"], evidence=Evidence(log), text_users=2, settings={"max_rows_per_user": 3})
    assert not passes(["green tea"], evidence=Evidence(log), text_users=2, settings={"max_rows_per_user": 2})


def test_readings_are_counted_as_phrases():
    assert passes(["f00d ba5e"], evidence=replace(EVIDENCE, readings=pl.Series(["green tea"])))
    assert not passes(["f00d ba5e"], evidence=replace(EVIDENCE, readings=pl.Series(["green cup"])))


def test_an_identifier_and_a_name_of_few_people_do_not_pass():
    log = QueryLog.of(["ann", "bob"], ["call 555-010-1234 now", "write to jane miller now"])
    for text, why in (("call 555-010-1234", "personal identifier"), ("jane miller", "a name that fewer than 2")):
        promised = statement(identifiers_dropped=True, parts=True, settings={"famous": 2})
        with pytest.raises(GateError, match=why):
            publish_log(table([text]), promised, truth(1), Evidence(log, taxonomy=TREE))
    promised = statement(identifiers_dropped=True, parts=True, settings={"famous": 1})
    assert publish_log(table(["jane miller"]), promised, truth(1), Evidence(log, taxonomy=TREE)).passed


WORDS = st.lists(st.sampled_from(["a", "b", "B", "a\u0301", "日", "本", "日本", "カナ", "ไทย"]), min_size=1, max_size=4)
TEXTS = st.one_of(WORDS.map(" ".join), WORDS.map("".join))


@given(
    rows=st.lists(st.tuples(st.sampled_from("uvwx"), TEXTS), min_size=1, max_size=12), text=TEXTS, m=st.integers(2, 4)
)
def test_parts_equal_the_reference(rows, text, m):
    log = QueryLog.of([u for u, _ in rows], [q for _, q in rows])
    exactly = {u for u, q in rows if q == text}
    held = {u for u, q in rows if text == text.lower() and holds_run(q, text)}
    expected = len(exactly) >= m or len(held) >= m
    assert passes([text], evidence=Evidence(log), text_users=m) == expected
