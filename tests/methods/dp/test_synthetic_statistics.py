"""What one user adds to the statistics of `synthetic-dp`: as much as is said, and nothing to what others add.

Noise is replaced by numbers that do not depend on the log, so that runs on two logs publish the same, and what is added
up under it can be compared: with a reference that looks at one user at a time, and with the log of one user alone.
"""

from __future__ import annotations

import hashlib
import importlib
import math
from copy import deepcopy
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import synthetic as plain

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp._noise import gaussian_scale
from querycloak.methods.dp._synthetic_clusters import Profiles, assign
from querycloak.methods.dp._synthetic_domain import GAP_EDGES, SESSION_EDGES, SIZE_EDGES, topic_bins
from querycloak.methods.dp._synthetic_events import read_events
from querycloak.methods.dp._synthetic_statistics import CENTRES, PARTS, ROUNDS, find_statistics, plans, take_all
from querycloak.randomness import Randomness
from querycloak.releases.budget import Budget

sums = importlib.import_module("querycloak.methods.dp._synthetic_sums")

# root - 2 branches - 2 fields each - 2 topics each - a concept below each topic
PARENTS = [-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14]
TREE = Taxonomy.from_parents([-1, *(p + 1 for p in PARENTS)], [["thing"], *([f"c{i}"] for i in range(len(PARENTS)))])
TOPICS = topic_bins(TREE)
CONCEPTS = {"a": [16], "b": [17], "c": [20, 16], "d": [-1], "e": [18, -1], "f": [-1, -1], "g": [3]}
EDGES = tuple(edges.tolist() for edges in (SIZE_EDGES, SESSION_EDGES, GAP_EDGES))
CLUSTERS = 3
MONDAY = 946_857_600

ROW = st.tuples(
    st.sampled_from([MONDAY, MONDAY + 1, MONDAY + 1801, MONDAY + 3700, MONDAY + 9000, None]),
    st.sampled_from(sorted(CONCEPTS)),
    st.sampled_from([None, "x.example", "y.example"]),
)
USER = st.lists(ROW, min_size=1, max_size=12)
USERS = st.lists(USER, min_size=0, max_size=5)


def log_of(users, order=None):
    """A log of users' rows; `order` says whose row comes next, so that rows of others are in between."""
    left = [list(rows) for rows in users]
    turns = order or [u for u, rows in enumerate(users) for _ in rows]
    rows = [(u, left[u].pop(0)) for u in turns]
    return QueryLog.of(
        [f"user {u}" for u, _ in rows],
        [query for _, (_, query, _) in rows],
        times=[MISSING_TIME if time is None else time for _, (time, _, _) in rows],
        urls=[url for _, (_, _, url) in rows],
    )


def concepts_of(log):
    rows = [(r, c) for r in np.flatnonzero(log.event).tolist() for c in CONCEPTS[log.queries[int(log.query[r])]]]
    row = np.array([r for r, _ in rows], dtype=np.int64)
    return ConceptLog(row, log.user[row], log.query[row], np.array([c for _, c in rows], dtype=np.int32))


class Fixed:
    """Stands in for `add_gaussian`: publishes numbers that follow from the name alone, and keeps what was added up."""

    def __init__(self):
        self.calls = {}

    def __call__(self, values, *, sensitivity, rho, random):
        name = random._path.rsplit("/", 1)[-1]
        assert name not in self.calls, "each draw has randomness of its own"
        self.calls[name] = (values, sensitivity, rho)
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).integers(-2000, 100_000, len(values))


@lru_cache
def all_shares():
    """The shares of a budget, which takes its time; each run uses a copy."""
    budget = Budget(3.0, 1e-6, reserved_delta=5e-7)
    return take_all(plans(rounds=2, per_user=50, clicks=True), budget, times=True)


def added_up(log, takes_part=None):
    """Return (name → what was added up, its sensitivity and rho), and the statistics."""
    taken = deepcopy(all_shares())
    fixed, before = Fixed(), sums.add_gaussian
    everybody = np.ones(len(log.users), dtype=np.bool_) if takes_part is None else takes_part
    sums.add_gaussian = fixed
    try:
        events = read_events(log, concepts_of(log), TOPICS, everybody)
        found = find_statistics(events, TOPICS, len(log.users), CLUSTERS, taken, Randomness(1))
    finally:
        sums.add_gaussian = before
    return fixed.calls, found, events


def shuffled(users, data):
    turns = [u for u, rows in enumerate(users) for _ in rows]
    return data.draw(st.permutations(turns))


@settings(max_examples=60, deadline=None)
@given(users=USERS, one=USER, data=st.data())
def test_one_user_more_adds_what_this_user_alone_would_and_no_more(users, one, data):
    many = [*users, one]
    with_user, *_ = added_up(log_of(many, shuffled(many, data)))
    without, *_ = added_up(log_of(users, shuffled(users, data)))
    alone, *_ = added_up(log_of([one]))
    assert set(with_user) == set(without) == set(alone)
    assert set(PARTS) < set(alone)
    for name, (values, sensitivity, rho) in with_user.items():
        assert (sensitivity, rho) == without[name][1:] == alone[name][1:]
        np.testing.assert_array_equal(values - without[name][0], alone[name][0], err_msg=name)
        assert (alone[name][0] >= 0).all()
        assert math.sqrt(sum(int(v) ** 2 for v in alone[name][0])) <= sensitivity, name


