from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from reference.shapes import log_ratio
from sample_releases import queries_of, release_of
from trials_by_hand import NoTrialsByHand, TrialsByHand, published_as_asked, shaped_log

from querycloak.arrays.ragged import Ragged
from querycloak.attacks._shape_kernels import Sequences, add_log_ratios
from querycloak.attacks.halves import halves
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.shape import shape, window
from querycloak.attacks.shape_match import PER_LOG, ShapeMatch, rows_of
from querycloak.attacks.targets import find_targets
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness
from querycloak.releases.columns import rounded
from querycloak.releases.release import LogRelease, Truth

RANDOM = Randomness(1)
LOG = shaped_log()
AS_IT_IS = TrialsByHand(lambda queries: queries)


def attacked(release, log=LOG, trials=AS_IT_IS):
    return {r.attack: r for r in shape(log, release, RANDOM, halves=halves(log, RANDOM), trials=trials)}


def rates(release, log=LOG, trials=AS_IT_IS):
    return {name.removeprefix("shape, "): r.rate for name, r in attacked(release, log, trials).items()}


def test_words_per_row_find_everybody_though_all_ask_the_same():
    found = attacked(published_as_asked(LOG))
    assert list(found) == ["shape, whole log", "shape, half known", "shape, 20 in a row"]  # nobody has 50 queries
    assert found["shape, whole log"].rate == 1.0
    assert found["shape, half known"].rate > 0.9
    assert found["shape, 20 in a row"].rate > 0.9
    assert all(r.baseline.rate == 1 / 40 for r in found.values())


def test_long_logs_have_all_variants():
    log = shaped_log(users=20, queries=120)
    found = attacked(published_as_asked(log), log)
    assert list(found)[2:] == [f"shape, {m} in a row" for m in (20, 50, 100)]
    assert all(r.rate == 1.0 for r in found.values())


def test_a_window_that_few_people_fill_is_left_out():
    log = shaped_log(users=19, queries=24)
    assert list(rates(published_as_asked(log), log)) == ["whole log", "half known"]


def test_one_simulation_for_each_variant():
    trials = TrialsByHand(lambda queries: queries)
    attacked(published_as_asked(LOG), trials=trials)
    assert trials.asked_for == ["whole log", "half known", "20 in a row"]


def test_the_method_is_run_on_what_is_known():
    """A method that drops long queries and says everything twice: only who simulates it finds the rows again."""

    def publish(queries):
        return [f"{q} {q}" for q in queries if q != "tea tea tea"]

    lists = [publish(queries) for queries in queries_of(LOG)]
    release = release_of(LOG, lists[::-1], list(range(39, -1, -1)))
    assert rates(release, trials=TrialsByHand(publish))["whole log"] == 1.0
    assert rates(release, trials=NoTrialsByHand())["whole log"] < 0.5


def test_without_trials_the_known_rows_are_compared():
    found = attacked(published_as_asked(LOG), trials=NoTrialsByHand())
    assert found["shape, whole log"].rate == 1.0
    assert "not run again" in found["shape, whole log"].knows


def test_equal_shapes_leak_nothing():
    release = release_of(LOG, [["tea", "green tea"]] * 40, list(range(40)))
    for result in attacked(release).values():
        np.testing.assert_allclose(result.rate, 1 / 40)
        assert result.lift_low <= 0 <= result.lift_high


def test_rows_in_random_order_of_equal_number_leak_nothing():
    draw = np.random.default_rng(3)
    lists = [[" ".join(["tea"] * n) for n in draw.integers(1, 6, 24)] for _ in range(40)]
    found = attacked(release_of(LOG, lists, list(range(40))))
    assert all(r.low <= 1 / 40 <= r.high for r in found.values())


@pytest.mark.parametrize("k", [2, 5])
def test_groups_of_k_equal_logs_give_at_most_one_in_k(k):
    lists = queries_of(LOG)
    published = [lists[i - i % k] for i in range(40)]

    results = attacked(release_of(LOG, published, list(range(40)), k=k)).values()
    assert all(r.bound == 1 / k for r in results)
    assert all(r.rate <= 1 / k + 1e-12 for r in results)


