"""Audits: what is looked at, which logs are compared, what is refused, and that sound methods pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import querycloak as qc
from querycloak.catalog import METHODS
from querycloak.errors import GateError, ParameterError, UnknownNameError, UserError
from querycloak.evaluation import audit_runs
from querycloak.evaluation.audit import audit
from querycloak.evaluation.audit_features import features_of
from querycloak.evaluation.audit_pairs import crowd_log, pairs_for, small_taxonomy
from querycloak.releases.account import ADD_REMOVE, CONCEPTS, EMPTY, REPLACE

PRIVATE = sorted(name for name, entry in METHODS.items() if "differential privacy" in entry.guarantee)


@pytest.fixture(scope="module")
def table():
    log = crowd_log(12, 2)
    settings = {"choose": "korolova", "epsilon": 50.0, "delta": 0.1, "per_user": 2}
    return qc.anonymize(log, "frequent-queries", seed=1, **settings)


def test_every_figure_of_a_table_and_of_its_statement_is_looked_at(table):
    found = features_of(table)
    assert found["rows"] == found["rows of 'tea'"] + found["rows of 'coffee'"] == 2
    assert found["sum of counts"] == found["sum of counts of 'tea'"] + found["sum of counts of 'coffee'"]
    changed = {
        "parameters": {**table.statement.parameters, "threshold": 7.0},
        "counts_out": {"rows": 3},
        "counts_in": {"rows": 3},
        "dropped": {"x": 1},
        "figures": {"x": 1.0},
        "settings": {**table.statement.settings, "per_user": 3},
        "model": "x",
        "unit": "x",
        "covers": ("x",),
        "does_not_cover": ("x",),
        "assumptions": ("x",),
        "randomness": "x",
        "columns": ("x",),
        "input_commitment": "x",
        "account": table.statement.account[:1],
    }
    for name, value in changed.items():
        other = replace(table, statement=replace(table.statement, **{name: value}))
        assert features_of(other) != found, name


def test_every_column_of_a_table_is_looked_at(table):
    log = table.log
    found = features_of(table)
    words = pl.Series(["x"])
    for name, columns in {
        "time": {"time": np.full(2, 7200)},
        "rank": {"rank": np.ones(2, np.int32)},
        "url": {"url": np.zeros(2, np.int32), "urls": words},
        "category": {"category": np.zeros(2, np.int32), "categories": words},
        "extra": {"extra": log.extra.with_columns(city=pl.Series(["y", "z"]))},
        "count": {"extra": log.extra.with_columns(pl.col("count") + 1)},
        "order": {"query": log.query[::-1].copy(), "extra": log.extra[::-1]},
    }.items():
        assert features_of(replace(table, log=replace(log, **columns))) != found, name


def test_lengths_and_users_of_a_log_are_looked_at():
    log = qc.QueryLog.of(["a", "a", "b"], ["tea", "tea", "cup"])
    release = qc.anonymize(log, "semantic-dp", seed=1, taxonomy=small_taxonomy(), rows_per_user=3)
    found = features_of(release)
    assert (found["users"], found["rows"]) == (2, 6)
    longest, shortest = (f"rows of the user with the {which} rows, number 1" for which in ("most", "fewest"))
    assert found[longest] == found[shortest] == found["rows of the first user"] == 3
    digits = replace(release, log=replace(release.log, users=pl.Series(["17", "35"])))
    assert (found["ids of digits"], features_of(digits)["ids of digits"]) == (0, 2)
    shorter = features_of(replace(release, log=release.log.take(np.arange(5))))
    assert (shorter[longest], shorter[shortest]) == (3, 2)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE, EMPTY])
def test_the_logs_of_a_pair_are_neighbours(relation):
    """One user more, or one user's log another one; the rows of everybody else are the same, in the same order."""

    def of_others(log):
        rows = zip(
            log.users.gather(log.user).to_list(), log.queries.gather(log.query).to_list(), log.time.tolist(),
            [None if code < 0 else log.urls[int(code)] for code in log.url], strict=True,
        )  # fmt: skip
        return [row for row in rows if row[0] != "target"]

    names = [pair.name for pair in pairs_for(relation)]
    assert len(set(names)) == len(names) >= 10
    for pair in pairs_for(relation):
        for people in (2, 9):
            one, other = pair.sides(people)
            assert of_others(one) == of_others(other)
            assert "target" in one.users.to_list()
            assert ("target" in other.users.to_list()) == (relation != ADD_REMOVE)


