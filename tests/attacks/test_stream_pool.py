"""The attackers who look at where and in which epoch ids are published next, against plain ones, and on releases."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stream_pool import best_by_epochs, best_by_pool, counted

import querycloak as qc
from querycloak.attacks._stream_pool_kernels import count_rows, name_by_pool
from querycloak.attacks._stream_timing_kernels import name_by_epochs
from querycloak.attacks.stream_epochs import epochs_of, rows_of_epochs_when_asked
from querycloak.attacks.stream_pool import inside_guess, rehearsed_ratios
from querycloak.attacks.stream_timing import chances_of_epochs, weighed_epochs
from querycloak.logs.query_log import QueryLog
from querycloak.methods.stream.engine import make_engine
from querycloak.randomness import Randomness

BINS = np.array([0, 1, 2, 2, 3, 3])
CHAINS = ((0, 1), (0, 2), (0, -1))


@st.composite
def published(draw):
    """Rows of one category: users, chains, the first row of each one's epoch; and where one of them was asked."""
    rows = draw(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(CHAINS)), min_size=2, max_size=25))
    size = draw(st.integers(1, 5))
    moment = [i // size * size for i in range(len(rows))]
    own = draw(st.integers(0, len(rows) - 1))
    asked = moment[draw(st.integers(0, own))]
    return [u for u, _ in rows], [c for _, c in rows], moment, (own, asked, len(rows))


@given(published(), st.integers(0, 4))
def test_counting_is_that_of_the_reference(stream, asker):
    users, chains, moment, (own, asked, end) = stream
    arrays = np.array(users, np.int32), np.array(chains, np.int32), np.array(moment), BINS
    target = [np.array([value]) for value in (own, asked, end)]
    found, expected = count_rows(*target, np.array([asker], np.int32), np.array([0.25]), *arrays)
    plain = counted([(own, asked, end)], [asker], [0.25], users, chains, moment, BINS.tolist())
    for cell in np.ndindex(found.shape):
        assert found[cell] == plain[0].get(cell, 0)
        assert expected[cell] == pytest.approx(plain[1].get(cell, 0))


@given(published(), st.lists(st.floats(0.2, 5), min_size=12, max_size=12))
def test_the_id_named_is_one_of_the_best_of_the_reference(stream, ratios):
    users, chains, moment, (own, asked, end) = stream
    ratio = np.array(ratios).reshape(3, 4)
    share = np.bincount(users, minlength=5)[users] / len(users)
    target = [np.array([value]) for value in (own, asked, end)]
    arrays = np.array(users, np.int32), share, np.array(chains, np.int32), np.array(moment), BINS
    (named,) = name_by_pool(*target, *arrays, ratio, 5).tolist()
    best = best_by_pool((own, asked, end), users, share.tolist(), chains, moment, BINS.tolist(), ratio.tolist())
    assert named in best or (named == -1 and not best)
    assert named != users[own]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=3, max_size=30),
    st.integers(1, 8),
    st.sampled_from([[1.0], [0.1, 0.6, 0.3], [0.05, 0.2, 0.5, 0.15, 0.1]]),
    st.sampled_from([0.0, 0.3, 0.8]),
)
def test_in_epochs_the_id_named_is_one_of_the_best_of_the_reference(records, size, chance, same):
    user = np.array([u for u, _ in records], dtype=np.int32)
    text = np.array([t for _, t in records])
    epoch = np.arange(len(user)) // size
    row = np.argsort(text, kind="stable")
    start = np.flatnonzero(np.diff(text[row], prepend=-1, append=99)).astype(np.int64)
    share = np.bincount(user, minlength=6) / len(user)
    weighed = weighed_epochs(epoch, user, 6, np.array(chance))
    named, lead = name_by_epochs(row, start, epoch, user, share, *weighed, 0.95, same)
    assert (lead >= 0).all()
    for r, found in zip(row.tolist(), named.tolist(), strict=True):
        best = best_by_epochs(r, text.tolist(), epoch.tolist(), user.tolist(), chance, 0.95, same)
        assert found in best or (found == -1 and not best)
        assert found != user[r]


def test_chances_of_epochs_add_up():
    chance = chances_of_epochs()
    assert chance.sum() == pytest.approx(1)
    assert chance.argmax() == len(chance) // 2
    assert np.array_equal(chance, chance[::-1])


@pytest.mark.needs_jit
def test_ids_that_stay_tell_no_less_than_ids_that_change():
    """Shared texts: who could forget which ids are the same must not be better off, by more than chance.

    About 7,000 records with a repeated text; a rate of 5 % has a standard error of 0.26 points, the difference of two
    0.37: three of these.
    """
    log = qc.generate(users=200, queries=8000, clicks=False, categories=True, order="time", seed=1).log
    rate = {}
    for ids in ("run", "epoch"):
        release = qc.anonymize(log, "self-adjusting", k=3, epoch="200", ids=ids, seed=1)
        (found,) = qc.attack(log, release, names=["stream-timing"], seed=1)
        rate[ids] = found.rate
        assert found.targets > 5000
    assert rate["run"] > rate["epoch"] - 0.011