@settings(max_examples=60, deadline=None)
@given(users=st.lists(USER, min_size=1, max_size=4), data=st.data())
def test_what_is_added_up_equals_the_reference(users, data):
    log = log_of(users, shuffled(users, data))
    calls, found, _ = added_up(log)
    for name, (values, sensitivity, _) in calls.items():
        if name not in PARTS:
            continue
        most = PARTS[name].most
        unit = round(sensitivity / most)
        expected = np.zeros(len(values), dtype=np.int64)
        for u, rows in enumerate(users):
            code = log.users.to_list().index(f"user {u}")
            what = plain.described(
                plain.events_of(rows), lambda q: [int(TOPICS.bin_of[c]) for c in CONCEPTS[q]], TOPICS.none
            )
            counts = plain.user_counts(what, TOPICS, EDGES, int(found.cluster[code]))[name]
            for b, value in plain.clipped(counts, most, unit).items():
                expected[b] += value
        np.testing.assert_array_equal(values, expected, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(users=st.lists(USER, min_size=1, max_size=4), data=st.data())
def test_numbering_does_not_matter(users, data):
    """Users, texts and URLs are numbered by first appearance, which another user's rows can change."""
    first, *_ = added_up(log_of(users))
    other, *_ = added_up(log_of(users, shuffled(users, data)))
    for name, (values, *_) in first.items():
        np.testing.assert_array_equal(values, other[name][0], err_msg=name)


@settings(max_examples=40, deadline=None)
@given(users=st.lists(USER, min_size=2, max_size=4), data=st.data())
def test_whoever_does_not_take_part_is_not_there(users, data):
    log = log_of(users, shuffled(users, data))
    part = np.array([name != "user 0" for name in log.users.to_list()])
    some, *_ = added_up(log, part)
    rest, *_ = added_up(log_of(users[1:]))
    for name, (values, *_) in some.items():
        np.testing.assert_array_equal(values, rest[name][0], err_msg=name)


@pytest.mark.parametrize("events", [12, 40, 200, 3000])
def test_a_heavy_user_is_clipped_to_what_is_said_and_not_below(events):
    heavy = [(MONDAY + i // 3, "abcdefg"[i * i % 7], None) for i in range(events)]
    calls, *_ = added_up(log_of([heavy]))
    for name in ("hours of the week", "topics", "kinds of events", "pauses in sessions"):
        values, sensitivity, _ = calls[name]
        length = math.sqrt(sum(int(v) ** 2 for v in values))
        assert length <= sensitivity, name
        assert events < 3000 or length > 0.98 * sensitivity, name


def test_rows_of_another_user_in_the_same_second_split_no_event():
    """A search with two clicks is one event, whoever clicked in between."""
    two = [(MONDAY, "a", "x.example"), (MONDAY, "a", "y.example")]
    _, _, events = added_up(log_of([two, two], [0, 1, 0, 1]))
    assert len(events.user) == 2
    assert events.kind.tolist() == [0, 0]


def test_the_account_holds_all_and_every_share_is_used_once():
    budget = Budget(3.0, 1e-6, reserved_delta=5e-7)
    taken = take_all(plans(rounds=2, per_user=50, clicks=True), budget, times=True)
    epsilon, delta = budget.total()
    assert 2.9 < epsilon <= 3.0
    assert delta <= 1e-6
    spent = sum(line.rho for line in budget.lines)
    assert 0.999 * budget.rho < spent <= budget.rho
    assert len(taken.rounds) == ROUNDS
    assert sum(share.rho for share in taken.rounds) == pytest.approx(CENTRES * budget.rho)
    for name, part in PARTS.items():
        assert taken.sums[name].rho == pytest.approx(part.share * budget.rho)
    calls, *_ = added_up(log_of([[(MONDAY, "a", None)]]))
    for name in PARTS:
        _, sensitivity, rho = calls[name]
        assert rho == pytest.approx(PARTS[name].share * budget.rho)
        assert sensitivity >= PARTS[name].most
    assert sum(rho for _, _, rho in calls.values()) + sum(
        share.rho for shares in taken.texts.values() for share in [*(r.noise for r in shares.rounds), shares.counts]
    ) == pytest.approx(spent)


def test_a_log_without_times_takes_no_share_for_them():
    budget = Budget(3.0, 1e-6, reserved_delta=5e-7)
    taken = take_all(plans(rounds=1, per_user=50, clicks=False), budget, times=False)
    assert "hours of the week" not in taken.sums
    assert "click" not in taken.texts


def test_noise_is_as_wide_as_its_share_asks():
    """From outside: 4,000 bins that nobody is in. The deviation may miss by 6 of its own."""
    share = Budget(3.0, 1e-6).take_rho("topics", fraction=0.1)
    deviation = gaussian_scale(7.0, share.rho)
    nobody = np.zeros(0, dtype=np.int64)
    found = sums.noisy_sums(nobody, nobody, 4000, most=7, share=share, random=Randomness(3))
    assert found.deviation == pytest.approx(deviation)
    assert abs(found.value.std() / deviation - 1) < 6 / math.sqrt(2 * 4000)


def test_what_may_be_noise_is_cut():
    noisy = sums.NoisySums(np.array([-9.0, 2.9, 3.0, 50.0]), 1.0)
    assert noisy.cut().tolist() == [0.0, 0.0, 3.0, 50.0]


def test_a_user_is_in_the_cluster_of_the_nearest_centre():
    user = np.array([0, 0, 0, 2, 2, 3])
    field = np.array([1, 1, 0, 0, 2, 2])
    profiles = Profiles.of(user, field, 3, 4)
    centres = np.eye(3)
    assert assign(profiles, centres).tolist() == [1, 0, 0, 2]
