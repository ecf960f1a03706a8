from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import syntactic as reference
from samples import Notes, sample_log

import querycloak as qc
from querycloak.logs.query_log import QueryLog
from querycloak.methods.microaggregation import _syntactic_distance
from querycloak.methods.microaggregation._syntactic_distance import sketched, syntactic_matrix
from querycloak.methods.microaggregation._syntactic_kernels import SCALE, _edits, _edits_in_word, _floors
from querycloak.methods.microaggregation.syntactic_microaggregation import _records, by_frequency
from querycloak.randomness import Randomness

TEXTS = st.text("ab c", min_size=1, max_size=8).filter(str.strip)
LETTERS = st.lists(st.integers(0, 3), max_size=70)


@given(LETTERS, LETTERS)
def test_edits_equal_the_full_table(a, b) -> None:
    x, y = np.array(a, dtype=np.int32), np.array(b, dtype=np.int32)
    assert _edits(x, y, np.zeros(80, np.int32)) == reference.edits(a, b)
    if 0 < len(a) <= 64:
        bits = np.zeros(4, dtype=np.uint64)
        for place, letter in enumerate(a):
            bits[letter] |= np.uint64(1) << np.uint64(place)
        assert _edits_in_word(len(a), bits, y) == reference.edits(a, b)


@st.composite
def logs(draw):
    timed, clicked = draw(st.booleans()), draw(st.booleans())
    sites = st.sampled_from([None, "http://tea.example", "http://shop.tea.example", "http://car.test/x"])
    row = st.tuples(TEXTS, st.integers(0, 50), sites)
    users = draw(st.lists(st.lists(row, min_size=1, max_size=4), min_size=2, max_size=5))
    flat = [(f"u{u}", *r) for u, rows in enumerate(users) for r in rows]
    log = QueryLog.of(
        [r[0] for r in flat],
        [r[1] for r in flat],
        times=[r[2] for r in flat] if timed else None,
        urls=[r[3] for r in flat] if clicked else None,
    )
    return log, users, timed, clicked


@given(logs())
def test_distances_equal_the_reference(drawn) -> None:
    log, users, timed, clicked = drawn
    events = np.flatnonzero(log.event)
    laid_out, alphabet = _records(log, events, log.user[events].astype(np.int64), len(users))
    longest = int(max(np.diff(laid_out.letter_start).max(), np.diff(laid_out.word_start).max()))
    found = syntactic_matrix(laid_out, alphabet, longest)
    rows = [[] for _ in users]
    for e in events.tolist():
        url = None if log.url is None or log.url[e] < 0 else log.urls[int(log.url[e])]
        host = None if url is None else url.removeprefix("http://").partition("/")[0]
        time = 0 if log.time is None else int(log.time[e])
        rows[log.user[e]].append((log.queries[int(log.query[e])], time, host))
    times = [r[1] for user in rows for r in user]
    lists = [reference.records(user, (min(times), max(times))) for user in rows]
    for u in range(len(users)):
        for v in range(len(users)):
            expected = 0 if u == v else reference.user_distance(lists[u], lists[v], timed, clicked)
            assert abs(int(found[u, v]) - expected) <= 2  # times are means of floats: their last bit may differ


def test_a_query_of_more_than_64_letters_is_compared_whole() -> None:
    long = "x" * 70
    log = QueryLog.of(["a", "b"], [long, long + "y"])
    laid_out, alphabet = _records(log, np.arange(2), np.arange(2), 2)
    found = syntactic_matrix(laid_out, alphabet, 80)
    a = [(1, (long, 0.0, None))]
    b = [(1, (long + "y", 0.0, None))]
    assert found[0, 1] == reference.user_distance(a, b, timed=False, clicked=False)


WORDS = st.lists(st.text("abcde", min_size=1, max_size=6), min_size=1, max_size=4).map(" ".join)
HOSTS = st.sampled_from([None, "http://a.b", "http://c.b", "http://x.a.b", "http://y.x.a.b", "http://b", "http://a.d"])


