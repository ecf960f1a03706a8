from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.sweep import swept_rows
from samples import sample_log

from querycloak.errors import ParameterError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.suppression.sweep import Sweep, sweep
from querycloak.randomness import Randomness

QUERIES = ["tea", "coffee", "mail ann@example.com", "ssn 219-09-9999", "a", "b", "c"]
ROWS = st.lists(st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(QUERIES)), max_size=30)


def log_of(rows):
    return QueryLog.of([u for u, _ in rows], [q for _, q in rows])


def published(release, log):
    """Rows under the original user, as a bag."""
    queries, users = release.log.queries.to_list(), log.users.to_list()
    owner = release.truth.user.tolist()
    pairs = zip(release.log.user.tolist(), release.log.query.tolist(), strict=True)
    return Counter((users[owner[u]], queries[q]) for u, q in pairs)


@given(rows=ROWS, t=st.integers(1, 4))
def test_equals_the_reference(rows, t):
    log = log_of(rows)
    release = sweep(log, Sweep(min_query_users=t), Randomness(1))
    assert published(release, log) == Counter(swept_rows(rows, t))


@given(rows=ROWS, t=st.integers(1, 4))
def test_no_published_query_has_fewer_askers_than_asked_for(rows, t):
    log = log_of(rows)
    release = sweep(log, Sweep(min_query_users=t), Randomness(1))
    askers = release.log.users_per_query()
    assert (askers >= t).all()


def test_counts_add_up():
    log = sample_log()
    release = sweep(log, Sweep(min_query_users=4), Randomness(1))
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
    with pytest.raises(ParameterError, match=r"Sweep.min_query_users must be an integer >= 1, got "):
        Sweep(min_query_users=value)


def test_hashed_white_space_is_no_empty_text():
    release = sweep(QueryLog.of(["a", "b"], ["\u00a0", "tea"]), Sweep(hash_tokens=True), Randomness(1))
    assert all(release.log.queries.str.contains("^[0-9a-f]{12}$").to_list())