def test_against_an_empty_log_the_user_asks_nothing():
    """Two logs that are both of something may cost twice the claim: a sound method was accused, 2.7 for 2."""
    for pair in pairs_for(EMPTY):
        log = pair.sides(3).without
        own = log.query[log.user == log.users.to_list().index("target")]
        assert log.queries.gather(own).to_list() == ["qzxvw"], pair.name


@pytest.mark.slow
def test_a_sound_claim_against_an_empty_log_is_not_accused():
    found = qc.audit("histogram-dp", sensitivity="paper", epsilon=2.0, runs=2000, pairs=["another interest"], seed=1)
    assert found.passed


def test_a_relation_that_is_not_about_a_user_has_no_pairs():
    assert pairs_for(CONCEPTS) == ()


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_a_user_comes_in_between_the_clicks_of_others(relation):
    (pair,) = [p for p in pairs_for(relation) if p.name == "clicks in between"]
    log = pair.sides(3).with_user
    assert log.users.gather(log.user).to_list()[:6] == ["u0", "target", "u0", "u1", "target", "u1"]
    assert (log.time[:3] == log.time[0]).all()


@pytest.mark.parametrize(
    ("method", "settings", "why"),
    [
        ("sweep", {}, "claims no differential privacy"),
        ("flat", {}, "claims no differential privacy"),
        ("semantic-dp", {"shape": "paper"}, "no differential privacy of a user's whole log"),
        ("semantic-dp", {"shape": "paper", "epsilon_for": "query"}, "no differential privacy of a user's whole log"),
        ("frequent-queries", {"output_form": "log"}, "no differential privacy of a user's whole log"),
        ("frequent-queries", {"ledger": "x.db", "ledger_log": "y"}, "takes no ledger"),
    ],
)
def test_what_promises_no_user_is_refused(method, settings, why):
    with pytest.raises(UserError, match=why):
        audit(method, runs=100, seed=1, **settings)


def test_other_mistakes_are_refused():
    with pytest.raises(UnknownNameError, match=r"no pair 'heavy'\. Did you mean 'heavy user'"):
        audit("histogram-dp", pairs=["heavy"], seed=1)
    with pytest.raises(ParameterError, match="names no pair"):
        audit("histogram-dp", pairs=[], seed=1)
    with pytest.raises(ParameterError, match="epsilo"):
        audit("histogram-dp", epsilo=1.0)
    for runs in (0, 99, 1.5, True):
        with pytest.raises(ParameterError, match="runs must be"):
            audit("histogram-dp", runs=runs)


@pytest.mark.slow
def test_the_same_seed_finds_the_same_and_no_two_runs_share_one():
    one, two = (audit("semantic-dp", runs=100, seed=4, pairs=["length"]) for _ in range(2))
    assert one == two
    assert isinstance(one, qc.Audit)
    assert one.runs == sum(2 * (pair.choosing + pair.runs) for pair in one.pairs)
    seeds = [audit_runs._seed(4, part, i) for part in ("a", "b") for i in range(500)]
    assert len(set(seeds)) == 1000


@pytest.fixture
def seeds(monkeypatch):
    """The seeds of all runs. Only the first run of a log is a real one; each other one has its release."""
    right, drawn, first = audit_runs.Workbench.anonymize, [], {}

    def watched(bench, name, *, seed, **settings):
        drawn.append(seed)
        if id(bench.log) not in first:
            first[id(bench.log)] = right(bench, name, seed=seed, **settings)
        return first[id(bench.log)]

    monkeypatch.setattr(audit_runs.Workbench, "anonymize", watched)
    return drawn


def test_no_run_is_used_twice(seeds):
    """Every run of an audit has a seed of its own: none that an event was chosen on is counted for its bound."""
    found = audit("semantic-dp", runs=100, seed=4, pairs=["length", "no concept"])
    assert len(seeds) == found.runs + 1  # and one for the claim
    assert len(set(seeds)) == len(seeds)


