"""Whoever changes a ledger behind its back is noticed, and `verify` says where."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from querycloak.errors import CheckFailedError
from querycloak.releases.account import ADD_REMOVE, AccountLine
from querycloak.releases.ledger import Ledger, make_ledger, read_ledger
from querycloak.releases.ledger_chain import head_of_row, verify_state


def cost(epsilon):
    return [AccountLine(purpose="x", relation=ADD_REMOVE, epsilon=epsilon)]


@pytest.fixture
def path(tmp_path):
    """Three rows: ann and bob; ann; bob."""
    ledger = make_ledger(tmp_path / "l.db", log="searches", epsilon=2.0, delta=1e-6)
    for users in (["ann", "bob"], ["ann"], ["bob"]):
        ledger.reserve(users, cost(0.5), method="m")
    return tmp_path / "l.db"


def tampered(path, *changes):
    """Change the file as somebody does who knows what SQLite is."""
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for change in changes:
            connection.execute(*change) if isinstance(change, tuple) else connection.execute(change)
        connection.commit()


def noticed(path, match):
    for action in (lambda: read_ledger(path), lambda: Ledger(path, log="searches")):
        with pytest.raises(CheckFailedError, match=match) as caught:
            action()
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(".")


def test_a_sound_ledger(path):
    state = read_ledger(path)
    assert verify_state(state) == 0
    assert len({state.start, *(row.head for row in state.rows)}) == 4
    assert [verify_state(state, h.hex()) for h in (state.start, *(row.head for row in state.rows))] == [3, 2, 1, 0]


@pytest.mark.parametrize("number", [1, 2])
def test_a_deleted_row(path, number):
    tampered(path, f"DELETE FROM reservation WHERE number = {number}")
    noticed(path, f"row {number} is missing")


def test_the_last_rows_deleted(path):
    tampered(path, "DELETE FROM reservation WHERE number = 3")
    noticed(path, "its last rows are missing: it had 3, 2 are there")


def test_a_deleted_row_with_the_others_renumbered(path):
    tampered(
        path, "DELETE FROM reservation WHERE number = 1", "UPDATE reservation SET number = number - 1",
        "UPDATE ledger SET rows = 2",
    )  # fmt: skip
    noticed(path, "row 1 was changed")


def account(epsilon):
    return json.dumps([{"purpose": "x", "relation": ADD_REMOVE, "epsilon": epsilon, "delta": 0.0, "rho": 0.0}])


@pytest.mark.parametrize(
    "change",
    [
        ("UPDATE reservation SET account = ? WHERE number = 2", (account(0.1),)),
        ("UPDATE reservation SET account = ? WHERE number = 2", ("[]",)),
        ("UPDATE reservation SET account = ? WHERE number = 2", ("no json",)),
        ("UPDATE reservation SET account = ? WHERE number = 2", ('[{"epsilon": 1}]',)),
        ("UPDATE reservation SET people = x'' WHERE number = 2",),
        ("UPDATE reservation SET people = x'00' WHERE number = 2",),
        ("UPDATE reservation SET method = 'n' WHERE number = 2",),
        ("UPDATE reservation SET at = 'never' WHERE number = 2",),
        ("UPDATE reservation SET head = zeroblob(32) WHERE number = 2",),
    ],
)
def test_a_changed_number(path, change):
    tampered(path, change)
    noticed(path, "row 2 was changed")


@pytest.mark.parametrize(
    "change", ["epsilon = 9", "epsilon = 9e999", "delta = 0.5", "log = 'mail'", "fold_case = 0", "start = x'00'"]
)
def test_a_changed_budget(path, change):
    tampered(path, f"UPDATE ledger SET {change}")
    noticed(path, "its budget, the name of its log or its rule for ids was changed")


def test_a_row_that_does_not_end_it(path):
    tampered(path, "UPDATE ledger SET head = zeroblob(32)")
    noticed(path, "last row is not the one")
    tampered(path, ("UPDATE ledger SET head = ?, rows = 2", (sqlite3.Binary(b"x" * 32),)))
    noticed(path, "last row is not the one")


def test_an_older_copy_is_noticed_by_a_head_kept_elsewhere(path, tmp_path):
    shutil.copy(path, tmp_path / "old.db")
    shutil.copy(f"{path}.key", tmp_path / "old.db.key")
    head = Ledger(path, log="searches")
    head.reserve(["cem"], cost(0.5), method="m")
    old = read_ledger(tmp_path / "old.db")
    assert verify_state(old) == 0, "by itself it is in order"
    with pytest.raises(CheckFailedError, match="older copy, or another ledger"):
        verify_state(old, head.head)
    assert verify_state(read_ledger(path), old.head.hex()) == 1


def test_a_chain_written_again_is_noticed_by_a_head_kept_elsewhere(path):
    """Somebody who knows the format takes row 2 out and computes all heads again."""
    state = read_ledger(path)
    before, rows = state.start, []
    for number, row in enumerate((state.rows[0], state.rows[2]), start=1):
        new = type(row)(number, row.at, row.method, row.account, row.people, b"")
        before = head_of_row(new, before)
        rows.append((number, before))
    tampered(
        path, "DELETE FROM reservation WHERE number = 2", "UPDATE reservation SET number = 2 WHERE number = 3",
        *[("UPDATE reservation SET head = ? WHERE number = ?", (head, n)) for n, head in rows],
        ("UPDATE ledger SET rows = 2, head = ?", (before,)),
    )  # fmt: skip
    assert verify_state(read_ledger(path)) == 0
    with pytest.raises(CheckFailedError, match="older copy, or another ledger"):
        verify_state(read_ledger(path), state.head.hex())


def test_overspending_by_another_program_is_noticed(path):
    """Rows with a right chain, in which one of two people spends more than the budget."""
    state = read_ledger(path)
    row = state.rows[1]
    new = type(row)(4, row.at, row.method, tuple(cost(1.5)), row.people, b"")
    head = head_of_row(new, state.head)
    values = row.at, row.method, account(1.5), row.people, head
    tampered(
        path, ("INSERT INTO reservation VALUES (4, ?, ?, ?, ?, ?)", values),
        ("UPDATE ledger SET rows = 4, head = ?", (head,)),
    )  # fmt: skip
    with pytest.raises(CheckFailedError, match="somebody has spent more than the budget"):
        verify_state(read_ledger(path))


def test_the_hash_covers_every_number_and_the_row_before(path):
    row = read_ledger(path).rows[1]
    heads = {head_of_row(row, b"a"), head_of_row(row, b"b")}
    line = row.account[0]
    for changed in (
        {"epsilon": 0.5000000000000001},
        {"delta": 1e-300},
        {"rho": 1e-300},
        {"purpose": "y"},
        {"relation": "replace"},
    ):
        new = type(line)(**{**line.__dict__, **changed})
        heads.add(head_of_row(type(row)(row.number, row.at, row.method, (new,), row.people, b""), b"a"))
    assert len(heads) == 7


def test_what_each_has_spent_equals_a_plain_count(tmp_path):
    ledger = make_ledger(tmp_path / "l.db", log="searches", epsilon=100.0)
    source, plain = np.random.default_rng(3), {}
    for _ in range(12):
        users = [f"u{i}" for i in range(30) if source.random() < 0.5]
        epsilon = float(source.choice([0.25, 0.5]))
        ledger.reserve(users, cost(epsilon), method="m")
        for user in users:
            plain[user] = plain.get(user, 0.0) + epsilon
    assert read_ledger(tmp_path / "l.db").epsilons().tolist() == sorted(plain.values())


def test_a_ledger_whose_budget_was_taken_out(path):
    tampered(path, "DELETE FROM ledger")
    noticed(path, "its budget is missing")
