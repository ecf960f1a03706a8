"""The budget of a whole table by set union: what all noise together costs, at the calls that draw it and from outside.

Parts that are right alone can be wrong together: rho spent twice, noise for one item where a user has d, a threshold
one user too low.
"""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from reference.concentrated import delta_of_gaussian
from reference.set_union import exact_tail
from scipy.special import ndtr, ndtri

from querycloak.logs.query_log import QueryLog
from querycloak.methods.dp._noise import gaussian_scale
from querycloak.randomness import Randomness
from querycloak.releases.budget import Budget

frequent = importlib.import_module("querycloak.methods.dp.frequent_queries")
union = importlib.import_module("querycloak.methods.dp._set_union")
table = importlib.import_module("querycloak.methods.dp._set_union_table")
FrequentQueries = frequent.FrequentQueries


class Spy:
    """Stands in for `add_gaussian`: adds `more` to what is chosen from, nothing to counts; keeps what it was asked."""

    def __init__(self, more=0):
        self.more, self.calls = more, []

    def __call__(self, values, *, sensitivity, rho, random):
        name = random._path
        self.calls.append((name, values.copy(), gaussian_scale(sensitivity, rho)))
        return values + (0 if name.endswith("counts") else self.more)


@pytest.fixture
def spied(monkeypatch):
    def run(log, more=0, **values):
        spy = Spy(more)
        for module in (union, table):
            monkeypatch.setattr(module, "add_gaussian", spy)
        release = frequent.frequent_queries(log, FrequentQueries(**values), Randomness(1))
        return release, spy.calls

    return run


def asked(*sets, urls=False):
    """A log in which user i asks the queries of sets[i], clicking one site each."""
    rows = [(f"u{i}", q) for i, items in enumerate(sets) for q in items]
    sites = [f"{q[-1]}.example" for _, q in rows] if urls else None
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows], urls=sites)


COMMON = [f"q{i}" for i in range(5)]
CROWD = [COMMON] * 300
"""300 users who ask the same five queries: all are chosen, with or without one user more."""


@pytest.mark.parametrize("values", [
    {"choose": "gaussian", "counted_per_user": 5},
    {"choose": "sips", "rounds": 3},
    {"choose": "gaussian", "weights": "equal", "count_share": 0.7, "counted_per_user": 2},
    {"choose": "sips", "items": "both", "clicks": True, "counted_per_user": 1},
    {"choose": "gaussian", "items": "phrases", "per_user": 5, "counted_per_user": 5},
])  # fmt: skip
def test_all_noise_together_keeps_epsilon_and_delta(spied, values):
    """One user more who asks what all ask. The exact δ(ε) of Gaussian noise on all that is drawn, with the distance
    that the user really makes, is at most δ; thresholds have their part of δ on top.
    """
    epsilon, delta = 1.0, 1e-6
    values = {"epsilon": epsilon, "delta": delta, **values}
    with_user, after = spied(asked(*CROWD, COMMON, urls=True), **values)
    _, before = spied(asked(*CROWD, urls=True), **values)
    assert [c[0] for c in after] == [c[0] for c in before], "each draw has randomness of its own"
    assert len({c[0] for c in after}) == len(after)
    rho = 0.0
    for (_, more, scale), (_, less, other) in zip(after, before, strict=True):
        assert scale == other
        rho += float(((more - less).astype(float) ** 2).sum()) / (2 * scale**2)
    thresholds = sum(line.delta for line in with_user.statement.account)
    assert 0 < thresholds < delta
    assert delta_of_gaussian(rho, epsilon) + thresholds <= delta
    # what the user's distance costs is what the budget says, so a part that is spent twice would be noticed
    whole = Budget(epsilon, delta, reserved_delta=delta / 2).rho
    if values.get("rounds", 2) == 3 or values.get("items") == "both":
        assert rho <= whole  # what is found in the first round is weighed no more: later rounds cost this user nothing
    else:
        assert 0.99 * whole <= rho <= whole
    assert delta_of_gaussian(1.8 * whole, epsilon) > delta


