"""The ledger never lets a person spend more than the budget, whoever spends, whatever dies when."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import concentrated

from querycloak.errors import InputError, OutputError, ParameterError, UserError
from querycloak.releases import ledger as module
from querycloak.releases.account import ADD_REMOVE, CONCEPT, CONCEPTS, EMPTY, REPLACE, AccountLine
from querycloak.releases.composition import epsilon_of_rho
from querycloak.releases.ledger import Ledger, make_ledger, read_ledger
from querycloak.releases.ledger_chain import verify_state


def cost(relation=ADD_REMOVE, **guarantee):
    return (AccountLine(purpose="x", relation=relation, **guarantee),)


HALF = cost(epsilon=0.5)


@pytest.fixture
def path(tmp_path):
    make_ledger(tmp_path / "l.db", log="searches", epsilon=1.2, delta=1e-6)
    return tmp_path / "l.db"


def reserve(path, users, account=HALF):
    return Ledger(path, log="searches").reserve(users, account, method="m").tolist()


def test_spends_and_then_leaves_out(path):
    assert reserve(path, ["ann", "bob"]) == [True, True]
    assert reserve(path, ["ann", "cem"]) == [True, True]
    assert reserve(path, ["cem", "ann", "bob"]) == [True, False, True]
    state = read_ledger(path)
    assert state.epsilons().tolist() == [1.0, 1.0, 1.0]
    assert [len(row.hashes) for row in state.rows] == [2, 2, 2]
    assert verify_state(state) == 0


def test_who_takes_part_depends_on_nobody_else(path):
    """Ann's answers are the same whatever others in the log have spent."""
    answers = [reserve(path, ["ann"]) for _ in range(3)]
    other = path.with_name("other.db")
    make_ledger(other, log="searches", epsilon=1.2, delta=1e-6)
    for _ in range(3):
        reserve(other, ["bob", "cem"])
    assert [reserve(other, ["bob", "ann", "cem"])[1:2] for _ in range(3)] == answers == [[True], [True], [False]]


def test_all_methods_spend_in_one_ledger_in_their_own_terms(path):
    """Pure, approximate, a threshold and rho, under two relations: the sum is the tightest one, and no more than it."""
    make_ledger(path.with_name("wide.db"), log="searches", epsilon=3.0, delta=1e-6)
    wide = path.with_name("wide.db")
    accounts = [
        cost(REPLACE, epsilon=0.5),
        (*cost(epsilon=0.25, delta=1e-7), *cost(epsilon=0.25)),
        (*cost(rho=0.02), *cost(delta=1e-7)),
        cost(EMPTY, rho=0.03),
    ]
    for account in accounts:
        assert reserve(wide, ["ann"], account) == [True]
    expected = 1.0 + epsilon_of_rho(0.05, 8e-7)
    assert read_ledger(wide).epsilons() == pytest.approx([expected])
    assert expected == pytest.approx(concentrated.total_epsilon([x for a in accounts for x in a], 1e-6), rel=1e-5)
    left = 3.0 - expected
    assert reserve(wide, ["ann"], cost(epsilon=left * 1.01)) == [False]
    assert reserve(wide, ["ann"], cost(epsilon=left * 0.99)) == [True]


COSTS = [{"epsilon": 0.3}, {"epsilon": 0.7}, {"rho": 0.01}, {"rho": 0.002}, {"delta": 3e-7}]
COSTS += [{"epsilon": 0.1, "delta": 4e-7}]


@given(st.lists(st.sampled_from([cost(**guarantee) for guarantee in COSTS]), max_size=7))
@settings(max_examples=15, deadline=None)
def test_whatever_is_reserved_stays_within_the_budget(tmp_path_factory, accounts):
    path = tmp_path_factory.mktemp("ledger") / "l.db"
    make_ledger(path, log="searches", epsilon=1.2, delta=1e-6)
    paid = [account for account in accounts if reserve(path, ["ann"], account) == [True]]
    lines = [line for account in paid for line in account]
    best = concentrated.total_epsilon(lines, 1e-6)
    assert best is not None
    assert best <= 1.2 * (1 + 1e-9)


def test_a_release_above_the_whole_budget_is_refused_and_costs_nothing(path):
    for account in (cost(epsilon=1.3), cost(epsilon=0.1, delta=2e-6), cost(rho=1.0), (*HALF, *HALF, *HALF)):
        untouched(path, lambda a=account: reserve(path, ["ann"], a), ParameterError, "more than the whole budget")


