"""The figures of the AOL log of 2006 that generated logs are calibrated to.

Each tolerance is at least twice the deviation seen over ten seeds, so a failure means that the model changed. Where the
generator is known to miss AOL's figure, the test says so.
"""

import numpy as np
import pytest
from sample_worlds import make

from querycloak.knowledge.wordnet import load_wordnet

LINES, CLICKS, USERS = 36_389_567, 19_442_629, 657_426
NEW, NEXT_PAGES = 21_011_340, 7_887_022
NEXT_PAGE = 4


@pytest.fixture(scope="module")
def heavy():
    """Like the sample of 1,000 heavy users with 318,023 queries."""
    return make(load_wordnet(), users=1_000, queries=318_023)


@pytest.fixture(scope="module")
def typical():
    """Users and query events in AOL's ratio, for 1 % of its users."""
    return make(load_wordnet(), users=USERS // 100, queries=(NEW + NEXT_PAGES) // 100)


def test_distinct_queries_of_heavy_users(heavy):
    assert int(heavy.log.event.sum()) == 318_023
    assert len(heavy.log.queries) == pytest.approx(160_852, rel=0.05)


def test_most_distinct_queries_have_one_user(heavy):
    """AOL: 96 %. Over ten seeds the generator gives 95.6 to 95.7 %."""
    share = float((heavy.log.users_per_query() == 1).mean())
    assert 0.945 < share < 0.965


def test_word_groups(heavy):
    """AOL: 61 % of queries have more than one. A few thousand active users decide: one or two points either way."""
    assert float((heavy.groups > 1).mean()) == pytest.approx(0.61, abs=0.02)


def test_lines_and_clicks(typical):
    """Counts of independent draws over 289,000 events: the standard error is below 0.3 %."""
    log = typical.log
    new = int((typical.kind != NEXT_PAGE).sum())
    assert len(log) / new == pytest.approx(LINES / NEW, rel=0.015)
    assert int((log.url >= 0).sum()) / new == pytest.approx(CLICKS / NEW, rel=0.015)
    assert len(log) / len(log.users) == pytest.approx(LINES / USERS, rel=0.01)
    assert new / len(log.users) == pytest.approx(NEW / USERS, rel=0.015)


def test_activity_has_a_long_tail(typical):
    """AOL: median 14 rows per user, heavy users above 1,000. Over ten seeds: 13 to 15, and 0.43 % to 0.61 %."""
    rows = np.bincount(typical.log.user)
    assert 12 <= np.median(rows) <= 16
    assert 0.003 < (rows > 1_000).mean() < 0.008


def test_three_months_with_a_rhythm(typical):
    """1 March to 31 May 2006, every day; nights are quieter than evenings."""
    time = typical.log.time
    days = np.bincount((time - 1_141_171_200) // 86_400)
    assert len(days) == 92
    assert days.min() > 0
    hours = np.bincount(time // 3600 % 24, minlength=24)
    assert hours[20] > 5 * hours[4]


def test_popularity_is_zipfian(typical):
    """The most frequent common queries fall as a power of their rank; a flat or a single peak would fail."""
    log = typical.log
    users = np.sort(log.users_per_query())[::-1]
    slope = np.polyfit(np.log(np.arange(5, 300)), np.log(users[5:300]), 1)[0]
    assert -1.1 < slope < -0.4
