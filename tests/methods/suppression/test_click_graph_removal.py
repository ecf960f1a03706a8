from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.click_graph import disconnect as reference_disconnect

import querycloak as qc
from querycloak.errors import InputError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.suppression.click_graph_removal import _joined


@given(st.lists(st.sets(st.integers(0, 6), max_size=4), min_size=1, max_size=12))
def test_removal_equals_the_reference_with_ties(documents) -> None:
    pairs = [(q, d) for q, ds in enumerate(documents) for d in sorted(ds)]
    query = np.array([q for q, _ in pairs], dtype=np.int64)
    document = np.array([d for _, d in pairs], dtype=np.int32)
    removed = _joined(query, document, np.ones(len(documents), dtype=np.bool_))
    assert removed.tolist() == reference_disconnect(documents)
    left = [ds for ds, gone in zip(documents, removed.tolist(), strict=True) if not gone]
    assert sum(map(len, left)) == len(set().union(*left))  # density 0: no document is shared


def clicks(*rows):
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows], urls=[r[2] for r in rows])


def published(log, **settings):
    settings = {"as_in_paper": True} | settings
    return sorted(qc.anonymize(log, "click-graph-removal", seed=1, **settings).log.queries.to_list())


def test_each_rule_removes_what_it_should() -> None:
    log = clicks(
        ("a", "one document", "http://x.example/1"),
        ("a", "two of one site", "http://y.example/1"),
        ("a", "two of one site", "http://y.example/2"),
        ("b", "two sites", "http://p.example/1"),
        ("b", "two sites", "http://q.example/1"),
        ("b", "the zebra shop", "http://www.zebra.example/"),
        ("b", "the zebra shop", "http://other.example/"),
        ("c", "no click", None),
    )
    assert published(log, k=2, sites=2) == ["two sites"]
    assert published(log, k=2, sites=1) == ["two of one site", "two sites"]
    assert published(log, k=1, sites=1) == ["one document", "two of one site", "two sites"]
    release = qc.anonymize(log, "click-graph-removal", seed=1, k=2, sites=2, as_in_paper=True)
    assert release.statement.model == "none"
    assert release.statement.dropped["holds the name of a site it led to"] == 2
    assert release.statement.dropped["led to fewer than 2 documents"] == 2
    assert release.statement.dropped["documents from fewer than 2 sites"] == 2


def test_the_hub_of_the_graph_goes_first() -> None:
    log = clicks(
        ("a", "hub", "http://x.example/"),
        ("a", "hub", "http://y.example/"),
        ("b", "left", "http://x.example/"),
        ("c", "right", "http://y.example/"),
    )
    assert published(log, k=1, sites=1) == ["left", "right"]


def test_a_log_without_clicks_is_refused() -> None:
    with pytest.raises(InputError, match="needs clicked URLs"):
        qc.anonymize(QueryLog.of(["a"], ["b"]), "click-graph-removal")


@pytest.mark.parametrize(("least", "expected"), [(1, ["one", "two"]), (2, ["two"]), (3, [])])
def test_rare_queries_are_left_out_from_their_number_of_users_on(least, expected) -> None:
    log = clicks(
        ("a", "one", "http://x.example/"), ("a", "two", "http://y.example/"), ("b", "two", "http://y.example/")
    )
    assert published(log, k=1, sites=1, min_query_users=least, rare="drop", as_in_paper=False) == expected


def test_what_is_left_is_published_as_the_part_that_many_share() -> None:
    rows = [(u, f"{u}{u} green tea", f"http://{u}{i}.example/") for u in "vwxyz" for i in range(2)]
    release = qc.anonymize(clicks(*rows), "click-graph-removal", seed=1, kinds="column")
    assert release.log.queries.to_list() == ["green tea"]
    assert release.log.extra["kind"].to_list() == ["phrase"] * 10
    assert release.statement.text_users == 5


def with_results(log, *results):
    return replace(log, extra=pl.DataFrame({"results": results}))


RETURNED = (
    ("a", "found little", "http://x.example/1"),
    ("b", "found much", "http://y.example/1"),
    ("c", "found in one place", "http://z.example/1"),
)
RESULTS = (
    "http://x.example/1",
    "http://y.example/1 http://p.example/ http://q.example/",
    "http://z.example/1 http://z.example/2 http://z.example/3",
)


def test_documents_are_results_where_the_log_has_them() -> None:
    log = clicks(*RETURNED)
    assert published(log, k=2, sites=1) == []  # one click each
    log = with_results(log, *RESULTS)
    assert published(log, k=2, sites=1) == ["found in one place", "found much"]
    assert published(log, k=2, sites=3) == ["found much"]
    assert published(log, k=4, sites=1) == []


@pytest.mark.parametrize("form", ["list", "json"])
def test_results_may_be_lists(form) -> None:
    lists = [text.split() for text in RESULTS]
    log = with_results(clicks(*RETURNED), *(lists if form == "list" else map(json.dumps, lists)))
    assert published(log, k=2, sites=1) == ["found in one place", "found much"]
    assert published(log, k=3, sites=3) == ["found much"]


def test_a_query_without_results_has_its_clicks_for_documents() -> None:
    rows = (("a", "two clicks", "http://x.example/"), ("a", "two clicks", "http://y.example/"))
    log = with_results(clicks(*RETURNED, *rows), *RESULTS, None, "")
    assert published(log, k=2, sites=2) == ["found much", "two clicks"]


def test_queries_are_joined_by_clicks_also_where_there_are_results() -> None:
    """The graph is that of clicked documents: what was only returned joins nothing. A target is what was clicked."""
    log = clicks(("a", "left", "http://x.example/"), ("b", "right", "http://y.example/"), ("c", "zebra", None))
    same = "http://x.example/ http://y.example/ http://left.example/"
    assert published(with_results(log, same, same, same), k=2, sites=2) == ["left", "right", "zebra"]
    named = with_results(log, same, same, "http://zebra.example/ http://x.example/")
    assert published(named, k=2, sites=2) == ["left", "right"]  # nothing clicked: what was returned may be the target


@pytest.mark.parametrize("results", [False, True])
def test_the_statement_says_what_documents_are(results) -> None:
    log = clicks(*RETURNED)
    log = with_results(log, *RESULTS[:2], None) if results else log
    release = qc.anonymize(log, "click-graph-removal", seed=1, k=1, sites=1)
    (said,) = release.statement.assumptions
    expected = (
        "returned, from the column results, for 2 of 3 distinct queries" if results else "the URLs clicked for it"
    )
    assert expected in said
    assert release.log.extra is None  # result lists are not published


def test_a_column_of_results_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="column results"):
        qc.anonymize(with_results(clicks(*RETURNED), 1, 2, 3), "click-graph-removal")