def test_noise_for_one_item_would_be_too_little(spied):
    """A user with as many chosen items as count in full: the distance of the counts is √counted, not 1."""
    values = {"epsilon": 1.0, "delta": 1e-6, "choose": "gaussian", "counted_per_user": 5, "count_share": 0.5}
    (_, after), (_, before) = (spied(asked(*CROWD, *more), **values) for more in ([COMMON], []))
    distance = math.sqrt(float(((after[-1][1] - before[-1][1]).astype(float) ** 2).sum()))
    share = 0.5 * Budget(1.0, 1e-6, reserved_delta=5e-7).rho
    assert distance / after[-1][2] == pytest.approx(math.sqrt(2 * share), rel=1e-6)


@pytest.mark.parametrize(("choose", "d"), [("gaussian", 1), ("gaussian", 6), ("sips", 6)])
def test_what_one_user_alone_has_is_published_with_probability_delta_at_most(spied, choose, d, monkeypatch):
    """All that the user alone has, in all rounds, by the exact tails of discrete noise (weights in 64ths of a user).

    Nothing of the user is found in an early round, so each round is tried in full. What others have one weight less
    than makes an item looked at adds nothing that δ does not cover: test_set_union_threshold.py.
    """
    monkeypatch.setattr(union, "UNIT", 64)
    delta = 1e-3
    values = {"epsilon": 1.0, "delta": delta, "choose": choose, "per_user": d, "weights": "equal"}
    own = [f"own {i}" for i in range(d)]
    release, calls = spied(asked(*[["tea"]] * 40, own), **values)
    rules = release.statement.parameters
    chance, calls = 1.0, [c for c in calls if not c[0].endswith("counts")]
    for i, (_, sums, scale) in enumerate(calls):
        least = round(rules[f"threshold of queries, round {i + 1}"] * 64)
        mine = [s for s in sums.tolist() if s <= 64]
        assert len(mine) in {0, d}
        chance *= math.prod(1 - exact_tail(least - s, scale) for s in mine)
    reserved = sum(line.delta for line in release.statement.account)
    assert 0 < 1 - chance <= reserved <= delta / 2
    # tight: one user less in the threshold of the last round is too much
    lower = 1 - math.prod(1 - exact_tail(least - 64 - s, scale) for s in mine)
    assert lower > reserved


@pytest.mark.parametrize("choose", ["gaussian", "sips"])
def test_an_item_is_chosen_at_the_threshold_and_not_below(spied, choose):
    """The threshold that is used is the one that the statement names and that was proved."""
    values = {"epsilon": 4.0, "delta": 1e-2, "choose": choose, "per_user": 1}
    log = asked(*[["a"]] * 9, *[["b"]] * 9)
    release, _ = spied(log, **values)
    rounds = 2 if choose == "sips" else 1
    least = round(release.statement.parameters[f"threshold of queries, round {rounds}"] * union.UNIT)
    first = round(release.statement.parameters["threshold of queries, round 1"] * union.UNIT)
    assert least <= first
    for more, expected in ((least - 9 * union.UNIT - 1, []), (least - 9 * union.UNIT, ["a", "b"])):
        release, _ = spied(log, more=more, **values)
        assert sorted(release.log.queries.to_list()) == expected


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("unit", [1, 4])
def test_the_guarantee_over_all_outcomes_of_choosing(d, unit, monkeypatch):
    """Exact: for every way in which one user may have up to d of three items, and for others' sums around floor and
    threshold, P(S | a) <= e^ε P(S | b) + δ for the worst set S of published items, both ways."""
    epsilon, delta = 1.0, 1e-2
    monkeypatch.setattr(union, "UNIT", unit)
    monkeypatch.setattr(union, "FLOOR", 0.5)
    seen = {}
    monkeypatch.setattr(union, "add_gaussian", lambda values, **asked: seen.update(asked) or values)
    budget = Budget(epsilon, delta, reserved_delta=delta / 2)
    shares = union.Round(budget.take_rho("a"), budget.take_delta("b", delta=delta / 2))
    some = union_pairs([[0]])
    _, (rule,) = union.set_union(some, np.ones(3, np.int64), d, [shares], Randomness(1))
    scale = gaussian_scale(seen["sensitivity"], seen["rho"])
    least, floor = round(rule.threshold * unit), max(1, int(scale * 0.5))

    def chances(sums):
        return [exact_tail(least - s, scale) if s >= floor else 0.0 for s in sums]

    def outcomes(sums):
        found = {}
        p = chances(sums)
        for mask in range(8):
            found[mask] = math.prod(p[i] if mask >> i & 1 else 1 - p[i] for i in range(3))
        return found

    levels = [0, floor - 1, floor, least - unit, least, least + unit]
    for others in [(a, b, c) for a in levels for b in levels for c in levels if a <= b <= c]:
        without = outcomes(others)
        for have in ([0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]):
            if len(have) > d:
                continue
            weight = math.isqrt(unit * unit // len(have))
            both = outcomes([s + weight * (i in have) for i, s in enumerate(others)])
            for p, q in ((both, without), (without, both)):
                assert sum(max(0.0, p[s] - math.exp(epsilon) * q[s]) for s in p) <= delta


def union_pairs(sets):
    from querycloak.methods.dp._contribution import Contributions

    rows = [(u, i) for u, items in enumerate(sets) for i in items]
    return Contributions.of(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), 3)


