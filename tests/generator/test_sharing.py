"""How much of a log at least m people share: whole queries, phrases, words; a real log's figures, held.

The real log has 1,000 heavy users and 318,023 query events.
"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phrase_figures import shared_figures
from reference.phrases import shared_figures as plain_figures
from sample_worlds import FOOD, make

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import QueryLog

REAL = {3: (0.193, 0.934, 0.465), 5: (0.153, 0.914, 0.417), 10: (0.118, 0.880, 0.365)}
"""m people: share of events whose whole query, and of those that hold a phrase, which m people asked; words kept."""


def _log(events):
    users, texts = zip(*events, strict=True)
    distinct = sorted(set(texts))
    query = np.array([distinct.index(text) for text in texts], dtype=np.int32)
    names = sorted(set(users))
    user = np.array([names.index(u) for u in users], dtype=np.int32)
    time = np.arange(len(events), dtype=np.int64)
    users = pl.Series([str(name) for name in names])
    return QueryLog(user=user, users=users, query=query, queries=pl.Series(distinct), time=time)


words = st.lists(st.sampled_from(["tea", "the", "of", "hotel", "rome", "Rome"]), min_size=1, max_size=8)


@given(st.lists(st.tuples(st.integers(0, 4), words.map(" ".join)), min_size=1, max_size=25), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_the_quick_count_agrees_with_the_plain_one(events, least):
    assert shared_figures(_log(events), least) == pytest.approx(plain_figures(events, least))


def test_the_quick_count_agrees_on_a_generated_log():
    log = make(FOOD, users=30, queries=600).log
    asked = log.event
    events = list(zip(log.user[asked].tolist(), log.queries.gather(log.query[asked]).to_list(), strict=True))
    for least in (2, 5):
        assert shared_figures(log, least) == pytest.approx(plain_figures(events, least))


def test_what_is_counted():
    """Three people: "rome" is shared, "of the" is no phrase, and a whole query of stop words counts."""
    events = [(1, "hotel of the rome"), (2, "pope of the rome"), (3, "how to"), (1, "how to"), (1, "tea")]
    assert plain_figures(events, 2) == pytest.approx((2 / 5, 4 / 5, (3 + 3 + 2 + 2) / 13))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_generated_log_shares_as_a_real_one(seed):
    """Over ten seeds a figure moves by 0.7 points at most, words by 1: three and five points mean another model."""
    log = make(load_wordnet(), seed, users=1_000, queries=318_000).log
    for least, (whole, phrase, kept) in REAL.items():
        seen = shared_figures(log, least)
        assert seen[0] == pytest.approx(whole, abs=0.03)
        assert seen[1] == pytest.approx(phrase, abs=0.03)
        assert seen[2] == pytest.approx(kept, abs=0.05)


@pytest.mark.slow
def test_fewer_events_share_less():
    figures = [shared_figures(make(load_wordnet(), users=1_000, queries=n).log, 5) for n in (56_000, 318_000)]
    assert all(few < many for few, many in zip(*figures, strict=True))