@given(st.lists(st.tuples(WORDS, st.integers(0, 9), HOSTS), min_size=2, max_size=12), st.booleans(), st.booleans())
def test_no_bound_is_above_the_distance(rows, timed, clicked) -> None:
    n = len(rows)
    log = QueryLog.of(
        [f"u{i}" for i in range(n)],
        [r[0] for r in rows],
        times=[r[1] for r in rows] if timed else None,
        urls=[r[2] for r in rows] if clicked else None,
    )
    laid_out, alphabet = _records(log, np.arange(n), np.arange(n), n)
    exact = syntactic_matrix(laid_out, alphabet, 40)  # users of one record each: their distance is that of the records
    sketches = sketched(laid_out, alphabet)
    floor = np.empty(n, dtype=np.float32)
    for i in range(n):
        _floors(sketches, i, 0, n, floor)
        assert (floor <= exact[i]).all()


def test_bounds_are_close_enough_to_skip_most_pairs() -> None:
    log = QueryLog.of(["a", "b"], ["green tea", "motorcycle parts"])
    laid_out, alphabet = _records(log, np.arange(2), np.arange(2), 2)
    floor = np.empty(2, dtype=np.float32)
    _floors(sketched(laid_out, alphabet), 0, 0, 2, floor)
    exact = syntactic_matrix(laid_out, alphabet, 20)[0, 1]
    assert 0.8 * exact < floor[1] <= exact


@pytest.mark.needs_jit
def test_distances_of_users_with_many_queries_equal_the_reference() -> None:
    """With 30 queries each most pairs of queries are skipped, which three or four never show."""
    random = np.random.default_rng(5)
    words = ["tea", "teas", "green", "greens", "cup", "cups", "shop", "boston", "austin", "car", "cars", "used"]
    users = [[" ".join(random.choice(words, random.integers(1, 4))) for _ in range(30)] for _ in range(5)]
    rows = [(f"u{u}", query) for u, queries in enumerate(users) for query in queries]
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows])
    laid_out, alphabet = _records(log, np.arange(len(rows)), log.user.astype(np.int64), len(users))
    found = syntactic_matrix(laid_out, alphabet, 40)
    lists = [reference.records([(query, 0, None) for query in queries], (0, 0)) for queries in users]
    for u in range(len(users)):
        for v in range(u):
            assert found[u, v] == found[v, u] == reference.user_distance(lists[u], lists[v], timed=False, clicked=False)


def test_long_work_is_told_beforehand(monkeypatch) -> None:
    monkeypatch.setattr(_syntactic_distance, "WORTH_A_NOTE", 0.0)
    notes = Notes()
    qc.anonymize(sample_log(), "syntactic-microaggregation", k=4, seed=1, progress=notes)
    told = [note for note in notes.notes if "will take about" in note]
    assert len(told) == 1
    monkeypatch.setattr(_syntactic_distance, "WORTH_A_NOTE", 1e9)
    notes = Notes()
    qc.anonymize(sample_log(), "syntactic-microaggregation", k=4, seed=1, progress=notes)
    assert not any("will take about" in note for note in notes.notes)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=30), st.integers(1, 4))
def test_published_queries_are_as_frequent_as_in_the_group(pairs, members) -> None:
    _, group = np.unique([g for g, _ in pairs], return_inverse=True)
    query = np.array([q for _, q in pairs], dtype=np.int32)
    size = np.full(group.max() + 1, members)
    owner, published = by_frequency(group.astype(np.int32), query, size, Randomness(1))
    for g in range(group.max() + 1):
        asked = np.bincount(query[group == g], minlength=5)
        shown = np.bincount(published[owner == g], minlength=5)
        assert (np.abs(shown - asked / members) < 1).all()
        assert shown.sum() == max(int(asked.sum() / members + 0.5), 1)


def test_equal_users_are_at_distance_0_and_strangers_far() -> None:
    log = QueryLog.of(["a", "b", "c"], ["green tea", "green tea", "zzzzzzzzz qqq"])
    laid_out, alphabet = _records(log, np.arange(3), np.arange(3), 3)
    found = syntactic_matrix(laid_out, alphabet, 20) / SCALE
    assert found[0, 1] == 0
    assert found[0, 2] == pytest.approx((12 / 13 + 1 + 4 / 13) / 3, abs=1e-6)  # one of 13 letters, the space, may stay
