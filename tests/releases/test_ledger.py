"""The ledger never lets a user spend more than the budget, whatever dies when."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from querycloak.errors import InputError, OutputError, ParameterError
from querycloak.releases.ledger import Ledger, read_ledger


def want(n):
    return lambda left: np.minimum(left, n)


def test_spends_and_then_refuses(tmp_path):
    ledger = Ledger(tmp_path / "l.db", epsilon=5.0, draws=10)
    assert ledger.reserve(["ann", "bob"], want(7)).tolist() == [7, 7]
    again = Ledger(tmp_path / "l.db", epsilon=5.0, draws=10)
    assert again.reserve(["ann", "cem"], want(7)).tolist() == [3, 7]
    assert again.reserve(["ann"], want(7)).tolist() == [0]
    summary = read_ledger(tmp_path / "l.db")
    assert (summary.epsilon, summary.draws, summary.spent) == (5.0, 10, (7, 7, 10))
    assert [r[1:] for r in summary.releases] == [(2, 14), (2, 10), (0, 0)]


def test_files_are_private_and_hold_no_user_id(tmp_path):
    Ledger(tmp_path / "l.db", epsilon=1.0, draws=4).reserve(["user-4417749"], want(1))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["l.db", "l.db.key"]
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert b"4417749" not in file.read_bytes()


def test_taking_more_than_is_left_reserves_nothing(tmp_path):
    ledger = Ledger(tmp_path / "l.db", epsilon=1.0, draws=4)
    with pytest.raises(ValueError, match="more was taken"):
        ledger.reserve(["ann", "bob"], lambda left: left + np.array([0, 1]))
    assert read_ledger(tmp_path / "l.db").spent == ()


def test_a_failure_between_two_writes_keeps_neither(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "l.db", epsilon=1.0, draws=4)

    class Clock:
        def now(self, zone):
            raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr("querycloak.releases.ledger.datetime", Clock())
        with pytest.raises(RuntimeError, match="power cut"):
            ledger.reserve(["ann"], want(3))
    assert read_ledger(tmp_path / "l.db").spent == ()
    assert ledger.reserve(["ann"], want(4)).tolist() == [4]


def test_two_ledgers_know_a_user_by_different_names(tmp_path):
    """Without the key nobody can look a user up, or find the same user in two ledgers."""
    names = []
    for i in range(2):
        Ledger(tmp_path / f"{i}.db", epsilon=1.0, draws=4).reserve(["ann"], want(1))
        with closing(sqlite3.connect(tmp_path / f"{i}.db")) as connection:
            names.append(connection.execute("SELECT user FROM spent").fetchone()[0])
    assert names[0] != names[1]


def test_the_file_itself_refuses_overspending_and_giving_back(tmp_path):
    Ledger(tmp_path / "l.db", epsilon=1.0, draws=4).reserve(["ann"], want(3))
    connection = sqlite3.connect(tmp_path / "l.db")
    for sql in ("UPDATE spent SET draws = 5", "UPDATE spent SET draws = 2", "INSERT INTO spent VALUES (x'00', 5)"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(sql)
    connection.close()


def untouched(path, action, error, match):
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    with pytest.raises(error, match=match) as caught:
        action()
    assert str(caught.value).endswith(".")
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def test_another_format_is_refused_untouched(tmp_path):
    path = tmp_path / "l.db"
    path.write_text("user,spent\n")
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "not a QueryCloak ledger")
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "not a QueryCloak ledger")
    untouched(path, lambda: read_ledger(path), InputError, "not a QueryCloak ledger")


def test_a_later_version_is_refused_untouched(tmp_path):
    path = tmp_path / "l.db"
    Ledger(path, epsilon=1.0, draws=1)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "format 2, expected 1")


def test_another_key_is_refused_untouched(tmp_path):
    path, key = tmp_path / "l.db", tmp_path / "l.db.key"
    Ledger(path, epsilon=1.0, draws=1)
    kept = key.read_bytes()
    key.write_bytes(bytes(32))
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "not the key of this ledger")
    key.write_bytes(b"short")
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "expected a key of 32 bytes, found 5")
    key.write_bytes(kept)
    key.chmod(0o644)
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "chmod 600")
    key.unlink()
    untouched(path, lambda: Ledger(path, epsilon=1.0, draws=1), InputError, "key cannot be read")


def test_another_budget_is_refused_untouched(tmp_path):
    path = tmp_path / "l.db"
    Ledger(path, epsilon=1.0, draws=10)
    for epsilon, draws in ((2.0, 10), (1.0, 20)):
        untouched(path, lambda e=epsilon, d=draws: Ledger(path, epsilon=e, draws=d), ParameterError, "keeps a budget")


def test_a_damaged_ledger_is_refused(tmp_path):
    path = tmp_path / "l.db"
    Ledger(path, epsilon=1.0, draws=10)
    path.write_bytes(path.read_bytes()[:100] + bytes(4000))
    for action in (lambda: Ledger(path, epsilon=1.0, draws=10), lambda: read_ledger(path)):
        with pytest.raises(InputError, match="not a sound QueryCloak ledger"):
            action()


def test_missing_places_are_said(tmp_path):
    with pytest.raises(InputError, match="no such ledger"):
        read_ledger(tmp_path / "none.db")
    with pytest.raises(OutputError, match="cannot be written"):
        Ledger(tmp_path / "no" / "l.db", epsilon=1.0, draws=1)


def test_threads_that_begin_a_ledger_at_once_share_one_key(tmp_path):
    def one(_):
        return Ledger(tmp_path / "l.db", epsilon=1.0, draws=100).reserve(["ann", "bob"], want(20)).sum()

    with ThreadPoolExecutor(8) as pool:
        total = sum(pool.map(one, range(8)))
    assert total == 200
    assert read_ledger(tmp_path / "l.db").spent == (100, 100)


NURSERY = """
import os, random, signal, sys, time
import numpy as np
from querycloak.releases.ledger import Ledger

