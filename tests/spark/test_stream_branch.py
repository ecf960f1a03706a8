"""One top-level category of a stream on a cluster, without a session: the rules, its state, its texts, its ids."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from querycloak import Workbench
from querycloak.errors import GateError, InputError, ParameterError
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.query_log import QueryLog
from querycloak.methods.stream import engine_state
from querycloak.methods.stream.stream_statement import (
    FlatSettings,
    NearestSettings,
    SelfAdjustingSettings,
    StreamSettings,
)
from querycloak.randomness import Randomness
from querycloak.spark.streams.branch import Branch
from querycloak.spark.streams.branch_state import branch_of_bytes, bytes_of_branch
from querycloak.spark.streams.plan import Plan, check_settings
from querycloak.spark.streams.tallies import Figures, figures_of, stated

ROLES = ("user", "query", "time", "rank", "url", "category")
KINDS = {
    "self-adjusting": SelfAdjustingSettings,
    "nearest": NearestSettings,
    "fixed-depth": StreamSettings,
    "flat": FlatSettings,
}


def plan_of(method: str = "self-adjusting", seed: int = 5, *, id_key: bytes | None = bytes(32), **settings) -> Plan:
    words = KeyedRandomness(Randomness(seed).child("engine"))
    return Plan(method, KINDS[method](**{"k": 3, **settings}), ROLES, words, None, id_key)


def some_rows(n: int = 900, seed: int = 1, top: str = "Sports") -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "user": [f"user {i}" for i in rng.integers(0, 40, n)],
            "query": [f"Tea  number {i}" if i % 2 else f"tea number {i}" for i in rng.zipf(1.3, n) % 60],
            "time": np.arange(n) * 1000,
            "rank": pl.Series([None if i % 3 else i % 10 for i in range(n)], dtype=pl.Int32),
            "url": [None if i % 3 else f"http://{i}.org/ä" for i in range(n)],
            "category": [f"{top}/{a}/{b}" for a, b in zip(rng.integers(0, 3, n), rng.integers(0, 3, n), strict=True)],
        }
    )


def through(branch: Branch, rows: pl.DataFrame, cuts: list[int]) -> pl.DataFrame:
    edges = [0, *cuts, len(rows)]
    return pl.concat([branch.push(rows[a:b]) for a, b in pairwise(edges)])


@pytest.mark.parametrize("method", list(KINDS))
@pytest.mark.parametrize("max_delay", [0, 25])
def test_the_rules(method, max_delay):
    rows = some_rows()
    settings = {"depth": 1} if method == "flat" else {}
    branch = Branch(plan_of(method, as_in_paper=True, ids="original", max_delay=max_delay, **settings), "Sports")
    out = through(branch, rows, [100, 101, 500])
    asker = dict(zip(rows["time"].to_list(), rows["user"].to_list(), strict=True))
    assert len(out) > 400
    assert all(asker[at] == of != user for user, at, of in out.select("user", "time", "asker").rows())
    assert out["candidates"].min() >= 3
    gone = set(rows["time"].to_list()) - set(out["time"].to_list()) - set(branch.waiting["time"].to_list())
    assert len(out) == out["time"].n_unique()
    assert len(gone) == branch.tally.too_long
    assert len(out) + branch.engine.waiting + len(gone) == len(rows)
    assert (len(gone) > 0) <= (max_delay > 0)
    if not max_delay:
        held = [branch.users.text(int(c)).decode() for c in engine_state.to_state(branch.engine)[0]["holder"]]
        assert Counter(rows["user"].to_list()) == Counter(out["user"].to_list()) + Counter(held)


@pytest.mark.parametrize("method", ["self-adjusting", "nearest"])
def test_a_branch_that_goes_on_from_bytes_makes_the_same_rows(method):
    rows, plan = some_rows(), plan_of(method, max_delay=200)
    expected = through(Branch(plan, "Sports"), rows, [])
    branch, parts = Branch(plan, "Sports"), []
    for begin in range(0, len(rows), 150):
        state = bytes_of_branch(branch)
        branch.push(rows[begin : begin + 150])  # a micro-batch whose end is lost
        branch = branch_of_bytes(plan, "Sports", state)
        parts.append(branch.push(rows[begin : begin + 150]))
    assert pl.concat(parts).equals(expected)
    assert branch.tally.left + branch.tally.too_long + branch.tally.nothing_left + branch.engine.waiting == len(rows)


@pytest.mark.parametrize(("wrong", "message"), [("own", "under the user who asked"), ("few", "fewer than 3")])
def test_the_gate_lets_nothing_out_that_breaks_the_rule(monkeypatch, wrong, message):
    branch, rows = Branch(plan_of(as_in_paper=True), "Sports"), some_rows(200)
    push = branch.engine.push_codes

    def broken(user, node):
        out = push(user, node)
        return (
            replace(out, user=user[out.record].astype(np.int64))
            if wrong == "own"
            else replace(out, candidates=np.full(len(out), 2))
        )

    monkeypatch.setattr(branch.engine, "push_codes", broken)
    with pytest.raises(GateError, match=message):
        branch.push(rows)


def test_another_category_draws_other_words():
    rows = some_rows()
    one, other = (through(Branch(plan_of(ids="original"), top), rows, []) for top in ("Sports", "Food"))
    assert not one.equals(other)


def test_texts_are_those_of_one_machine():
    rows = some_rows()
    release = Workbench(_log(rows)).anonymize("self-adjusting", k=3, seed=1)
    branch = Branch(plan_of(), "Sports")
    out = through(branch, rows, [300])
    chosen = dict(zip(out["time"].to_list(), out["query"].to_list(), strict=True))
    chosen |= dict(zip(branch.waiting["time"].to_list(), branch.waiting["query"].to_list(), strict=True))
    table = release.log
    theirs = dict(zip(table.time.tolist(), table.queries.gather(table.query).to_list(), strict=True))
    assert len(theirs) > 700
    assert all(chosen[at] == text for at, text in theirs.items())
    statement = stated(
        "self-adjusting", branch.plan.settings, Randomness(0), Figures([figures_of(branch)]), ROLES, {}, {}
    )
    assert statement.figures.keys() == release.statement.figures.keys()
    assert statement.dropped.keys() == release.statement.dropped.keys()
    nothing = "with nothing that 3 people asked before"
    assert statement.dropped[nothing] == release.statement.dropped[nothing] > 0
    assert statement.covers == release.statement.covers


def _log(rows: pl.DataFrame) -> QueryLog:
    from querycloak import read_log

    return read_log(rows)


def test_who_leaves_with_whom_is_distributed_as_on_one_machine():
    """Two samples of 300 runs each, chi-square over the users that the first record may leave with.

    Of the four who ask after `a` in its category, each may be the one: about 3 degrees of freedom; above 21 comes
    with a probability of 10^-4. The seeds are fixed, so that the test does not fail by chance.
    """
    users = ["a", "b", "c", "d", "e", "a", "c"]
    rows = pl.DataFrame({"user": users, "query": ["x"] * 7, "time": range(7), "category": ["S"] * 7})
    log, found = _log(rows), [Counter(), Counter()]
    for seed in range(300):
        plan = replace(
            plan_of(seed=seed, as_in_paper=True, ids="original"), roles=("user", "query", "time", "category")
        )
        for user, at in through(Branch(plan, "S"), rows, []).select("user", "time").rows():
            found[0][user] += at == 0
        table = Workbench(log).anonymize("self-adjusting", k=3, as_in_paper=True, ids="original", seed=seed).log
        for user, at in zip(table.users.gather(table.user).to_list(), table.time.tolist(), strict=True):
            found[1][user] += at == 0
    names = [name for name in "abcde" if found[0][name] + found[1][name]]
    table = np.array([[counter[name] for name in names] for counter in found], dtype=float)
    expected = table.sum(axis=0) * table.sum(axis=1)[:, None] / table.sum()
    assert len(names) >= 3
    assert ((table - expected) ** 2 / expected).sum() < 21


def test_ids_are_of_the_run_or_of_the_day_and_none_of_the_log():
    rows = some_rows()
    original = through(Branch(plan_of(ids="original"), "Sports"), rows, [])["user"].to_list()
    sports = through(Branch(plan_of(), "Sports"), rows, [])["user"].to_list()
    food = through(Branch(plan_of(), "Sports"), some_rows(seed=2), [])["user"].to_list()
    assert len(set(zip(original, sports, strict=True))) == len(set(original)) == len(set(sports))
    assert set(sports) & set(food)
    assert not set(sports) & set(original)
    by_day = through(Branch(plan_of(ids="day", time_grain="day"), "Sports"), rows, [])
    assert by_day["time"].n_unique() > 5
    assert by_day.group_by("user").agg(pl.col("time").n_unique())["time"].max() == 1
    clash = rows.with_columns(pl.lit(sports[0]).alias("user")).head(1)
    with pytest.raises(GateError, match="of the log"):
        through(Branch(plan_of(), "Sports"), pl.concat([clash, rows]), [1])


def test_a_state_that_is_not_one_is_refused():
    plan, rows = plan_of(), some_rows(200)
    branch = Branch(plan, "Sports")
    branch.push(rows)
    state = bytes_of_branch(branch)
    for bad in (state[:-1], state[:200] + bytes([state[200] ^ 1]) + state[201:], b"\x80\x04.", b""):
        with pytest.raises(InputError, match="cannot be read"):
            branch_of_bytes(plan, "Sports", bad)
    with pytest.raises(InputError, match="other settings"):
        branch_of_bytes(plan_of(k=4), "Sports", state)


def test_rows_without_a_user_or_a_query_end_the_run_or_are_counted():
    rows = pl.concat(
        [some_rows(50), some_rows(2).with_columns(user=pl.lit(None, dtype=pl.String), query=pl.lit("secret"))]
    )
    rows = rows.with_columns(pl.when(pl.col("time") == 3000).then(pl.lit(" ")).otherwise("query").alias("query"))
    with pytest.raises(InputError, match=r"2 rows of a batch have no user, 1 have a user and no query") as error:
        Branch(plan_of(), "Sports").push(rows)
    assert "secret" not in str(error.value)
    branch = Branch(replace(plan_of(), skips=True), "Sports")
    branch.push(rows)
    assert (branch.tally.rows, branch.tally.no_user, branch.tally.no_query) == (52, 2, 1)


def test_what_has_no_category_is_a_branch_of_its_own_or_out():
    rows = some_rows(300).with_columns(pl.lit(None, dtype=pl.String).alias("category"))
    kept, dropped = Branch(plan_of(), ""), Branch(plan_of(unclassified="drop"), "")
    assert len(kept.push(rows)) > 200
    assert len(dropped.push(rows)) == 0
    assert kept.tally.unclassified == dropped.tally.unclassified_dropped == 300


@pytest.mark.parametrize("settings", [{"epoch": "100"}, {"max_age": 60.0}, {"ids": "day"}, {"time_grain": "1h"}])
def test_what_cannot_be_had_is_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        check_settings(SelfAdjustingSettings(**settings), ("user", "query"))
