from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.timing import score
from sample_releases import statement

from querycloak.attacks.halves import halves
from querycloak.attacks.result import CannotAttackError, NothingToAttackError
from querycloak.attacks.timing import Activity, grain_of, timing
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.randomness import Randomness
from querycloak.releases.columns import GRAINS, rounded
from querycloak.releases.release import LogRelease, Truth

RANDOM = Randomness(1)
DAY, HOUR = 86_400, 3_600
START = 1_141_603_200  # a Monday


def log_at(times):
    """A log in which person u searches "tea" at the times times[u]."""
    rows = [(f"u{u:03}", t) for u, own in enumerate(times) for t in own]
    return QueryLog.of([r[0] for r in rows], ["tea"] * len(rows), times=[START + int(r[1]) for r in rows])


def published_at(log, times, truth, grain="day", **parameters):
    """Publish for the person truth[i] rows at the times times[i]."""
    table = log_at(times)
    table = replace(table, users=table.users.map_elements(lambda u: f"p{u}", return_dtype=table.users.dtype))
    table = replace(table, time=rounded(table.time, grain))
    said = replace(statement(**parameters), time_grain=grain)
    return LogRelease(table, said, Truth(np.array(truth, dtype=np.int32)))


def attacked(log, release):
    return timing(log, release, RANDOM, halves=halves(log, RANDOM))


def turned(times, by=7):
    """The same under other ids, in another order of people."""
    truth = [(i + by) % len(times) for i in range(len(times))]
    return [times[u] for u in truth], truth


def random_times(people=40, searches=24, days=60, seed=1):
    return np.sort(np.random.default_rng(seed).integers(0, days * DAY, (people, searches)), axis=1).tolist()


@pytest.mark.parametrize("grain", ["hour", "day", "week"])
def test_people_with_days_of_their_own_are_all_found(grain):
    times = random_times() if grain != "week" else random_times(days=400)
    log = log_at(times)
    result = attacked(log, published_at(log, *turned(times), grain))
    assert result.rate > 0.95
    assert result.baseline.rate == 1 / 40
    assert f"the {grain}s" in result.knows
    assert result.risk == "link"


def test_nobody_is_found_where_all_search_at_the_same_times():
    times = [random_times(1)[0]] * 40
    log = log_at(times)
    result = attacked(log, published_at(log, *turned(times)))
    np.testing.assert_allclose(result.rate, 1 / 40)
    assert result.lift_low <= 0 <= result.lift_high


def test_nobody_is_found_where_published_times_have_nothing_to_do_with_people():
    log = log_at(random_times(200))
    result = attacked(log, published_at(log, *turned(random_times(200, seed=2))))
    assert result.lift_low <= 0 <= result.lift_high


def test_people_who_share_their_days_are_found_by_chance_among_them():
    """20 people have days of their own, 20 share all of theirs: (20 + 1) / 40."""
    own = [[DAY * (u + 1), DAY * (u + 31), DAY * 90, DAY * 91] for u in range(20)]
    times = own + [[0, 0, DAY * 70, DAY * 70, DAY * 90, DAY * 90]] * 20
    log = log_at(times)
    np.testing.assert_allclose(attacked(log, published_at(log, *turned(times))).rate, 21 / 40)


@pytest.mark.parametrize("k", [2, 5])
def test_groups_of_k_give_at_most_one_in_k(k):
    times = random_times(days=600)
    group = [sorted(times[u - u % k + m][i] for m in range(k) for i in range(m, 24, k)) for u in range(40)]
    log = log_at(times)
    result = attacked(log, published_at(log, *turned(group), k=k))
    assert result.bound == 1 / k
    assert 0.4 / k < result.rate <= 1 / k + 1e-12


def test_row_counts_of_a_day_tell_people_apart():
    """All search on the same days, everybody another number of times on each."""
    draw = np.random.default_rng(3)
    times = [[d * DAY + i for d in range(20) for i in range(n[d])] for n in draw.integers(1, 6, (30, 20))]
    log = log_at(times)
    assert attacked(log, published_at(log, *turned(times))).rate > 0.95


def test_habits_tell_where_the_known_days_are_not_published():
    """Everybody has one weekday; published are only rows after what is known."""
    times = [[(u % 7 + 7 * w) * DAY for w in range(20)] for u in range(7)]
    log = log_at(times)
    later = [t[10:] for t in times]
    assert attacked(log, published_at(log, *turned(later, 3))).rate == 1.0
    hours = [[(7 * w) * DAY + u * HOUR for w in range(20)] for u in range(24)]
    log = log_at(hours)
    assert attacked(log, published_at(log, *turned([t[10:] for t in hours]), "hour")).rate == 1.0
    np.testing.assert_allclose(attacked(log, published_at(log, *turned([t[10:] for t in hours]), "day")).rate, 1 / 24)


def test_a_release_without_times_is_passed_and_a_log_without_times_cannot_be_known():
    log = log_at(random_times(4))
    release = published_at(log, *turned(random_times(4), 1))
    with pytest.raises(NothingToAttackError):
        attacked(log, replace(release, log=replace(release.log, time=None)))
    with pytest.raises(CannotAttackError):
        attacked(replace(log, time=None), release)


def test_the_grain_is_the_promised_one_or_the_coarsest_that_fits():
    week = np.array([START, MISSING_TIME])
    assert grain_of(week) == "week"
    assert grain_of(week, "hour") == "hour"
    assert grain_of(week + np.array([DAY, 0])) == "day"
    assert grain_of(week + np.array([HOUR, 0])) == "hour"
    assert grain_of(week + np.array([1, 0])) == "hour"


COUNTS = st.lists(st.integers(0, 3), min_size=9, max_size=9)


@settings(max_examples=40, deadline=None)
@given(st.lists(COUNTS, min_size=1, max_size=3), st.lists(COUNTS, min_size=1, max_size=4), st.sampled_from([0.1, 0.95]))
def test_scores_like_the_reference(known, rows, own):
    def times(counts):
        return [[g * DAY + i for g in range(9) for i in range(n[g])] for n in counts]

    known = [[1, *k[1:]] for k in known]  # everybody is known and published in the first grain
    rows = [[1, *r[1:]] for r in rows]
    log = log_at(times(known))
    table = published_at(log, times(rows), list(range(len(rows)))).log
    found = Activity.of(log, np.arange(len(known), dtype=np.int32), table, "day", 0.8)
    used = [g for g in range(9) if any(k[g] for k in known + rows)]
    slot = [(START // DAY + g) % 7 for g in used]
    ours, theirs = ([[counts[g] for g in used] for counts in side] for side in (known, rows))
    wanted = [[score(k, i, theirs, slot, 0.8, own) for i in range(len(theirs))] for k in ours]
    got = found.scores(slice(0, len(known)), own)[:, found.log_of]
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


def test_rows_without_a_time_and_people_with_one_search():
    log = log_at([[0, DAY], [DAY], [0, 2 * DAY]])
    release = published_at(log, [[0, DAY], [DAY], [0, 2 * DAY]], [0, 1, 2])
    gone = np.where(np.arange(len(release.log)) == 0, MISSING_TIME, release.log.time)
    result = attacked(log, replace(release, log=replace(release.log, time=gone)))
    assert result.targets == 2
    assert 0 <= result.rate <= 1
    assert sorted(GRAINS) == ["day", "hour", "week"]
