"""Who has paid for earlier releases must not be told by a later one: the number of its users is published."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.logs.query_log import QueryLog
from querycloak.releases.ledger import make_ledger

JUNE = QueryLog.of(["ann", "x", "y", "z"], ["tennis"] * 4)
METHODS = {
    "semantic-dp": {"domain": "sport", "rows_per_user": 2},
    "histogram-dp": {"domain": "sport", "per_user_queries": 1},
}


@pytest.mark.parametrize("method", METHODS)
def test_the_users_of_june_do_not_tell_who_was_in_may(tmp_path, method) -> None:
    """May's release hides who is in May's log; June had 4 users where Ann was not in it, and 3 where she was."""
    users = []
    for name, may in (("without", ["x", "u1"]), ("with", ["ann", "x", "u1"])):
        path = str(tmp_path / f"{name}.db")
        make_ledger(path, log="searches", epsilon=1.5, delta=1e-5)
        paid = {"ledger": path, "ledger_log": "searches", "epsilon": 1.0, "seed": 1}
        qc.anonymize(QueryLog.of(may, ["tea"] * len(may)), "frequent-queries", delta=1e-6, **paid)
        users.append(qc.anonymize(JUNE, method, **paid, **METHODS[method]).statement.counts_out["users"])
    assert users[0] == users[1]
