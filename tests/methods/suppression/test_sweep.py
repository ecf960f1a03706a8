from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.sweep import swept_rows
from samples import no_meaning, sample_log

from querycloak.errors import ParameterError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.suppression.sweep import Sweep
from querycloak.methods.suppression.sweep import sweep as method
from querycloak.randomness import Randomness

QUERIES = ["tea", "coffee", "mail ann@example.com", "ssn 219-09-9999", "a", "b", "c"]
ROWS = st.lists(st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(QUERIES)), max_size=30)


def log_of(rows):
    return QueryLog.of([u for u, _ in rows], [q for _, q in rows])


def sweep(log, settings, random):
    return method(log, settings, random, **no_meaning())


def published(release, log):
    """Rows under the original user, as a bag."""
    queries, users = release.log.queries.to_list(), log.users.to_list()
    owner = release.truth.user.tolist()
    pairs = zip(release.log.user.tolist(), release.log.query.tolist(), strict=True)
    return Counter((users[owner[u]], queries[q]) for u, q in pairs)


@pytest.mark.slow
@given(rows=ROWS, t=st.integers(1, 4))
def test_equals_the_reference(rows, t):
    log = log_of(rows)
    release = sweep(log, Sweep(min_query_users=t, rare="drop"), Randomness(1))
    assert published(release, log) == Counter(swept_rows(rows, t))


@given(rows=ROWS, identifiers=st.sampled_from(["drop", "keep"]))
def test_rare_queries_are_kept_where_that_is_asked_for(rows, identifiers):
    log = log_of(rows)
    release = sweep(log, Sweep(min_query_users=3, rare="keep", identifiers=identifiers), Randomness(1))
    assert published(release, log) == Counter(rows if identifiers == "keep" else swept_rows(rows, 1))
    assert release.statement.text_users == 1


@given(rows=ROWS)
def test_as_in_the_paper_every_query_is_published_and_the_statement_says_what_that_exposes(rows):
    log = log_of(rows)
    release = sweep(log, Sweep(as_in_paper=True), Randomness(1))
    assert published(release, log) == Counter(rows)
    said = " ".join(release.statement.does_not_cover)
    assert "as in the paper, queries are published verbatim, also those of one person alone" in said
    assert "as in the paper, identifiers (mail" in said


def test_a_rare_query_is_published_as_the_phrase_that_many_share():
    rows = [(u, f"{word} green tea") for u, word in zip("abcde", "vwxyz", strict=True)]
    log = log_of([*rows, ("f", "mail ann@example.com for green tea")])
    release = sweep(log, Sweep(), Randomness(1))
    assert published(release, log) == Counter((u, "green tea") for u in "abcdef")
    assert release.statement.parts
    assert release.statement.text_users == 5
    assert release.statement.figures["published as phrases"] == 6


def test_the_column_of_kinds_goes_with_its_rows():
    log = log_of([*((u, "tea") for u in "vwxyz"), *((u, "tea of " + u) for u in "vwxyz"), ("z", "pot")])
    release = sweep(log, Sweep(kinds="column"), Randomness(3))
    texts = [release.log.queries[q] for q in release.log.query.tolist()]
    assert list(zip(texts, release.log.extra["kind"].to_list(), strict=True)) == (
        [("tea", "query"), ("tea of", "phrase")] * 5
    )
    assert sweep(log, Sweep(), Randomness(3)).log.extra is None


@pytest.mark.slow
@given(rows=ROWS, t=st.integers(1, 4))
def test_no_published_query_has_fewer_askers_than_asked_for(rows, t):
    log = log_of(rows)
    release = sweep(log, Sweep(min_query_users=t, rare="drop"), Randomness(1))
    askers = release.log.users_per_query()
    assert (askers >= t).all()


def test_counts_add_up():
    log = sample_log()
    release = sweep(log, Sweep(min_query_users=4, rare="drop"), Randomness(1))
    assert sum(release.statement.dropped.values()) + len(release.log) == len(log)


def test_several_clicks_of_one_query_are_one_published_row():
    log = QueryLog.of(["u", "u", "u"], ["tea"] * 3, times=[5, 5, 9], urls=["a.com", "b.com", "a.com"])
    release = sweep(log, Sweep(min_query_users=1), Randomness(1))
    assert len(release.log) == 2
    assert release.statement.dropped["further clicks of a query"] == 1


def test_hashed_tokens_hide_words_and_keep_equality():
    log = QueryLog.of(["u", "v", "w"], ["green tea", "tea", "green tea"])
    release = sweep(log, Sweep(min_query_users=1, hash_tokens=True), Randomness(1))
    texts = [release.log.queries[q] for q in release.log.query.tolist()]
    assert not any("tea" in t or "green" in t for t in texts)
    two_words = [t for t in texts if " " in t]
    assert len(two_words) == 2
    assert two_words[0] == two_words[1]
    assert two_words[0].split()[1] in [t for t in texts if " " not in t]
    other = sweep(log, Sweep(min_query_users=1, hash_tokens=True), Randomness(2))
    assert set(other.log.queries.to_list()).isdisjoint(texts)


def test_ids_have_the_look_of_the_originals():
    digits = sweep(QueryLog.of(["1", "22"], ["a", "a"]), Sweep(min_query_users=1), Randomness(1))
    assert all(i.isdigit() for i in digits.log.users.to_list())
    words = sweep(QueryLog.of(["1", "x"], ["a", "a"]), Sweep(min_query_users=1), Randomness(1))
    assert all(len(i) == 16 for i in words.log.users.to_list())


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "3"])
def test_refuses_nonsense_at_once(value):
    with pytest.raises(ParameterError, match=r"Sweep\.min_query_users must be an integer >= 1, got "):
        Sweep(min_query_users=value)


def test_hashed_white_space_is_no_empty_text():
    release = sweep(
        QueryLog.of(["a", "b"], ["\u00a0", "tea"]), Sweep(min_query_users=1, hash_tokens=True), Randomness(1)
    )
    assert all(release.log.queries.str.contains("^[a-p]{12}$").to_list())


def test_the_statement_says_over_which_days_people_were_counted():
    day = 86_400
    rows = [("u", "tea", 0), ("v", "tea", day), ("w", "tea", 2 * day + 5)]
    log = QueryLog.of([u for u, _, _ in rows], [q for _, q, _ in rows], times=[t for _, _, t in rows])
    (said,) = sweep(log, Sweep(min_query_users=3), Randomness(1)).statement.covers
    assert "at least 3 people, counted over this release's own input, from 1970-01-01 to 1970-01-03" in said
    one_day = log.take(np.array([1]))  # a series: what was asked on other days does not count
    assert len(sweep(one_day, Sweep(min_query_users=2), Randomness(1)).log) == 0
    assert sweep(log, Sweep(as_in_paper=True), Randomness(1)).statement.covers == ()
