from __future__ import annotations

from dataclasses import asdict, replace

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import askers as slow_askers
from reference import exposure as slow
from sample_releases import distinct_log, queries_of, release_of, statement

import querycloak as qc
from querycloak.evaluation.exposure import Exposure, exposure, exposure_rows
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.releases.askers import find_askers
from querycloak.releases.release import CountRelease, ItemRelease, LogRelease, StreamRelease, Truth
from querycloak.texts.identifiers import KINDS
from querycloak.texts.sensitive import load_sensitive

THINGS = Taxonomy.from_parents([-1, 0, 0, 2], [["thing"], ["tea"], ["illness"], ["cancer", "asthma"]])
WORDS = load_sensitive()


def concepts_of(log):
    """Each query means what its first word is a label of."""
    first = [THINGS.find((text.split() or [""])[0]) for text in log.queries.to_list()]
    concept = np.array([found[0] if found else -1 for found in first], dtype=np.int32)
    concept = concept[log.query] if len(concept) else np.zeros(0, dtype=np.int32)
    return ConceptLog(np.arange(len(log)), log.user, log.query, concept)


def exposed(log, release):
    askers = find_askers(log, release, concepts=concepts_of(log), taxonomy=THINGS)
    return exposure(log, release, askers, taxonomy=THINGS)


def test_a_release_that_leaks_all():
    log = distinct_log(users=6, queries=5)
    found = exposed(log, release_of(log, queries_of(log), list(range(6))))
    assert (found.own_row_share, found.own_text_share, found.exposed_share) == (1.0, 1.0, 1.0)
    assert (found.own_rows, found.own_texts, found.exposed_people, found.people) == (30, 30, 6, 6)
    assert (found.most_own_in_one_log, found.logs_with_own, found.logs_naming_member) == (5, 6, 6)
    assert (found.smallest_class, found.classes) == (1, 6)
    assert found.few_people == {2: 30, 5: 30, 10: 30, 30: 30}


def test_a_release_that_leaks_nothing():
    log = QueryLog.of([f"u{i}" for i in range(40)] * 2, ["tea"] * 40 + ["tea cups"] * 40)
    found = exposed(log, release_of(log, [["tea", "tea cups"]] * 40, list(range(40))))
    assert (found.own_rows, found.own_texts, found.exposed_people, found.most_own_in_one_log) == (0, 0, 0, 0)
    assert (found.logs_with_own, found.logs_naming_member, found.classes_sharing_sensitive) == (0, 0, 0)
    assert found.few_people == dict.fromkeys((2, 5, 10, 30), 0)
    assert (found.smallest_class, found.classes, found.identifier_texts, found.name_texts) == (40, 1, 0, 0)
    assert found.not_counted == ()


def group_log():
    """Two groups of two: what ann alone asked is in the log of both groups."""
    asked = {
        "ann": ["tea", "blue tea", "red tea", "cancer"],
        "bob": ["tea", "cancer", "hot tea"],
        "cid": ["tea", "asthma"],
        "dan": ["tea", "call 555-010-1234", "karen hartwell"],
    }
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    return QueryLog.of([u for u, _ in rows], [q for _, q in rows])


def test_groups_with_known_counts():
    log = group_log()
    first, second = ["tea", "cancer", "blue tea", "red tea", "hot tea"], ["tea", "asthma", "blue tea"]
    found = exposed(log, release_of(log, [first, first, second, second], [0, 1, 2, 3]))
    assert (found.rows, found.texts, found.people) == (16, 6, 4)
    assert (found.own_texts, found.own_rows) == (4, 10)  # blue, red and hot tea, asthma
    assert (found.exposed_people, found.exposed_share) == (3, 0.75)  # all but dan
    assert found.few_people == {2: 4, 5: 6, 10: 6, 30: 6}
    assert (found.most_own_in_one_log, found.logs_with_own) == (2, 2)
    assert found.logs_naming_member == 2  # ann has most in the first; cid and ann have one each in the second
    assert (found.smallest_class, found.classes) == (2, 2)
    assert (found.classes_with_sensitive, found.classes_sharing_sensitive) == (2, 1)  # both of the first asked cancer
    assert found.sensitive_own_texts == {"health": 1, "sex": 0, "religion": 0, "money": 0, "crime": 0}


def test_a_person_named_in_a_group_of_others():
    log = group_log()
    found = exposed(log, release_of(log, [["blue tea"], ["blue tea"]], [2, 3]))
    assert (found.logs_with_own, found.logs_naming_member) == (1, 0)


def test_identifiers_and_names():
    log = group_log()
    found = exposed(log, release_of(log, [["call 555-010-1234", "call 555-010-1234", "karen hartwell", "tea"]], [3]))
    assert (found.identifier_texts, found.identifier_rows) == (1, 2)
    assert found.identifiers == {kind: int(kind == "phone") for kind in KINDS}
    assert (found.name_texts, found.name_rows) == (1, 1)


