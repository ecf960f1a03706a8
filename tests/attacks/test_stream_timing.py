"""The attacker who watches when ids leave a stream."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stream_timing import best_id

import querycloak as qc
from querycloak.attacks._stream_timing_kernels import name_askers
from querycloak.attacks.stream_epochs import rows_when_asked
from querycloak.attacks.stream_timing import APART, SAME, TRUST, waiting_chances
from querycloak.evaluation.workbench import Workbench
from querycloak.logs.query_log import MISSING_TIME, QueryLog

WAITS = np.array([1.0, 0.6, 0.4, 0.25, 0.2, 0.15])
RECORDS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 4)), min_size=3, max_size=30)


@given(RECORDS, st.integers(0, 4), st.sampled_from([0.5, 0.95]), st.sampled_from([0.3, 0.8]))
def test_against_the_reference(records, apart, trust, same):
    user = np.array([u for u, _, _ in records], dtype=np.int32)
    text = np.array([t for _, t, _ in records])
    asked = np.array([max(i - back, 0) for i, (_, _, back) in enumerate(records)], dtype=np.int64)
    row = np.lexsort((np.arange(len(text)), asked, text))
    start = np.flatnonzero(np.diff(text[row], prepend=-1, append=99)).astype(np.int64)
    share = np.bincount(user, minlength=6) / len(user)
    named, lead = name_askers(row, start, asked, user, share, WAITS, apart, trust, same)
    assert (lead >= 0).all()
    for r, found in zip(row.tolist(), named.tolist(), strict=True):
        expected = best_id(r, text.tolist(), asked.tolist(), user.tolist(), WAITS.tolist(), apart, trust, same)
        assert found in expected or (found == -1 and not expected)


def repeated(users=40, texts=4, times=12, seed=1):
    """A stream in which every user asks a few texts of its own again and again, in sittings."""
    random = Random(seed)
    sittings = [(u, t) for u in range(users) for t in range(texts) for _ in range(times)]
    random.shuffle(sittings)
    who = [f"u{u}" for u, _ in sittings]
    return QueryLog.of(
        who,
        [f"text {u} {t}" for u, t in sittings],
        times=list(range(len(who))),
        categories=["Sports"] * len(who),
    )


def rate(log, release):
    (found,) = qc.attack(log, release, names=["stream-timing"], seed=1)
    return found


@pytest.mark.parametrize("k", [3, 10])
def test_repeated_texts_point_at_their_asker_as_in_the_paper(k):
    """Rule 2 of the paper holds, and still the asker is named more often than 1/k: why texts must be shared."""
    log = repeated()
    release = qc.anonymize(log, "self-adjusting", k=k, depth=1, as_in_paper=True, seed=2)
    found = rate(log, release)
    assert found.low > 1 / k
    assert found.details["the surest fifth"] > found.rate
    split = [found.details[name] for name in ("the user with the most records", "all other users")]
    assert min(split) <= found.rate <= max(split)
    assert min(split) < max(split)
    assert found.details["records with a text published often"] > 0.9
    # Ids that say nothing: the same rows under ids drawn from all. A rate near 1/40; 3 points are 6 deviations.
    others = np.random.default_rng(1).permutation(len(release.log.users))[release.log.user].astype(np.int32)
    shuffled = np.random.default_rng(2).permutation(others)
    blind = replace(release, log=replace(release.log, user=shuffled))
    assert rate(log, blind).rate < 1 / 40 + 0.03


def test_a_text_that_is_published_twice_is_no_target():
    log = repeated(texts=20, times=2)
    release = qc.anonymize(log, "self-adjusting", k=3, depth=1, as_in_paper=True, seed=2)
    found = Workbench(log).try_attacks(release, ["stream-timing"], 1)
    assert found.results == []
    assert found.nothing == {"stream-timing": "no text is published 3 times"}


def test_when_a_row_had_been_asked():
    log = QueryLog.of(list("abcd"), list("wxyz"), times=[10, 30, 20, 40])
    assert rows_when_asked(log, 9).tolist() == [0, 1, 1, 3], "the first row with a time as late as its own"
    missing = replace(log, time=np.array([10, 30, MISSING_TIME, 40]))
    assert rows_when_asked(missing, 1).tolist() == [0, 1, 1, 3], "back by the usual delay where there is no time"
    assert rows_when_asked(replace(log, time=None), 2).tolist() == [0, 0, 0, 1]
    rounded = QueryLog.of(["a"] * 1500, ["x"] * 1500, times=[0] * 1500)
    assert rows_when_asked(rounded, 7)[:9].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1], "times that 1,500 rows share"


def test_an_id_under_which_the_record_is_published_is_never_named():
    user = np.array([0, 0, 0, 1, 0], dtype=np.int32)
    row, start, asked = np.arange(4), np.array([0, 4]), np.arange(5)
    named, _ = name_askers(row, start, asked, user, np.array([0.8, 0.2]), waiting_chances(), APART, TRUST, SAME)
    assert named.tolist() == [1, 1, 1, 0]
