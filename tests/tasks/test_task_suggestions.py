"""Suggestions: by hand, and like the reference; test people do not teach their own answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tasks import hits
from sample_releases import release_of, statement
from sample_tasks import prepared, scores

from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.randomness import Randomness
from querycloak.releases.release import LogRelease, StreamRelease, Truth
from querycloak.tasks.suggestions import draw_tested


def log_of(*people: list[str]) -> QueryLog:
    """One list of queries per person, without times."""
    rows = [(f"u{u}", query) for u, queries in enumerate(people) for query in queries]
    return QueryLog.of([row[0] for row in rows], [row[1] for row in rows])


POPULAR = ["p1", "p2", "p3", "p4", "p5"]
"""Texts that fill up suggestions, so that only what follows can be a hit."""
CROWD = [[p] for p in POPULAR for _ in range(3)]
LOG = log_of(["a", "b", "x", "a", "c"], ["a", "b"], ["c", "a"], *CROWD)
"""Cases of person 0: a b, b x, x a, a c. Others ask a b and, together but not in this order, c a."""


def value(release, tested=(0,), log=LOG):
    return scores(prepared(log, list(tested)), release)["suggestions"]


def test_the_original_learns_from_the_others_alone():
    found = value(LOG)
    assert found.value == 0.25  # a b; no other pair is anybody else's, and five other texts are more popular
    assert found.cases == 4
    assert found.low < 0.25 < found.high


def test_a_release_can_know_two_of_four():
    assert value(release_of(LOG, [["a", "b"], ["a", "c"], *CROWD], [1, 2, *range(3, 18)])).value == 0.5


def test_rows_of_test_people_are_left_out():
    published = release_of(LOG, [["a", "c"], *CROWD], [0, *range(3, 18)])
    assert value(published).value == 0
    assert value(release_of(LOG, [["a", "c"], *CROWD], [2, *range(3, 18)])).value == 0.25


def test_a_pair_that_only_the_test_person_asked_is_no_hit_under_another_id():
    assert value(release_of(LOG, [["b", "x", "a"], *CROWD], [1, *range(3, 18)])).value == 0


def test_a_row_of_a_stream_is_its_askers():
    table = release_of(LOG, [["a", "c"], *CROWD], [2, *range(3, 18)])
    asker = np.array([0, 2, *range(3, 18)], dtype=np.int32)
    stream = StreamRelease(table.log, statement(), Truth(table.truth.user, asker))
    assert value(stream).value == 0
    stream = StreamRelease(table.log, statement(), Truth(table.truth.user, np.where(asker == 0, 1, asker)))
    assert value(stream).value == 0.25


def test_the_most_popular_texts_fill_up():
    log = log_of(["a", "p2"], *CROWD)
    assert value(release_of(log, CROWD, list(range(1, 16))), log=log).value == 1
    others = [[f"q{i}"] for i in range(5) for _ in range(4)]
    assert value(release_of(log, [*CROWD, *others], [1] * 35), log=log).value == 0


def test_five_are_suggested_the_most_frequent_first():
    follow = [["a", f"f{i}"] for i in range(6) for _ in range(6 - i)]  # f5 is the sixth
    log = log_of(["a", "f4", "a", "f5"], *follow)
    assert value(log, log=log).value == pytest.approx(2 / 3)  # a f4, and f4 a because a is popular; not a f5


def test_sessions_end_after_half_an_hour():
    def timed(gap):
        users = [f"u{i}" for i in range(20) for _ in range(2)]
        fill = [f"p{i % 6}" for i in range(20)]
        texts = [text for i in range(20) for text in (("a", "b") if i < 2 else (fill[i], fill[i]))]
        return QueryLog.of(users, texts, times=[10**6 + gap * (row % 2) for row in range(40)])

    near = timed(1800)
    assert value(near, log=near).value == 1
    assert value(timed(1801), log=near).value == 0  # b is followed by nobody's a, and six texts are more popular
    far = scores(prepared(timed(1801), [0]), near)["suggestions"]
    assert not far.possible


def test_case_and_spaces_at_the_ends_do_not_matter():
    assert value(release_of(LOG, [["A ", " b"], *CROWD], [1, *range(3, 18)])).value == 0.25


def test_texts_that_fewer_than_five_people_asked_are_judged_apart():
    log = log_of(["a", "b", "a", "c"], ["a", "b"], ["b"], ["b"], ["b"], ["c"], ["c"], ["c"])
    found = scores(prepared(log, [0]), log)["suggestions, shared texts"]
    assert (found.cases, found.value) == (1, 1)


@pytest.mark.parametrize("people", [1, 4, 5, 6, 100])
def test_a_fifth_is_tested(people):
    assert draw_tested(people, Randomness(1)).sum() == -(-people // 5)


ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from([None, 0, 1000, 1900, 3700, 9000]),
        st.sampled_from("abcdefgh"),
        st.integers(0, 5),
    ),
    max_size=40,
)


@given(ROWS, ROWS, st.sets(st.integers(0, 5)), st.booleans())
def test_like_the_reference(log_rows, release_rows, tested, times):
    everybody = [(u, None, "z", u) for u in range(6)]  # so that user codes are the numbers
    first = everybody + [(u, t, text, u) for u, t, text, _ in log_rows]
    second = everybody + release_rows
    if not times:
        first, second = ([(u, None, text, asker) for u, _, text, asker in rows] for rows in (first, second))
    log, table = table_of(first, times), table_of(second, times)
    order = [*log.queries.to_list(), *[t for t in table.queries.to_list() if t not in log.queries.to_list()]]
    asker = np.array([row[3] for row in second], dtype=np.int32)
    release = LogRelease(table, statement(), Truth(np.arange(6, dtype=np.int32), asker))
    expected = hits(first, second, tested, order)
    found = value(release, tested, log)
    assert found.cases == len(expected)
    assert found.value == pytest.approx(sum(expected) / len(expected) if expected else 0)


def table_of(rows, times) -> QueryLog:
    when = [MISSING_TIME if row[1] is None else row[1] for row in rows]
    return QueryLog.of([str(row[0]) for row in rows], [row[2] for row in rows], times=when if times else None)