def test_row_counts_alone_give_a_known_rate():
    """20 people have a row count of their own, 20 share one: (20 + 1) / 40."""
    users = [f"u{u}" for u in range(40) for _ in range(1 + min(u, 20))]
    log = QueryLog.of(users, ["tea"] * len(users), times=list(range(len(users))))
    np.testing.assert_allclose(rates(published_as_asked(log), log)["whole log"], 21 / 40)


def test_noisy_row_counts_are_compared_by_their_noise():
    counts = Ragged(np.array([0, 10, 30]), np.zeros(30, dtype=np.int64))
    published = QueryLog.of(["p"] * 14 + ["q"] * 26, ["tea"] * 40)
    match = ShapeMatch.of(counts, rows_of(published, timed=False), published, part=1.0)
    assert match.noise == 5.0  # 10 → 14 and 20 → 26


def test_times_of_day_and_gaps_count_where_they_are_published():
    draw = np.random.default_rng(1)
    times = [int(t) for u in range(12) for t in np.sort(draw.integers(0, 10**6, 8))]
    log = QueryLog.of([f"u{u}" for u in range(12) for _ in range(8)], ["tea"] * 96, times=times)
    plain = published_as_asked(log)
    np.testing.assert_allclose(rates(plain, log, NoTrialsByHand())["whole log"], 1 / 12)
    timed = QueryLog(log.user, log.users, log.query, log.queries, time=log.time)
    release = type(plain)(timed, plain.statement, type(plain.truth)(np.arange(12, dtype=np.int32)))
    found = rates(release, log, NoTrialsByHand())
    assert found["whole log, with columns"] == 1.0
    np.testing.assert_allclose(found["whole log"], 1 / 12)


def test_windows_are_consecutive_and_whole():
    log = QueryLog.of(["u"] * 30 + ["v"] * 9, [str(i) for i in range(39)], times=[*range(29, -1, -1), *range(9)])
    begun = set()
    for seed in range(40):
        taken = np.sort(window(log, 10, Randomness(seed)).query)
        assert len(taken) == 10  # v has too few
        assert (np.diff(taken) == 1).all()
        begun.add(int(taken[0]))
    assert min(begun) < 4
    assert max(begun) > 16
    assert max(begun) <= 20


def test_kernel_equals_the_reference():
    draw = np.random.default_rng(5)
    for features in (1, 3):
        lengths = [[0, 1, 3, 7], [2, 0, 5, 7, 3]]
        sides = [[draw.normal(size=(n, features)) for n in side] for side in lengths]
        known, published = (
            Sequences(np.cumsum([0, *map(len, side)]), np.ascontiguousarray(np.concatenate(side).T)) for side in sides
        )
        out = np.zeros((4, 5))
        add_log_ratios(out, known, published, 0.6, 50.0)
        wanted = [[log_ratio(a.tolist(), b.tolist(), 0.6) for b in sides[1]] for a in sides[0]]
        np.testing.assert_allclose(out, wanted, atol=1e-9)


def test_kernel_leaves_out_unlikely_row_counts():
    one = Sequences(np.array([0, 1]), np.ones((1, 1)))
    two = Sequences(np.array([0, 1, 2]), np.ones((1, 2)))
    out = np.array([[0.0, -51.0]])
    add_log_ratios(out, one, two, 0.5, 50.0)
    assert np.isfinite(out[0, 0])
    assert out[0, 1] == -np.inf


@pytest.mark.parametrize("times", [[1, 2, 3], None])
def test_one_person_and_people_with_one_event(times):
    log = QueryLog.of(["a", "a", "b"], ["x", "y y", "z"], times=times)
    found = attacked(release_of(log, [["x", "y y"]], [0]), log)
    assert {r.rate for r in found.values()} == {1.0}


def test_an_empty_release_cannot_be_attacked():
    with pytest.raises(CannotAttackError):
        attacked(release_of(LOG, [], []))


def with_columns(log, grain="", **columns):
    """Publish a log as it is, with columns next to the text."""
    plain = published_as_asked(log)
    table = QueryLog(log.user, log.users, log.query, log.queries, **columns)
    said = replace(plain.statement, time_grain=grain)
    return LogRelease(table, said, Truth(np.arange(len(log.users), dtype=np.int32)))