def test_texts_of_public_knowledge_are_counted_apart():
    log = QueryLog.of(["ann", "bob"], ["cancer", "tea"])
    drawn = exposed(log, release_of(log, [["cancer", "tea cancer"], ["blue"]], [0, 1], epsilon=1.0))
    assert (drawn.public_texts, drawn.public_rows, drawn.own_texts, drawn.exposed_people) == (2, 2, 0, 0)
    assert (drawn.texts_of_nobody, drawn.few_people[2], drawn.classes_with_sensitive) == (1, 0, 0)
    taken = exposed(log, release_of(log, [["cancer"]], [0], k=5.0))
    assert (taken.public_texts, taken.own_texts, taken.exposed_people, taken.classes_sharing_sensitive) == (0, 1, 1, 1)


def test_counts_weigh_rows_and_have_no_groups():
    log = group_log()
    table = QueryLog.of([""] * 3, ["tea", "blue tea", "red tea"])
    table = replace(table, extra=pl.DataFrame({"count": [90, 10, -4]}))
    found = exposed(log, CountRelease(table, statement()))
    assert (found.rows, found.own_rows, found.own_row_share, found.own_texts) == (100, 10, 0.1, 2)
    assert (found.smallest_class, found.most_own_in_one_log, found.classes_sharing_sensitive) == (None, None, None)
    assert len(found.not_counted) == 1


def test_a_stream_has_rows_and_no_groups():
    log = group_log()
    release = StreamRelease(QueryLog.of(["x", "y"], ["tea", "asthma"]), statement(), Truth(np.array([0, 1], np.int32)))
    found = exposed(log, release)
    assert (found.own_rows, found.exposed_people, found.logs_naming_member) == (1, 1, None)
    assert len(found.not_counted) == 1


def test_without_the_truth_what_needs_members_is_not_counted():
    log = group_log()
    release = replace(release_of(log, [["blue tea", "red tea", "cancer"]], [0]), truth=None)
    found = exposed(log, release)
    assert (found.most_own_in_one_log, found.logs_with_own, found.classes_with_sensitive) == (2, 1, 1)
    assert (found.logs_naming_member, found.classes_sharing_sensitive) == (None, None)
    assert "truth" in found.not_counted[0]


@pytest.mark.parametrize("kind", [LogRelease, ItemRelease, CountRelease, StreamRelease])
def test_an_empty_release(kind):
    log = group_log()
    table = replace(QueryLog.of([], [], categories=[]), extra=pl.DataFrame({"count": []}, schema={"count": pl.Int64}))
    found = exposed(log, kind(table, statement(), Truth(np.zeros(0, np.int32))))
    assert (found.rows, found.texts, found.people, found.own_row_share, found.exposed_share) == (0, 0, 4, 0.0, 0.0)
    assert found.smallest_class is None
    assert exposure_rows(found)


def test_an_empty_log():
    found = exposed(QueryLog.of([], []), release_of(QueryLog.of([], []), [["tea"]], [0]))
    assert (found.people, found.exposed_share, found.texts_of_nobody) == (0, 0.0, 1)


def test_it_can_be_written_and_read():
    log = group_log()
    found = exposed(log, release_of(log, [["tea", "blue tea"]], [0]))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Exposure) == found


def test_rows_say_what_they_mean():
    log = group_log()
    rows = exposure_rows(exposed(log, release_of(log, [["tea", "blue tea", "call 555-010-1234"]], [0])))
    shown = {what: value for what, value, _ in rows}
    assert shown["own texts"] == "66.7% (2 of 3)"
    assert shown["people with an own text"] == "50.0% (2 of 4)"
    assert shown["texts with an identifier"] == "1 (1 phone)"
    assert shown["chance by the smallest group"] == "100.0% (1 of 1)"
    assert all(meaning.endswith("lower is better.") for _, _, meaning in rows)
    log = QueryLog.of(["ann"], ["tea"])
    release = replace(release_of(log, [["tea"]], [0], epsilon=1.0), truth=None)
    rows = exposure_rows(exposed(log, release))
    assert [what for what, _, _ in rows][-2:] == ["texts from public knowledge", "not counted"]


TEXTS = st.sampled_from(
    ["tea", "blue tea", "cancer", "asthma help", "food stamps", "karen hartwell", "x@y.com", "illness"]
)


