"""Epochs, ids and times of a log that passes a stream method in memory, against a plain account of what left when."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from querycloak import api
from querycloak.errors import ParameterError
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import QueryLog
from querycloak.methods.stream.stream_release import stream_release
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.randomness import Randomness

BEGIN = 1_141_171_200  # 2006-03-01 00:00:00
DAY = 86_400
METHODS = ["self-adjusting", "nearest", "fixed-depth", "flat"]


def made_log(n=400, users=12, step=600, late=()):
    time = [BEGIN + i * step - (5 * DAY if i in late else 0) for i in range(n)]
    user = [str(100 + i * 7 % users) for i in range(n)]
    return QueryLog.of(user, [f"query {i}" for i in range(n)], times=time, categories=[f"a/{i % 3}" for i in range(n)])


def released(log, seed=1, **settings):
    """Return the release, and (record, user, delay) of each record that left, in their order, from the engine alone."""
    given = StreamSettings(**{"k": 3, "depth": 2, "as_in_paper": True, **settings})
    paths = Workbench(log).paths
    release = stream_release(log, given, Randomness(seed=seed), paths=paths)
    engine = given.engine("self-adjusting", Randomness(seed=seed).child("engine"))
    out = engine.push_codes(log.user, paths("/").nodes(engine.tree))
    return release, list(zip(out.record.tolist(), out.user.tolist(), out.delay.tolist(), strict=True))


def table(release):
    log = release.log
    texts = log.queries.to_list()
    return [(int(texts[q].split()[1]), u, t) for q, u, t in zip(log.query, log.user, log.time.tolist(), strict=True)]


@given(st.integers(1, 90), st.integers(0, 1000))
def test_an_epoch_of_records_has_what_left_while_they_entered(size, seed):
    log = made_log(150)
    release, left = released(log, seed, epoch=str(size), ids="original")
    expected: dict[int, Counter] = {}
    for record, user, delay in left:
        expected.setdefault((record + delay) // size, Counter())[record, user] += 1
    out, at = table(release), 0
    for epoch in sorted(expected):
        rows = out[at : at + expected[epoch].total()]
        at += len(rows)
        assert Counter((r, u) for r, u, _ in rows) == expected[epoch]
        assert {t for *_, t in rows} == {BEGIN + 600 * size * epoch}
    assert at == len(out)
    closed = [min(((r + d) // size + 1) * size, 150) - 1 - r for r, _, d in left]
    assert release.statement.figures["longest delay"] == max(closed)
    assert release.statement.figures["mean delay"] == pytest.approx(np.mean(closed))


def test_an_epoch_of_time_ends_with_the_first_record_of_a_later_one():
    log = made_log(400, step=601, late=(30, 31, 200))
    release, left = released(log, epoch="2h", ids="original")
    present = np.maximum.accumulate(log.time) // 7200 * 7200
    out = table(release)
    assert Counter((r, u, t) for r, u, t in out) == Counter((r, u, int(present[r + d])) for r, u, d in left)
    assert [t for *_, t in out] == sorted(t for *_, t in out)
    assert release.statement.time_grain == "2h"


@pytest.mark.slow
def test_the_order_of_an_epoch_is_uniform_over_all_orders():
    """Four rows leave in the epoch: 24 orders, 100 expected of each in 2,400 runs.

    Chi-square over 24 cells; by chance below 1e-4 once in 10,000, with fixed seeds never or always.
    """
    orders = Counter()
    log = made_log(6, users=6)
    paths = Workbench(log).paths
    given = StreamSettings(epoch="100", k=2, depth=1, as_in_paper=True)
    for seed in range(2400):
        release = stream_release(log, given, Randomness(seed=seed), paths=paths)
        engine = given.engine("self-adjusting", Randomness(seed=seed).child("engine"))
        out = engine.push_codes(log.user, paths("/").nodes(engine.tree))
        assert len(out) == 4
        orders[tuple(out.record.tolist().index(r) for r, *_ in table(release))] += 1
    assert len(orders) == 24
    assert chisquare(list(orders.values())).pvalue > 1e-4


@pytest.mark.parametrize("method", METHODS)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=120),
    st.integers(1, 50),
    st.sampled_from([0, 5, 30]),
    st.sampled_from(["run", "epoch", "original"]),
    st.integers(0, 1000),
)
def test_the_four_rules_in_epochs(method, records, size, most, ids, seed):
    """Rule 4 is per epoch: at most two records, and one that is overdue, for each record of the epoch."""
    log = QueryLog.of(
        [f"u{u}" for u, _ in records],
        [f"query {i}" for i in range(len(records))],
        times=[BEGIN + i for i in range(len(records))],
        categories=[f"a/{c // 2}/{c}" for _, c in records],
    )
    given = {"k": 3, "epoch": str(size), "max_delay": most, "ids": ids, "as_in_paper": True}
    release = api.anonymize(log, method, seed=seed, **given, **({"pool": 4} if method == "nearest" else {}))
    out, people = table(release), release.truth.user
    asker = [int(log.user[record]) for record, *_ in out]
    assert release.truth.asker.tolist() == asker
    assert all(people[u] != a for (_, u, _), a in zip(out, asker, strict=True))  # rule 1
    assert not out or release.statement.figures["fewest candidates"] >= 3  # rule 2
    # rule 3: in = out + waiting + dropped, in records and in users
    dropped = release.statement.dropped
    assert len(out) == len({record for record, *_ in out})
    assert len(out) + dropped["still waiting at the end"] + dropped["waited too long"] == len(log)
    assert not Counter(int(people[u]) for _, u, _ in out) - Counter(log.user.tolist())
    if most:
        assert release.statement.figures["longest delay"] < most + size
    # rule 4
    for time, group in groupby(out, key=lambda row: row[2]):
        epoch = (time - BEGIN) // size
        assert (time - BEGIN) % size == 0
        rows = list(group)
        assert len(rows) <= 3 * min(size, len(log) - epoch * size)
        assert all(record < (epoch + 1) * size for record, *_ in rows)  # nothing leaves before it came


@pytest.mark.slow
def test_rows_of_an_epoch_are_shuffled_and_each_place_is_as_likely():
    """Six rows leave in the epoch; each comes first in a sixth of 400 runs: 66.7, deviation 7.5; 5 of them."""
    first = Counter()
    log = made_log(8, users=8)
    for seed in range(400):
        release, left = released(log, seed, epoch="100", k=2, depth=1)
        assert len(left) == 6
        first[[r for r, *_ in left].index(table(release)[0][0])] += 1
    assert all(27 <= first[i] <= 106 for i in range(6))


@pytest.mark.parametrize("ids", ["epoch", "day"])
def test_ids_change_with_the_period_and_nowhere_else(ids):
    log = made_log()
    release, _ = released(log, epoch="40", ids=ids)
    whole, _ = released(log, epoch="40", ids="original")
    names, people = release.log.users.to_list(), release.truth.user
    period = {"epoch": lambda t: t, "day": lambda t: t // DAY}[ids]
    seen: dict[tuple, set] = {}
    for (_, u, t), (_, user, _) in zip(table(release), table(whole), strict=True):
        assert people[u] == user
        seen.setdefault((user, period(t)), set()).add(names[u])
    assert all(len(found) == 1 for found in seen.values())
    assert len({name for found in seen.values() for name in found}) == len(seen) == len(names)
    assert release.statement.ids == ids
    assert all(len(name) == 12 and name.isdigit() for name in names)


def test_times_are_rounded_down_and_the_statement_promises_it():
    log = made_log(late=(5,))
    release, _ = released(log, time_grain="day", ids="original")
    assert {(r, t) for r, _, t in table(release)} <= {(i, t // DAY * DAY) for i, t in enumerate(log.time.tolist())}
    assert release.statement.time_grain == "day"
    assert any("rounded down to day" in said for said in release.statement.covers)


def test_who_is_too_old_does_not_wait():
    """With 600 s between records, who waits for 3,000 s has waited for five others; checks are at every record."""
    log = made_log()
    release, _ = released(log, max_age=3000.0, k=5)
    figures, dropped = release.statement.figures, release.statement.dropped
    assert figures["longest delay"] == 5
    assert dropped["waited too long"] > 0
    assert len(release.log) + sum(dropped.values()) == len(log)


@pytest.mark.parametrize("settings", [{"ids": "day"}, {"epoch": "1h"}, {"time_grain": "day"}, {"max_age": 5.0}])
def test_what_needs_times_is_refused_where_there_are_none(settings):
    log = QueryLog.of(["1", "2"], ["tea", "ham"])
    with pytest.raises(ParameterError, match="the log has no times"):
        api.anonymize(log, "self-adjusting", k=2, **settings)


def test_epochs_of_records_need_no_times():
    log = made_log()
    plain = QueryLog.of(
        log.users.gather(log.user).to_list(), log.queries.gather(log.query).to_list(), categories=["top"] * len(log)
    )
    release = api.anonymize(plain, "flat", k=3, epoch=50, ids="epoch", as_in_paper=True, seed=1)
    assert release.log.time is None
    assert len(release.log.users) > 60


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_all_of_it_and_the_gate_lets_it_through(method):
    given = {"epoch": "30", "ids": "epoch", "time_grain": "1h", "max_delay": 60, "max_age": 90_000.0}
    release = api.anonymize(made_log(), method, k=3, seed=1, as_in_paper=True, **given)
    assert len(release.log) > 100
    assert release.statement.figures["longest delay"] < 90
    epochs = [t for t, _ in groupby(t for *_, t in table(release))]
    assert epochs == sorted(epochs)