def test_who_sees_what_waits_takes_the_nearest_id():
    chains = np.array([[0, 1], [0, 2], [3, -1]], np.int32)
    node, holder = np.array([0, 1, 1, 1, 2], np.int32), np.array([7, 5, 5, 6, 9], np.int32)
    random = Randomness(seed=1)
    assert inside_guess(node, holder, chains, 0, 3, random) == 7, "who waits in the record's own node"
    assert inside_guess(node, holder, chains, 0, 7, random) == 5, "else near it, who waits most often"
    assert inside_guess(node, holder, chains, 2, 9, random) == -1, "never the published id, never another category"


def test_a_rehearsal_learns_that_the_asker_is_near_and_soon():
    """40 users in 8 nodes of one category; in a stream of chance alone all ratios are 1."""
    rng = np.random.default_rng(1)
    engine = make_engine("self-adjusting", 5, 2, random=Randomness(seed=1))
    nodes = np.array([engine.tree.node(("a", str(i))) for i in range(8)], np.int32)
    user, node = rng.integers(0, 40, 4000).astype(np.int32), nodes[rng.integers(0, 8, 4000)]
    ratio = rehearsed_ratios(engine, user, node, Randomness(seed=2))
    assert ratio[1, :4].mean() > 1.3
    assert 0.8 < ratio[1:, -1].mean() < 1.2, "thousands of rows later nothing is left of it"


def repeated(users=60, times=40, seed=1):
    random = Random(seed)
    who = [u for u in range(users) for _ in range(times)]
    random.shuffle(who)
    return QueryLog.of(
        [f"u{u}" for u in who],
        [f"text {u}" for u in who],
        times=list(range(len(who))),
        categories=[f"Sports/{random.randrange(4)}" for _ in who],
    )


def rates(log, release, *names):
    return {a.attack: a.rate for a in qc.attack(log, release, names=list(names), seed=1)}


@pytest.mark.needs_jit
@pytest.mark.parametrize("method", ["self-adjusting", "nearest", "fixed-depth", "flat"])
def test_the_pool_attacker_finds_more_than_chance_and_nothing_where_ids_say_nothing(method):
    """2,400 records of 60 users: by chance 1 in 60; 3 points above it are ten deviations."""
    log = repeated()
    given = {"nearest": {"pool": 20, "depth": 2}, "flat": {}}.get(method, {"depth": 2})
    release = qc.anonymize(log, method, k=5, as_in_paper=True, seed=2, **given)
    assert rates(log, release, "stream-pool")["stream-pool"] > 1 / 60 + 0.03
    mixed = np.random.default_rng(1).permutation(release.log.user)
    blind = replace(release, log=replace(release.log, user=mixed))
    assert rates(log, blind, "stream-pool")["stream-pool"] < 1 / 60 + 0.03


@pytest.mark.needs_jit
def test_epochs_take_from_both_attackers_and_not_all():
    """Epochs of 150 of 2,400 records: who repeats a text is still there in each of its epochs."""
    log = repeated()
    whole, cut = (
        qc.anonymize(log, "self-adjusting", k=5, depth=2, as_in_paper=True, seed=2, **given)
        for given in ({}, {"epoch": "150"})
    )
    for attack in ("stream-timing", "stream-pool"):
        assert rates(log, cut, attack)[attack] < rates(log, whole, attack)[attack]
    assert rates(log, cut, "stream-timing")["stream-timing"] > 1 / 60 + 0.03


def test_epochs_are_told_by_their_times_or_by_their_size():
    log = repeated(20, 10)
    timed = qc.anonymize(log, "flat", k=3, as_in_paper=True, seed=1, epoch="50")
    of = epochs_of(timed)
    assert of.tolist() == [sorted(set(timed.log.time.tolist())).index(t) for t in timed.log.time.tolist()]
    coarse = qc.anonymize(log, "flat", k=3, as_in_paper=True, seed=1, epoch="50", time_grain="day")
    assert epochs_of(coarse).max() == 3
    assert (np.bincount(epochs_of(coarse)) <= 50).all()
    assert epochs_of(qc.anonymize(log, "flat", k=3, as_in_paper=True, seed=1)) is None


def test_in_epochs_a_record_was_asked_in_the_epoch_where_the_usual_delay_leads():
    epoch = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    assert rows_of_epochs_when_asked(epoch, 0).tolist() == [0, 0, 0, 3, 3, 5, 5, 5]
    assert rows_of_epochs_when_asked(epoch, 3).tolist() == [0, 0, 0, 0, 0, 3, 3, 3]
    assert rows_of_epochs_when_asked(epoch, 99).tolist() == [0] * 8