@pytest.mark.parametrize("number", [-1e-9, -5.0, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["epsilon", "delta", "rho"])
def test_nothing_is_given_back_by_a_cost_below_zero(path, kind, number):
    with pytest.raises(ValueError, match="not below 0"):
        reserve(path, ["ann"], cost(**{kind: number}))
    assert read_ledger(path).length == 0


@pytest.mark.parametrize("account", [(), cost(CONCEPT, epsilon=0.1), cost(CONCEPTS, epsilon=0.1)])
def test_what_bounds_nothing_for_a_person_is_refused_and_costs_nothing(path, account):
    with pytest.raises(ParameterError, match="whole person"):
        reserve(path, ["ann"], account)
    assert read_ledger(path).length == 0


def test_spellings_of_an_id_are_one_person(path):
    for spelling in ("Ann", " ann"):
        assert reserve(path, [spelling]) == [True]
    assert reserve(path, ["ann\u200b"]) == [False]
    assert len(read_ledger(path).people()) == 1


def test_case_tells_people_apart_where_the_ledger_was_told(tmp_path):
    path = tmp_path / "c.db"
    make_ledger(path, log="searches", epsilon=0.5, fold_case=False)
    assert reserve(path, ["Ann", "ann"]) == [True, True]
    assert reserve(path, ["Ann ", "\u200bann"]) == [False, False]


def test_two_users_who_are_one_person_are_refused(path):
    untouched(path, lambda: reserve(path, ["Ann", "bob", "ann", "ANN"]), UserError, "2 ids .* --case-matters")
    make_ledger(path.with_name("c.db"), log="searches", epsilon=0.5, fold_case=False)
    with pytest.raises(UserError, match=r"write each person's id in one way\. Nothing was spent\."):
        reserve(path.with_name("c.db"), ["ann", "ann "])


def test_files_are_private_and_hold_no_user_id(tmp_path):
    make_ledger(tmp_path / "l.db", log="searches", epsilon=1.0)
    reserve(tmp_path / "l.db", ["user-4417749"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["l.db", "l.db.key"]
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert b"4417749" not in file.read_bytes()


def test_a_failure_between_two_writes_keeps_neither(path, monkeypatch):
    def fail(row, before):
        raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr(module, "head_of_row", fail)
        with pytest.raises(RuntimeError, match="power cut"):
            reserve(path, ["ann"])
    assert read_ledger(path).rows == ()
    broken = sqlite3.connect(path)
    broken.execute("CREATE TRIGGER half BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'power cut'); END")
    broken.commit()
    broken.close()
    with pytest.raises(InputError, match="power cut"):
        reserve(path, ["ann"])
    assert read_ledger(path).rows == ()


def test_two_ledgers_know_a_person_by_different_names(tmp_path):
    """Without the key nobody can look a person up, or find the same person in two ledgers."""
    names = []
    for i in range(2):
        make_ledger(tmp_path / f"{i}.db", log="searches", epsilon=1.0)
        reserve(tmp_path / f"{i}.db", ["ann"])
        names.append(read_ledger(tmp_path / f"{i}.db").rows[0].people)
    assert names[0] != names[1]


def test_the_file_itself_refuses_accidents(path):
    reserve(path, ["ann"])
    connection = sqlite3.connect(path)
    for sql in (
        "UPDATE reservation SET method = 'n'", "DELETE FROM reservation", "UPDATE ledger SET epsilon = 9, rows = 2",
        "UPDATE ledger SET rows = 0",
    ):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(sql)
    connection.close()


def untouched(path, action, error, match):
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    with pytest.raises(error, match=match) as caught:
        action()
    assert str(caught.value).endswith(".")
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def test_the_ledger_of_another_log_is_refused_untouched(path):
    untouched(path, lambda: Ledger(path, log="mail"), ParameterError, "ledger of the log 'searches'")
    assert Ledger(path, log=" searches ").head == read_ledger(path).head.hex()


def test_another_format_is_refused_untouched(tmp_path):
    path = tmp_path / "l.db"
    for content in ("user,spent\n", ""):
        path.write_text(content)
        untouched(path, lambda: Ledger(path, log="x"), InputError, "not a QueryCloak ledger")
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
    untouched(path, lambda: Ledger(path, log="x"), InputError, "not a QueryCloak ledger")
    untouched(path, lambda: read_ledger(path), InputError, "not a QueryCloak ledger")


def test_another_version_is_refused_untouched(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    untouched(path, lambda: Ledger(path, log="searches"), InputError, "format 1, expected 2")


def test_another_key_is_refused_untouched(path):
    key = path.with_name("l.db.key")
    kept = key.read_bytes()
    key.write_bytes(bytes(32))
    untouched(path, lambda: reserve(path, ["ann"]), InputError, "not the key of this ledger")
    key.write_bytes(b"short")
    untouched(path, lambda: reserve(path, ["ann"]), InputError, "expected a key of 32 bytes, found 5")
    key.write_bytes(kept)
    key.chmod(0o644)
    untouched(path, lambda: reserve(path, ["ann"]), InputError, "chmod 600")
    key.unlink()
    untouched(path, lambda: reserve(path, ["ann"]), InputError, "key cannot be read")


def test_a_damaged_ledger_is_refused(path):
    path.write_bytes(path.read_bytes()[:100] + bytes(4000))
    for action in (lambda: reserve(path, ["ann"]), lambda: read_ledger(path)):
        with pytest.raises(InputError, match="not a sound QueryCloak ledger"):
            action()


def test_a_ledger_is_made_once_and_never_by_a_wrong_path(path):
    """A release never makes a ledger: a path written wrongly would be a new budget for everybody."""
    untouched(path, lambda: make_ledger(path, log="x", epsilon=9.0), UserError, "never replaced")
    untouched(path, lambda: Ledger(path.with_name("bugdet.db"), log="x"), InputError, "no such ledger")
    untouched(path, lambda: read_ledger(path.with_name("bugdet.db")), InputError, "no such ledger")
    path.unlink()
    untouched(path, lambda: make_ledger(path, log="x", epsilon=9.0), OutputError, r"l\.db\.key is there already")
    with pytest.raises(OutputError, match="cannot be written"):
        make_ledger(path.with_name("no") / "l.db", log="x", epsilon=1.0)


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": e} for e in (0.0, -1.0, float("nan"), float("inf"), 1e9)]
    + [{"delta": d} for d in (-1e-6, 1.0, float("nan"), 1e9)]
    + [{"log": "  "}],
)
def test_a_budget_that_bounds_nothing_makes_no_ledger(tmp_path, wrong):
    with pytest.raises(ParameterError):
        make_ledger(tmp_path / "l.db", **{"log": "x", "epsilon": 1.0, "delta": 0.0, **wrong})
    assert not list(tmp_path.iterdir())


def test_nobody_in_the_log(path):
    assert reserve(path, []) == []
    assert read_ledger(path).epsilons().tolist() == []


def test_threads_never_spend_twice(path):
    def one(_):
        return sum(reserve(path, ["ann", "bob"]))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(8))) == 4
    assert read_ledger(path).epsilons().tolist() == [1.0, 1.0]


NURSERY = """
import os, random, signal, sys, time
import numpy as np
from querycloak.releases.account import ADD_REMOVE, AccountLine
from querycloak.releases.ledger import Ledger

path, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
users = [f"u{i}" for i in range(6)]

def work(number):
    rounds = np.random.default_rng(number)
    ledger = Ledger(path, log="searches")
    while True:
        chosen = [u for u in users if rounds.random() < 0.7]
        price = int(rounds.integers(1, 4))
        account = [AccountLine(purpose="x", relation=ADD_REMOVE, epsilon=price / 64)]
        paid = ledger.reserve(chosen, account, method="m")
        text = "".join(f"{u}\\n" * price for u, p in zip(chosen, paid) if p)  # a release: a row for each 1/64
        handle = os.open(f"{folder}/release-{number}.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, text.encode())
        os.close(handle)

def written():
    return sum(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder) if name.startswith("release"))

moments, workers, started = random.Random(11), [], 0
end = time.monotonic() + seconds
while time.monotonic() < end or started < 70 or written() < 600:  # a busy machine takes longer
    while len(workers) < 8:
        child = os.fork()
        if not child:
            try:
                work(started)
            except BaseException as error:   # a worker that fails by itself fails the test
                open(f"{folder}/error-{started}.txt", "w").write(repr(error))
            os._exit(1)
        workers.append(child)
        started += 1
    time.sleep(moments.uniform(0, 0.06))
    victim = workers.pop(moments.randrange(8))
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
for child in workers:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print(started)
"""


@pytest.mark.slow
@pytest.mark.parametrize("budget", [60, 1_000_000])
def test_eight_processes_killed_at_random_never_overspend(tmp_path, budget):
    """Each process reserves, then publishes; each is killed (SIGKILL) at a random moment and replaced.

    The small budget (in 1/64 of epsilon) is used up while processes die; the large one keeps all of them writing.
    """
    path = tmp_path / "l.db"
    make_ledger(path, log="searches", epsilon=budget / 64)
    command = [sys.executable, "-c", NURSERY, str(path), str(tmp_path), "8"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=400, env=environment).stdout)
    published = Counter()
    for file in tmp_path.glob("release-*.txt"):
        published.update(file.read_text().split())
    state = read_ledger(path)  # rolls back what a dead process left half-written
    verify_state(state)
    assert [f.read_text() for f in tmp_path.glob("error-*.txt")] == []
    assert killed >= 50, "the test must kill, or it shows nothing"
    spent = {}
    for row in state.rows:  # counted again from the rows, in whole numbers
        for person in row.hashes:
            spent[person.tobytes()] = spent.get(person.tobytes(), 0) + round(64 * row.account[0].epsilon)
    assert max(spent.values()) <= budget
    assert len(spent) == 6
    assert sum(published.values()) <= sum(spent.values())
    ledger = Ledger(path, log="searches")
    for i in range(6):  # what is published was reserved before
        user = f"u{i}"
        person = bytes(ledger._people([user], state).tobytes())
        assert 0 < published[user] <= spent[person] <= budget
    total = sum(spent.values())
    print(f"{killed} processes killed, {len(state.rows)} rows, {sum(published.values())} of {total} published")
