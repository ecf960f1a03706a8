"""Drawing invented users: kernels as the reference, shares that are kept, and nothing that no statistic tells."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import synthetic as plain

from querycloak.methods.dp._synthetic_domain import GAP_EDGES, HOURS, SESSION_EDGES, SIZE_EDGES
from querycloak.methods.dp._synthetic_draw import (
    Calendar,
    deal_texts,
    draw_clicks,
    draw_users,
    swap_repeated,
    systematic,
)
from querycloak.methods.dp._synthetic_kernels import Chain, draw_topics, split_sessions
from querycloak.methods.dp._synthetic_model import (
    FILL,
    MOST_EVENTS,
    MOST_USERS,
    Model,
    events_by_topic,
    fit_margins,
    spread_rest,
    users_by_size,
)
from querycloak.methods.dp._synthetic_sums import NoisySums
from querycloak.methods.dp._synthetic_texts import Clicks
from querycloak.randomness import Randomness

MONDAY = 946_857_600


def chain_of(shares, stay, repeat=(0.0, 0.0, 0.0)):
    """A chain over five topics of two fields, moving by the shares of each cluster."""
    shares = np.array(shares, dtype=np.float64)
    field = np.array([0, 0, 0, 1, 1])
    stay = np.array(stay)
    move = []
    for row in shares:
        leave = np.bincount(field, weights=row) * (1 - stay)
        move.append([leave / leave.sum()] * 2)
    return Chain(
        np.cumsum(shares, axis=1),
        np.cumsum(np.array(move), axis=2),
        stay,
        field,
        np.array([0, 3, 5]),
        np.array(repeat),
    )


@settings(max_examples=50, deadline=None)
@given(sizes=st.lists(st.integers(1, 9), max_size=6), data=st.data())
def test_sessions_as_the_reference(sizes, data):
    n = sum(sizes)
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    out = np.zeros(n, dtype=np.bool_)
    used = split_sessions(np.array(sizes, dtype=np.int64), np.array(lengths, dtype=np.int64), out)
    assert out.tolist() == plain.split_sessions(sizes, lengths)
    assert used == out.sum()


@settings(max_examples=50, deadline=None)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), seed=st.integers(0, 99), again=st.floats(0, 0.6))
def test_chains_as_the_reference(sizes, seed, again):
    random = np.random.default_rng(seed)
    n = sum(sizes)
    first = random.random(n) < 0.4
    start = np.concatenate([[0], np.cumsum(sizes)])
    first[start[:-1]] = True
    cluster = random.integers(0, 2, len(sizes))
    chain = chain_of([[0.1, 0.2, 0.3, 0.15, 0.25], [0.5, 0.0, 0.0, 0.5, 0.0]], [0.3, 0.7], (0.2, again, again + 0.2))
    dice = random.random((n, 3))
    source, topic = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    draw_topics(start, cluster, first, chain, dice, source, topic)
    expected = plain.draw_topics(sizes, cluster.tolist(), first.tolist(), chain, dice.tolist())
    assert (source.tolist(), topic.tolist()) == expected
    owner = np.repeat(np.arange(len(sizes)), sizes)
    assert (source <= np.arange(n)).all()
    assert (owner[source] == owner).all(), "nobody repeats what somebody else asked"


def model_of(**changes):
    shares = [[0.1, 0.2, 0.3, 0.15, 0.25], [0.5, 0.1, 0.1, 0.2, 0.1]]
    hours = np.arange(1.0, HOURS + 1)
    lengths = np.zeros(len(SESSION_EDGES))
    lengths[:4] = 0.25
    values = {
        "sizes": (np.array([300, 200]), np.array([1, 20]), np.array([4, 40])),
        "clusters": np.array([0.75, 0.25]),
        "topics": np.full(5, 0.2),
        "chain": chain_of(shares, [0.3, 0.7]),
        "hours": hours / hours.sum(),
        "lengths": lengths,
        "gaps": np.full(len(GAP_EDGES), 1 / len(GAP_EDGES)),
    }
    return Model(**(values | changes))


def test_invented_users_keep_the_shares_of_the_model():
    model = model_of(sizes=(np.array([4000]), np.array([10]), np.array([30])))
    drawn = draw_users(model, Calendar(MONDAY, 28), Randomness(2))
    n = len(drawn.user)
    assert drawn.users == 4000
    assert np.bincount(drawn.user).min() == 10
    assert np.bincount(drawn.user).max() == 30
    hour = np.bincount((drawn.time - 4 * 86_400) // 3600 % HOURS, minlength=HOURS) / n
    assert 0.5 * np.abs(hour - model.hours).sum() < 0.02  # sessions run on into the next hour
    shares = 0.75 * np.diff(model.chain.topic[0], prepend=0) + 0.25 * np.diff(model.chain.topic[1], prepend=0)
    found = np.bincount(drawn.topic, minlength=5) / n
    # 80,000 events in chains: about 20,000 independent ones, so 4 deviations are 0.013
    assert np.abs(found - shares).max() < 0.013


def test_without_a_statistic_that_tells_so_no_text_is_repeated():
    drawn = draw_users(model_of(), Calendar(MONDAY, 28), Randomness(2))
    assert (drawn.source == np.arange(len(drawn.source))).all()
    chain = model_of().chain._replace(repeat=np.array([0.1, 0.2, 0.5]))
    drawn = draw_users(model_of(chain=chain), Calendar(MONDAY, 28), Randomness(2))
    assert 0.1 < (drawn.source != np.arange(len(drawn.source))).mean() < 0.5


@pytest.mark.parametrize("days", [7, 10, 28, 365])
@pytest.mark.parametrize("start", [MONDAY, MONDAY + 3 * 86_400, 0])
def test_times_are_of_the_days_of_the_settings_and_hours_of_the_week(days, start):
    calendar = Calendar(start, days)
    hour = np.arange(HOURS).repeat(40)
    begin = calendar.of_hour(hour, Randomness(1))
    assert begin.min() >= start
    assert begin.max() < calendar.end
    np.testing.assert_array_equal((begin - 4 * 86_400) // 3600 % HOURS, hour)
    drawn = draw_users(model_of(), calendar, Randomness(1))
    assert start <= drawn.time.min()
    assert drawn.time.max() < calendar.end


def test_a_session_of_days_ends_with_the_last_day():
    long, slow = np.zeros(len(SESSION_EDGES)), np.zeros(len(GAP_EDGES))
    long[-1] = slow[-1] = 1.0
    calendar = Calendar(MONDAY, 7)
    model = model_of(sizes=(np.array([200]), np.array([100]), np.array([100])), lengths=long, gaps=slow)
    drawn = draw_users(model, calendar, Randomness(1))
    assert drawn.time.max() == calendar.end - 1


def test_a_log_without_times_has_none():
    drawn = draw_users(model_of(hours=None, gaps=None), Calendar(MONDAY, 28), Randomness(1))
    assert drawn.time is None


def test_nobody_is_invented_where_nobody_is_counted():
    nobody = users_by_size(NoisySums(np.zeros(len(SIZE_EDGES)), 1.0))
    drawn = draw_users(model_of(sizes=nobody), Calendar(MONDAY, 28), Randomness(1))
    assert (drawn.users, len(drawn.user)) == (0, 0)


def test_bins_are_joined_until_they_are_no_noise_alone():
    value = np.zeros(len(SIZE_EDGES))
    value[:4] = [5.0, 2.0, 2.5, 100.0]
    value[-1] = 2.9
    users, fewest, most = users_by_size(NoisySums(value, 1.0))
    assert (users.tolist(), fewest.tolist(), most.tolist()) == ([5, 4, 100], [1, 2, 4], [1, 3, 4])


def test_there_are_never_too_many_users_or_events():
    value = np.zeros(len(SIZE_EDGES))
    value[0] = 1e12
    assert users_by_size(NoisySums(value, 1.0))[0].sum() <= MOST_USERS
    value[-1] = 1e6
    value[0] = 0
    users, fewest, _ = users_by_size(NoisySums(value, 1.0))
    assert (users * fewest).sum() <= MOST_EVENTS


def test_margins_are_fitted():
    table = np.array([[5.0, 1.0], [1.0, 1.0]])
    fitted = fit_margins(table, np.array([0.3, 0.7]), np.array([0.6, 0.4]))
    np.testing.assert_allclose(fitted.sum(axis=1), [0.3, 0.7], atol=1e-9)
    np.testing.assert_allclose(fitted.sum(axis=0), [0.6, 0.4], atol=1e-9)
    odds = fitted[0, 0] * fitted[1, 1] / (fitted[0, 1] * fitted[1, 0])
    assert odds == pytest.approx(5.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 200))
def test_systematic_draws_miss_a_share_by_less_than_one_of_them(weights, n):
    share = np.array(weights, dtype=np.float64) + 1e-3
    share /= share.sum()
    drawn = np.bincount(systematic(share, n, Randomness(n)), minlength=len(share))
    assert drawn.sum() == n
    assert (np.abs(drawn - n * share) < 2).all()


def test_texts_are_dealt_by_people_then_phrases_then_the_label():
    topic = np.repeat([0, 1, 2, 3], [100, 100, 10, 50])
    text_topic = np.array([0, 0, 1, 1, 2, 2])
    wanted = np.array([30.0, 0.0, 50.0, 0.0, 30.0, 10.0])
    filler = np.array([0.0, 40.0, 0.0, 10.0, 0.0, 0.0])
    text = deal_texts(topic, text_topic, wanted, filler, 4, Randomness(1))
    counts = np.bincount(text, minlength=10)
    assert counts[0] == pytest.approx(30, abs=1)
    assert counts[1] == pytest.approx(70, abs=1)  # 40 are told, and up to twice as many fill up
    assert counts[2] == pytest.approx(50, abs=1)
    assert counts[3] == pytest.approx(20, abs=1)  # not more than twice as many as are told
    assert counts[4:6].tolist() == pytest.approx([7.5, 2.5], abs=1)  # more are wanted than there are
    assert counts[6:].tolist() == pytest.approx([0, 30, 0, 50], abs=1)  # what is left has the label of its topic
    label = np.where(text < 6, -1, text - 6)
    assert (np.where(text < 6, np.append(text_topic, [0] * 4)[text], label) == topic).all()


def test_only_chosen_clicks_are_drawn_and_as_often_as_people_clicked():
    clicks = Clicks(np.array([1, 1, 3]), pl.Series(["x", "y", "z"]), np.array([30.0, 20.0, 500.0]))
    people = np.array([10.0, 100.0, 10.0, 100.0, 0.0])
    text = np.repeat([0, 1, 2, 3, 4], 10_000)
    pair = draw_clicks(text, people, clicks, Randomness(1))
    assert (pair[(text == 0) | (text == 2) | (text == 4)] == -1).all()
    of_one = np.bincount(pair[text == 1] + 1, minlength=4) / 10_000
    assert of_one.tolist() == pytest.approx([0.5, 0.3, 0.2, 0], abs=0.025)
    assert (pair[text == 3] == 2).all()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5)), max_size=40), st.integers(0, 99))
def test_swaps_change_neither_the_texts_of_a_topic_nor_who_has_how_many(rows, seed):
    user, topic, text = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    after = swap_repeated(user, topic, text, 3, Randomness(seed))
    for t in range(3):
        assert sorted(after[topic == t].tolist()) == sorted(text[topic == t].tolist())

    def repeated(texts):
        pairs = [pair for pair in zip(user.tolist(), texts.tolist(), strict=True) if pair[1] < 3]
        return len(pairs) - len(set(pairs))

    assert repeated(text) or (after == text).all(), "nothing is swapped without a reason"


def test_most_repeated_queries_are_swapped():
    user = np.repeat(np.arange(500), 8)
    topic = np.zeros(4000, dtype=np.int64)
    text = np.random.default_rng(1).permutation(np.repeat([0, 1, 9], [400, 400, 3200]))

    def people(texts):
        return len({pair for pair in zip(user.tolist(), texts.tolist(), strict=True) if pair[1] < 9})

    after = swap_repeated(user, topic, text, 9, Randomness(1))
    assert people(text) < 700
    assert people(after) > 740


def test_what_is_left_of_a_group_is_spread_where_it_is_no_noise_alone():
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    value = np.array([50.0, 2.0, 2.5, 2.9, 2.9, -2.0, 0.5])
    out = spread_rest(NoisySums(value, 1.0), group)
    assert out.tolist() == pytest.approx([50.0, *[7.4 / 3] * 3, 0.0, 0.0, 0.0])


def test_events_are_such_that_parts_of_texts_have_the_shares_of_topics():
    parts = np.array([100.0, 50.0, 30.0, 0.0])
    asked, phrases = np.array([20.0, 0.0, 30.0, 0.0]), np.array([10.0, 40.0, 5.0, 0.0])
    events = events_by_topic(parts, asked, phrases)
    assert events.sum() == pytest.approx(180.0)
    shown = events + np.minimum(FILL * phrases, np.maximum(events - asked, 0.0))
    np.testing.assert_allclose(shown / shown.sum(), parts / parts.sum(), atol=1e-3)