@st.composite
def cases(draw):
    rows = draw(st.lists(st.tuples(st.integers(0, 4), TEXTS), min_size=1, max_size=14))
    log = QueryLog.of([f"u{u}" for u, _ in rows], [q for _, q in rows])
    bag = st.lists(TEXTS, max_size=4)
    bags = draw(st.lists(bag, min_size=1, max_size=3))
    published = [draw(st.sampled_from(bags)) for _ in log.users]
    truth = draw(st.permutations(range(len(log.users))))
    release = release_of(log, published, truth, **draw(st.sampled_from([{}, {"epsilon": 1.0}])))
    kind = draw(st.sampled_from(["log", "no truth", "items", "counts", "stream"]))
    table = release.log
    if kind == "no truth":
        return log, replace(release, truth=None)
    if kind == "items":
        path = draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))
        table = replace(table, category=np.array(path, dtype=np.int32), categories=pl.Series(THINGS.paths))
        return log, ItemRelease(table, release.statement, release.truth)
    if kind == "counts":
        count = draw(st.lists(st.integers(-2, 9), min_size=len(table), max_size=len(table)))
        table = replace(table, extra=pl.DataFrame({"count": pl.Series(count, dtype=pl.Int64)}))
        return log, CountRelease(table, release.statement)
    return log, release if kind == "log" else StreamRelease(table, release.statement, release.truth)


@given(cases())
def test_equals_the_reference(case):
    log, release = case
    asked = slow_askers.askers(log, release, concepts_of(log), THINGS)
    expected = slow.exposure(log, release, asked, WORDS, THINGS)
    found = asdict(exposed(log, release))
    assert {name: found[name] for name in expected} == expected
    rest = {name: value for name, value in found.items() if name not in expected and name != "not_counted"}
    shares = {name: rest.pop(name) for name in list(rest) if name.endswith("_share")}
    assert set(rest.values()) <= {None}
    assert shares["own_text_share"] == pytest.approx(expected["own_texts"] / max(expected["texts"], 1))
    assert shares["own_row_share"] == pytest.approx(expected["own_rows"] / (expected["rows"] or 1))
    assert shares["exposed_share"] == pytest.approx(expected["exposed_people"] / expected["people"])


def test_values_of_further_columns_that_one_person_has():
    log = QueryLog.of(
        ["ann", "bob", "ann", "bob"], ["tea"] * 4, urls=["a/ann", "a/bob", "a", "a"], categories=["x", "x", None, "y"]
    )
    log = replace(log, extra=pl.DataFrame({"city": ["ulm", "ulm", None, "bonn"]}))
    table = replace(log, users=pl.Series(["p0", "p1"]))
    found = exposed(log, LogRelease(table, statement(k=2.0), Truth(np.arange(2, dtype=np.int32))))
    shares = {"url": 0.5, "category": 0.25, "city": 0.25, "url with its text": 0.5}
    assert found.own_value_shares == shares
    assert ("rows with an own url", "50.0%") in [(what, value) for what, value, _ in exposure_rows(found)]
    assert exposed(log, release_of(log, [["tea"]], [0])).own_value_shares == {}


def test_clicks_and_times_of_one_person_are_counted():
    """Both URLs, the text and the days are everybody's; "green tea" with b.example, and on day 1, is ann's alone."""
    day = 86_400
    log = QueryLog.of(
        ["ann", "ann", "bob", "bob", "cat"],
        ["green tea", "old tea", "tea", "green tea", "cup"],
        times=[day + 5, 2 * day, day + 9, 2 * day + 1, day],
        urls=["b.example", "a.example", "a.example", "a.example", "b.example"],
    )
    table = QueryLog.of(
        ["p", "p", "q", "q"],
        ["green tea", "tea", "tea", "green tea"],
        times=[day, 2 * day, day, MISSING_TIME],
        urls=["b.example", "a.example", "a.example", None],
    )
    said = replace(statement(k=2.0), time_grain="day")
    found = exposed(log, LogRelease(table, said, Truth(np.arange(2, dtype=np.int32))))
    assert found.own_value_shares == {"url": 0.0, "url with its text": 0.25}
    assert found.own_moment_share == 0.25
    shown = [(what, value) for what, value, _ in exposure_rows(found)]
    assert ("rows with a text of one person at that time", "25.0%") in shown
    without = LogRelease(replace(table, time=None, url=None, urls=None), said, Truth(np.arange(2, dtype=np.int32)))
    assert exposed(log, without).own_moment_share is None


def test_labels_of_a_stream_are_counted_in_the_tree_of_its_categories():
    """A log without categories is streamed over our topics: "[Dogs]" stands for all who asked about dogs."""
    log = qc.generate(users=80, queries=3000, seed=3).log
    bench = Workbench(log)
    release = bench.anonymize("self-adjusting", seed=1, k=3, min_query_users=3)
    assert release.statement.figures["published as labels"] > 100
    assert bench.exposure_of(release).own_texts == 0
    assert int(bench.askers_of(release).people.min()) >= 3
