"""What every attack owes: a question, a unit, an interval, and the rate of the same attacker without the release."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

import querycloak as qc
from querycloak.attacks.result import BaselineKind, Question, Risk, Unit
from querycloak.catalog import ATTACKS

RELEASES = {
    "log": ("plain-microaggregation", {"k": 3}),
    "items": ("clump", {"k": 3}),
    "counts": ("frequent-queries", {"epsilon": 5.0, "delta": 0.01}),
    "stream": ("self-adjusting", {"k": 2}),
}
KINDS = [(name, kind) for name, entry in ATTACKS.items() for kind in entry.kinds]


@pytest.fixture(scope="module")
def bench():
    return qc.Workbench(qc.generate(users=60, queries=1800, seed=3).log)


@pytest.fixture(scope="module")
def releases(bench):
    return {kind: bench.anonymize(method, seed=1, **settings) for kind, (method, settings) in RELEASES.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_every_result_says_what_it_is_worth(bench, releases, name, kind):
    release = releases[kind]
    other = bench.anonymize(RELEASES[kind][0], seed=2, **RELEASES[kind][1])
    found = bench.try_attacks(release, [name], seed=1, also=[other])
    assert found.results or found.not_run or found.nothing, "an attack returns results, or says what it lacks"
    for r in found.results:
        assert r.attack.split(",")[0] == name
        assert r.question in get_args(Question)
        assert r.question == ATTACKS[name].question
        assert r.risk in get_args(Risk)
        assert r.unit in get_args(Unit)
        assert r.knows
        assert r.baseline.kind in get_args(BaselineKind)
        assert (-1.0 if r.risk == "membership" else -1e-9) <= r.low <= r.rate + 1e-9
        assert r.rate <= r.high + 1e-9
        assert r.baseline.low <= r.baseline.rate + 1e-9
        assert r.baseline.rate <= r.baseline.high + 1e-9
        assert abs(r.lift - (r.rate - r.baseline.rate)) < 1e-9
        assert r.lift_low <= r.lift <= r.lift_high


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_the_same_seed_gives_the_same_result(bench, releases, name, kind):
    first = bench.try_attacks(releases[kind], [name], seed=5)
    assert first == bench.try_attacks(releases[kind], [name], seed=5)


def test_claims_are_compared_with_people_held_out_where_the_method_can_be_run_again(bench, releases):
    (first, *_) = bench.attack(releases["log"], ["claim"], seed=1)
    assert first.baseline.kind == "people held out"
    (first, *_) = bench.attack(releases["log"], ["claim"], seed=1, rerun=False)
    assert first.baseline.kind == "another person"


def test_attacks_that_need_further_releases_say_so(bench, releases):
    found = bench.try_attacks(releases["log"], ["membership", "relink-half"], seed=1, rerun=False)
    assert not found.results
    assert set(found.not_run) == {"membership", "relink-half"}
    assert all("--no-rerun" in why for why in found.not_run.values())


def test_a_method_that_is_not_installed_cannot_be_run_again(bench, releases):
    release = releases["log"]
    foreign = dataclasses.replace(release, statement=dataclasses.replace(release.statement, method="of-another-house"))
    found = bench.try_attacks(foreign, ["membership"], seed=1)
    assert "of-another-house" in found.not_run["membership"]


def common_log(people=40):
    """Everybody asks the same popular queries, and each a few of their own that nobody publishes."""
    popular = [f"popular thing {i}" for i in range(12)]
    rows = [(f"u{p}", q) for p in range(people) for q in (*popular, f"private matter {p} a", f"private matter {p} b")]
    order = [(i * 11) % len(rows) for i in range(len(rows))]
    return qc.QueryLog.of([rows[i][0] for i in order], [rows[i][1] for i in order], times=list(range(len(rows))))


def test_an_attack_that_forgets_its_baseline_is_noticed():
    """What everybody asks is no secret of anybody: claims are right, and the release adds nothing to that."""
    bench = qc.Workbench(common_log())
    release = bench.anonymize("sweep", min_query_users=20, seed=1)
    for r in bench.attack(release, ["claim"], seed=1):
        assert r.rate > 0.5, r.attack
        assert abs(r.lift) < 0.2, f"{r.attack}: {r.baseline}"
        assert r.lift_low <= 0 <= r.lift_high
    for r in bench.attack(release, ["claim"], seed=1, rerun=False):
        assert r.baseline.rate > 0.3, r.attack  # each popular text is in the unknown half of about half of the others
