"""The clock of a stream: no single time moves it far, and what is published under it is in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.clock import ENOUGH, shown

from querycloak import api
from querycloak.arrays.checks import BadStateError
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.methods.stream.clock import FAR, LATE, Clock
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.releases.verify import verify_release

BEGIN, HOUR, DAY = 1_141_171_200, 3_600, 86_400
FUTURE = 2_208_988_800  # 2040
STEP = st.sampled_from([0, 60, HOUR, DAY, -HOUR, -3 * DAY, 3 * DAY, 40 * DAY])


@given(
    st.lists(st.tuples(STEP, st.booleans(), st.integers(1, 14)), max_size=12),
    st.sampled_from(["1h", "3d", "7", "40"]),
    st.lists(st.integers(0, 100), max_size=4),
)
def test_like_the_reference_in_any_pieces(steps, epoch, cuts):
    """Runs of times, each at some distance from the first of all, with missing ones between."""
    times = [
        None if missing and i % 3 == 0 else BEGIN + step + 61 * i
        for step, missing, length in steps
        for i in range(length)
    ]
    settings = StreamSettings(epoch=epoch, as_in_paper=True)
    seconds, records = settings.epoch_seconds, settings.epoch_records
    expected, far, late = shown(times, seconds=seconds, records=records)
    clock, out, begin = Clock(settings), [], 0
    array = np.array([MISSING_TIME if t is None else t for t in times], dtype=np.int64)
    for end in [*sorted(cut for cut in cuts if cut < len(times)), len(times)]:
        in_first = records is None or begin < records
        out += clock.follow(array[begin:end], begin if in_first else None).tolist()
        saved, clock = clock.to_state(), Clock(settings)
        clock.from_state(saved)
        begin = end
    assert out == [MISSING_TIME if t is None else t for t in expected]
    assert clock.figures == {FAR: far, LATE: late if seconds else 0}


def test_a_crafted_state_is_refused():
    clock = Clock(StreamSettings(epoch="1h"))
    good = clock.to_state()
    for i, n in ((0, 1 << 61), (1, -1), (1, ENOUGH), (5, -3)):
        with pytest.raises(BadStateError):
            clock.from_state([*good[:i], n, *good[i + 1 :]])
    with pytest.raises(BadStateError):
        clock.from_state(good[:-1])


def log_of(times):
    n = len(times)
    return QueryLog.of(
        [str(100 + i * 7 % 12) for i in range(n)],
        [f"query {i}" for i in range(n)],
        times=times,
        categories=["top"] * n,
    )


def released(times, **settings):
    return api.anonymize(log_of(times), "self-adjusting", k=3, as_in_paper=True, seed=1, **settings)


NORMAL = [BEGIN + 60 * i for i in range(600)]  # ten hours


def with_wild(*where):
    return [FUTURE if i in where else t for i, t in enumerate(NORMAL)]


@pytest.mark.parametrize("where", [(0,), (300,), (0, 1, 2), (299, 300, 301, 400), (599,)], ids=str)
def test_a_time_far_in_the_future_ends_no_epoch(where):
    """Each of the ten hours is published under its own time, but for the wild records themselves."""
    plain, release = released(NORMAL, epoch="1h"), released(with_wild(*where), epoch="1h")
    assert np.array_equal(np.unique(release.log.time), np.unique(plain.log.time))
    sizes = [np.bincount(found.log.time // HOUR - BEGIN // HOUR) for found in (plain, release)]
    assert (np.abs(sizes[0] - sizes[1]) <= len(where)).all()
    assert release.statement.figures[FAR] == (1 if where[0] == 0 else len(where))
    assert plain.statement.figures[FAR] == plain.statement.figures[LATE] == 0
    assert [f.check for f in verify_release(release) if f.holds is False] == []


def test_after_a_gap_the_clock_goes_on():
    times = [t + (5 * DAY if i >= 300 else 0) for i, t in enumerate(NORMAL)]
    release = released(times, epoch="1h")
    assert len(np.unique(release.log.time)) >= 10
    assert release.log.time.max() > BEGIN + 5 * DAY
    assert release.statement.figures[FAR] == 0


def test_the_clock_does_not_go_back_over_what_was_published():
    times = [t - (5 * DAY if i >= 300 else 0) for i, t in enumerate(NORMAL)]
    release = released(times, epoch="1h")
    assert np.unique(release.log.time).tolist() == [BEGIN + HOUR * i for i in range(5)]
    assert release.statement.figures == release.statement.figures | {LATE: 300, FAR: 0}


@given(st.lists(st.integers(0, 400 * HOUR), min_size=30, max_size=200), st.sampled_from(["1h", "20", "2d"]))
def test_whatever_the_times_epochs_are_in_order_and_shuffled_rows_have_their_time_alone(times, epoch):
    release = released([BEGIN + t for t in times], epoch=epoch, ids="epoch")
    assert [f.check for f in verify_release(release) if f.holds is False] == []
    assert (np.diff(release.log.time) >= 0).all()


def test_a_log_that_is_not_in_order_is_told():
    """Half of it comes after the last epoch of the first half."""
    release = released(NORMAL[300:] + NORMAL[:300], epoch="1h")
    assert release.statement.figures[LATE] == 300
