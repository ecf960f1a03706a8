from __future__ import annotations

import numpy as np
import pytest
from reference.shapes import log_ratio
from sample_releases import queries_of, release_of
from trials_by_hand import NoTrialsByHand, TrialsByHand, published_as_asked, shaped_log

from querycloak.arrays.ragged import Ragged
from querycloak.attacks._shape_kernels import Sequences, add_log_ratios
from querycloak.attacks.halves import halves
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.shape import shape, window
from querycloak.attacks.shape_match import ShapeMatch, rows_of
from querycloak.logs.query_log import QueryLog
from querycloak.randomness import Randomness

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
    assert rates(release, log, NoTrialsByHand())["whole log"] == 1.0


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
