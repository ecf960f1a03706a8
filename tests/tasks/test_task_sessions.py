"""Sessions: like the reference; what an order is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tasks import sessions
from sample_releases import queries_of, release_of
from sample_tasks import prepared, scores, topics_of, world

from querycloak.logs.query_log import MISSING_TIME, QueryLog

LOG = world()
DATA = prepared(LOG)

ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([None, 0, 1000, 1900, 3700, 9000]),
        st.sampled_from(["4.a", "4.b", "5.a", "6.a", "4.a 5.b", "5.a 6.b 7.c", "none", "8.a"]),
    ),
    min_size=1,
    max_size=30,
)


@given(ROWS, ROWS, st.booleans())
def test_like_the_reference(first, second, times):
    log, release = table_of(first, times), table_of(second, times)
    topics = {text: set(topics_of(text)) for _, _, text in first + second}
    before, after = ([(u, t if times else None, text, u) for u, t, text in rows] for rows in (first, second))
    found = scores(prepared(log), replace(release, users=log.users))["sessions"]
    assert found.value == pytest.approx(sessions(before, after, topics), abs=1e-9)


def table_of(rows, times) -> QueryLog:
    """All of them have the users 0 to 3."""
    when = [MISSING_TIME if row[1] is None else row[1] for row in rows]
    table = QueryLog.of(["0", "1", "2", "3", *[str(row[0]) for row in rows]], ["none"] * 4 + [row[2] for row in rows])
    table = replace(table, time=np.array([MISSING_TIME] * 4 + when) if times else None)
    return table.take(np.arange(4, len(table)))


def test_by_hand():
    # Neighbours 4-5, 4-5, 6-7, 6-7: p = 1/2 for two pairs, m = 1/4 for four topics, excess 1/2 - 1/8 = 3/8 each.
    log = QueryLog.of(list("ssttuuvv"), ["4.a", "5.a", "6.a", "7.a"] * 2)
    # Of the release 4-5 and 4-7: p = 1/2 each, m(4) = 1/2, m(5) = m(7) = 1/4, excess 1/2 - 1/4 = 1/4 each; 6-7: 0.
    release = release_of(log, [["4.a", "5.a"], ["4.a", "7.a"]], [0, 1])
    # In the log 4-7 has the excess -1/8. Over 4-5, 6-7, 4-7: (3/8, 3/8, -1/8) and (1/4, 0, 1/4).
    expected = (3 / 32 - 1 / 32) / np.sqrt((9 + 9 + 1) / 64 * 2 / 16)
    assert scores(prepared(log), release)["sessions"].value == pytest.approx(expected)


def test_an_order_by_text_loses_what_was_asked_together():
    kept = queries_of(LOG)
    as_it_was = scores(DATA, release_of(LOG, kept, list(range(150))))["sessions"].value
    shuffled = [np.random.default_rng(i).permutation(queries).tolist() for i, queries in enumerate(kept)]
    mixed = scores(DATA, release_of(LOG, shuffled, list(range(150))))["sessions"].value
    apart = np.random.default_rng(1).permutation(np.concatenate(kept)).reshape(150, -1).tolist()
    across = scores(DATA, release_of(LOG, apart, list(range(150))))["sessions"].value
    assert as_it_was > mixed + 0.1
    assert mixed > across + 0.1  # people ask about few topics: they come together in any order
    assert across < 0.2  # though every text is as frequent as before


def test_topics_that_come_together_by_chance_alone_are_no_task():
    log = QueryLog.of(["u", "u", "v", "v"], ["4.a", "4.b", "4.a", "4.c"])
    assert not scores(prepared(log), log)["sessions"].possible