def test_the_error_is_divided_among_the_bounds(seeds, monkeypatch):
    """Bounds are wrong together with a probability of 0.1 % at most: three bounds have a third of it each."""
    right, errors = audit_runs.lower_bound, []

    def watched(*args, delta, error):
        errors.append(error)
        return right(*args, delta=delta, error=error)

    monkeypatch.setattr(audit_runs, "lower_bound", watched)
    audit("semantic-dp", runs=100, seed=4, pairs=["length", "no concept"])
    assert len(errors) == 2
    assert sum(errors) == pytest.approx(0.001)


def test_a_log_that_is_refused_on_one_side_is_told_apart(monkeypatch):
    """Which logs a method refuses is an output: here those with a certain user."""
    right = audit_runs.Workbench.anonymize

    def wrong(bench, *args, **settings):
        if "target" in bench.log.users.to_list():
            raise UserError("no")
        return right(bench, *args, **settings)

    monkeypatch.setattr(audit_runs.Workbench, "anonymize", wrong)
    found = audit("frequent-queries", choose="korolova", runs=200, delta=0.05, seed=1, pairs=["unique text"])
    assert not found.passed
    assert "refused with UserError" in found.pairs[0].event


@pytest.mark.slow
def test_one_bound_above_its_claim_is_enough():
    found = audit("histogram-dp", runs=100, seed=4, pairs=["no concept"])
    assert found.passed
    (one,) = found.pairs
    for bound, passed in ((1.0, True), (1.0001, False)):
        assert replace(found, pairs=(one, replace(one, bound=bound))).passed == passed


def test_what_the_gate_refuses_ends_an_audit(monkeypatch):
    def refuse(*_, **__):
        raise GateError("broken")

    monkeypatch.setattr("querycloak.releases.checks.check_budget", refuse)
    with pytest.raises(GateError):
        audit("histogram-dp", runs=100, seed=1)


@pytest.mark.slow
def test_a_large_delta_is_tried_too():
    settings = {"choose": "korolova", "epsilon": 1.0, "runs": 100, "seed": 1, "pairs": ["no concept"]}
    for delta, tried in ((1e-3, [1e-3, 0.05]), (0.2, [0.2])):
        found = audit("frequent-queries", delta=delta, **settings)
        assert sorted(pair.delta for pair in found.pairs) == tried


FEW = {"pairs": ["another interest", "no concept", "length", "clicks in between"], "runs": 300}
TABLE = {"pairs": ["one count", "unique text", "clicks in between"], "delta": 0.05, "runs": 200}
SOUND = {
    "synthetic-dp": [
        {"delta": 0.05, "runs": 100, "pairs": ["unique text"]},
        {"delta": 0.05, "runs": 100, "pairs": ["new concept"], "epsilon": 1.0},
    ],
    "histogram-dp": [FEW],  # epsilon is 1 by default, here and below
    "semantic-dp": [FEW, {**FEW, "rows_per_user": 1}],
    "frequent-queries": [
        {**TABLE, "choose": "korolova"},
        {**TABLE, "choose": "korolova", "epsilon": 1.0},
        {**TABLE, "choose": "sips", "pairs": ["unique text", "clicks in between"]},
        {**TABLE, "choose": "sips", "epsilon": 1.0, "pairs": ["one more asker"]},
        {**TABLE, "choose": "gaussian", "epsilon": 1.0, "pairs": ["one more asker", "clicks in between"]},
        {**TABLE, "items": "both", "clicks": True, "epsilon": 1.0, "pairs": ["clicks in between"]},
    ],
}
"""Few pairs and runs, so that all of it takes two minutes; docs/audit.md has whole audits."""
ONCE = [{"runs": 100}, {"runs": 100, "epsilon": 1.0}]


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize(("method", "settings"), [(name, one) for name in PRIVATE for one in SOUND.get(name, ONCE)])
def test_sound_methods_pass(method, settings):
    """With the noise of releases. A false alarm has a probability of 0.1 % at most."""
    found = audit(method, **settings)
    for pair in found.measured:
        print(f"{method} {settings}: {pair.pair}: bound {pair.bound:.2f}, claim {pair.claim:g}")
    assert found.measured
    assert found.passed