def test_rows_per_day_count_where_days_are_published():
    """All ask as often, in the same words and on as many days; how many on which day differs."""
    draw = np.random.default_rng(2)
    days = [d for _ in range(30) for d in np.sort(draw.choice(np.repeat(np.arange(12), 9), 40, replace=False)).tolist()]
    users = [f"u{u:02}" for u in range(30) for _ in range(40)]
    log = QueryLog.of(users, ["tea"] * len(users), times=[86_400 * d + 7 * i for i, d in enumerate(days)])
    np.testing.assert_allclose(rates(published_as_asked(log), log, NoTrialsByHand())["whole log"], 1 / 30)
    release = with_columns(log, "day", time=rounded(log.time, "day"))
    found = attacked(release, log, NoTrialsByHand())["shape, whole log, with columns"]
    assert found.rate == 1.0
    assert "rows per day" in found.knows
    alone = rows_of(release.log, timed=True)
    assert alone[4, 0] == np.log(days[:40].count(days[0]))


@pytest.mark.parametrize("by", ["url", "rank"])
def test_clicks_and_ranks_count_where_they_are_published(by):
    draw = np.random.default_rng(4)
    n = 30 * 24
    users = [f"u{u:02}" for u in range(30) for _ in range(24)]
    hit = draw.random(n) < (0.5 if by == "url" else 1.0)
    log = QueryLog.of(users, ["tea"] * n, times=list(range(n)), urls=["a.example" if h else None for h in hit])
    log = replace(log, rank=np.where(hit, draw.integers(1, 9, n) if by == "rank" else 1, -1).astype(np.int32))
    release = with_columns(log, url=log.url, urls=log.urls, rank=log.rank)
    found = attacked(release, log, NoTrialsByHand())["shape, whole log, with columns"]
    assert found.rate > 0.95
    assert "clicks and ranks" in found.knows


def test_a_column_that_misleads_is_left_out_once():
    """Published clicks have nothing to do with those that are known; words per row find everybody all the same."""
    draw = np.random.default_rng(5)
    known = replace(LOG, url=draw.integers(-1, 1, len(LOG)).astype(np.int32), urls=pl.Series(["a.example"]))
    release = with_columns(LOG, url=draw.integers(-1, 1, len(LOG)).astype(np.int32), urls=pl.Series(["a.example"]))
    found = rates(release, known, NoTrialsByHand())
    assert found["whole log"] == 1.0
    assert list(found)[:2] == ["whole log", "whole log, with columns"]


def test_where_all_take_too_long_a_sample_is_attacked(monkeypatch):
    module = sys.modules["querycloak.attacks.shape"]
    monkeypatch.setattr(module, "FEWEST", 4)
    monkeypatch.setattr(module, "WORK_OF_A_SHARE", 1.0)
    release = published_as_asked(LOG)
    everybody = attacked(release)["shape, whole log"]
    assert everybody.targets == len(LOG.users)  # there are few, so that none is left out
    monkeypatch.setattr(module, "find_targets", partial(find_targets, most=10))
    found = attacked(release)
    for name in ("shape, whole log", "shape, half known"):
        assert found[name].targets == 4
        assert found[name].details["people of whom these are a sample"] == len(LOG.users)
    assert found["shape, whole log"].rate == 1.0


@pytest.mark.parametrize("part", [1.0, 0.5, None])
def test_the_work_is_what_the_comparison_multiplies(part):
    rng = np.random.default_rng(5)
    published = QueryLog.of(
        [f"u{u}" for u, n in enumerate((1, 4, 4, 30, 90)) for _ in range(n)],
        [f"a {'b ' * k}" for k in rng.integers(5, size=129)],
    )
    match = ShapeMatch.of(
        Ragged.of_lists([[0, 1, 2], [], list(range(45))], np.int64), rng.random((1, 50)), published, part
    )
    theirs = [1, 4, 4, 30, 90]
    for ours, work in zip((3, 0, 45), match.work(), strict=True):
        likely = match._row_counts(np.array([ours]), np.array(theirs))[0]
        near = [n for n, value in zip(theirs, likely, strict=True) if value >= likely.max() - 50]
        assert work == sum(min(ours, n) * (abs(ours - n) + 1) + PER_LOG for n in near)