@pytest.mark.parametrize("seed", [1, None])
def test_choice_and_counts_have_the_noise_of_the_proof(seed):
    """From outside: 1,500 queries of 6 askers each, chosen with the probability that the formula of the publication
    gives, and shown with fresh noise of the deviation that their rho gives. Each may miss by 6 standard deviations; a
    threshold one user lower or rho spent twice move the first by 15 or more, half the noise of the counts the second.
    """
    n, people = 1500, 6
    log = QueryLog.of(
        [f"u{i}.{j}" for i in range(n) for j in range(people)], [f"q{i}" for i in range(n) for _ in range(6)]
    )
    values = {"epsilon": 4.0, "delta": 1e-2, "per_user": 1, "counted_per_user": 1, "count_share": 0.5}
    release = frequent.frequent_queries(log, FrequentQueries(choose="gaussian", **values), Randomness(seed))
    rho = Budget(4.0, 1e-2, reserved_delta=5e-3).rho / 2
    deviation = 1 / math.sqrt(2 * rho)
    tau = 1 + deviation * ndtri(1 - 5e-3) + deviation / 16
    p = float(ndtr((people - tau) / deviation))
    assert 0.3 < p < 0.99
    assert abs(len(release.log) - n * p) < 6 * math.sqrt(n * p * (1 - p))
    noise = release.log.extra["count"].to_numpy() - people
    noise = noise[release.log.extra["count"].to_numpy() > 1]  # what is 1 or less is shown as 1
    expected = deviation**2 + 1 / 12  # rounded to whole people
    cut = ndtr((1.5 - people) / deviation)
    if cut < 1e-3:
        assert abs(noise.var() - expected) < 6 * expected * math.sqrt(2 / len(noise))
    assert abs(np.median(noise)) <= 1


@pytest.mark.parametrize("values", [{"choose": "gaussian"}, {"choose": "sips", "items": "both", "clicks": True}])
def test_the_account_adds_up_to_what_was_asked_for(spied, values):
    release, _ = spied(asked(*CROWD, urls=True), epsilon=0.7, delta=1e-5, **values)
    lines = release.statement.account
    assert sum(line.delta for line in lines) == pytest.approx(5e-6, rel=1e-9)
    whole = Budget(0.7, 1e-5, reserved_delta=5e-6).rho
    assert sum(line.rho for line in lines) == pytest.approx(whole, rel=1e-9)
    assert {line.relation for line in lines} == {"add-remove"}


def test_the_next_round_weighs_only_what_is_left(spied):
    """Users of five queries that all are found in round 1 have their whole weight for the sixth in round 2."""
    _, calls = spied(
        asked(*[[*COMMON, f"r{i // 10}"] for i in range(300)]), epsilon=1.0, choose="sips", weights="equal"
    )
    first, second = (sums for name, sums, _ in calls if "choice" in name)
    assert first.max() == pytest.approx(300 * union.UNIT / math.sqrt(6), rel=1e-5)
    assert second.tolist() == [10 * union.UNIT] * 30