path, folder, budget, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
users = [f"u{i}" for i in range(6)]

def work(number):
    rounds = np.random.default_rng(number)
    ledger = Ledger(path, epsilon=1.0, draws=budget)
    while True:
        chosen = [u for u in users if rounds.random() < 0.7]
        taken = ledger.reserve(chosen, lambda left: np.minimum(left, rounds.integers(0, 4, len(left))))
        text = "".join(f"{u}\\n" * int(t) for u, t in zip(chosen, taken))   # a release: one row for each draw
        handle = os.open(f"{folder}/release-{number}.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, text.encode())
        os.close(handle)

moments, workers, started = random.Random(11), [], 0
end = time.monotonic() + seconds
while time.monotonic() < end:
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

    The small budget is used up while processes die; the large one keeps all of them writing to the end.
    """
    path = tmp_path / "l.db"
    command = [sys.executable, "-c", NURSERY, str(path), str(tmp_path), str(budget), "8"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120, env=environment).stdout)
    published = Counter()
    for file in tmp_path.glob("release-*.txt"):
        published.update(file.read_text().split())
    summary = read_ledger(path)  # rolls back what a dead process left half-written
    assert [f.read_text() for f in tmp_path.glob("error-*.txt")] == []
    assert killed >= 50, "the test must kill, or it shows nothing"
    assert max(summary.spent) <= budget
    assert sum(summary.spent) == sum(r[2] for r in summary.releases)
    users = [f"u{i}" for i in range(6)]
    left = {}
    ledger = Ledger(path, epsilon=1.0, draws=budget)
    ledger.reserve(users, lambda rest: (left.update(zip(users, rest.tolist(), strict=True)), rest * 0)[1])
    for user in users:  # what is published was reserved before, and stays within the budget
        assert 0 < published[user] <= budget - left[user] <= budget
    print(
        f"{killed} processes killed, {len(summary.releases)} reservations, {sum(published.values())} rows published, "
        f"{sum(summary.spent)} draws spent"
    )
