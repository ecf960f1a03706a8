"""Which columns a log has, and what they mean, is not for one user to decide: two files that differ in one user."""

from __future__ import annotations

import json

import numpy as np
import pytest

import querycloak as qc
from querycloak.errors import GateError, InputError, UserError

CLICKS = [
    {"user": f"u{i}", "query": "flu", "ts": 1141207810 + i, "url": f"http://{site}.com"}
    for i in range(300)
    for site in "ab"
]
OF_ONE_USER = {
    "one record with a key that is surer for the time": [{"user": "zed", "query": "own", "time": 5}],
    "200 records without the keys of the others": [{"user": "zed", "query": f"own {i}"} for i in range(200)],
}
METHODS = {
    "frequent-queries": {},
    "semantic-dp": {"domain": "sport"},
    "histogram-dp": {"domain": "sport"},
    "synthetic-dp": {},
}


COLUMNS = {"user": "user", "query": "query", "time": "ts", "url": "url"}


def read(path, rows, **columns):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return qc.read_log(path, columns=columns, yes=True)


@pytest.mark.parametrize("mine", OF_ONE_USER.values(), ids=list(OF_ONE_USER))
def test_the_keys_of_one_user_do_not_change_the_counts_of_others(tmp_path, mine) -> None:
    """At epsilon 1 the count of "flu" was 299 without the user and 599 with: the clicks of others fell apart."""
    settings = {"choose": "korolova", "per_user": 2, "epsilon": 1.0, "delta": 1e-6}
    counts = []
    for rows in (CLICKS, [*mine, *CLICKS]):
        table = qc.anonymize(read(tmp_path / "log.jsonl", rows, **COLUMNS), "frequent-queries", seed=1, **settings).log
        counts.append(int(table.extra["count"][table.queries.to_list().index("flu")]))
    assert abs(counts[0] - counts[1]) <= 20


@pytest.mark.slow
@pytest.mark.parametrize("key", [{"url": "http://a.com"}, {"time": 1141207810}], ids=lambda key: next(iter(key)))
@pytest.mark.parametrize("columns", [("user", "query"), ("user", "query", "time", "url")], ids=len)
def test_a_key_of_one_user_does_not_change_the_account_or_the_columns(tmp_path, key, columns) -> None:
    named = {role: role for role in columns}
    others = [{"user": f"u{i}", "query": "flu"} for i in range(30)]
    seen = []
    for rows in (others, [*others, {"user": "zed", "query": "flu", **key}]):
        release = qc.anonymize(read(tmp_path / "log.jsonl", rows, **named), "synthetic-dp", seed=1)
        seen.append(([line.purpose for line in release.statement.account], release.log.form.columns))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("method", METHODS)
def test_a_key_of_one_user_does_not_change_the_format(tmp_path, method) -> None:
    others = [{"client_id": f"u{i}", "user_query": "tennis"} for i in range(9)]
    formats = []
    for rows in (others, [*others, {"client_id": "zed", "user_query": "tennis", "application": "a"}]):
        log = read(tmp_path / "log.jsonl", rows, user="client_id", query="user_query")
        release = qc.anonymize(log, method, seed=1, **METHODS[method])
        qc.write_release(release, tmp_path / "release")
        formats.append(json.loads((tmp_path / "release.statement.json").read_text())["form"]["format"])
    assert formats[0] == formats[1]


@pytest.mark.parametrize("named", [{}, {"user": "user"}, {"query": "query", "time": "ts"}], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_columns_found_among_records_are_refused(tmp_path, method, named) -> None:
    """Whatever the records hold: a refusal that depends on them would tell about them."""
    log = read(tmp_path / "log.jsonl", CLICKS, **named)
    with pytest.raises(UserError, match="--columns user=user,query=query") as error:
        qc.anonymize(log, method, seed=1, **METHODS[method])
    assert not isinstance(error.value, GateError)


def test_the_gate_refuses_columns_found_among_records(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("querycloak.methods.dp.frequent_queries.check_columns_public", lambda log: None)
    with pytest.raises(GateError, match="found among the records"):
        qc.anonymize(read(tmp_path / "log.jsonl", CLICKS), "frequent-queries", seed=1)


def test_other_methods_take_json_as_before(tmp_path) -> None:
    log = read(tmp_path / "log.jsonl", CLICKS)
    assert log.time is not None
    assert len(qc.anonymize(log, "sweep", seed=1).log)


def test_a_key_that_no_record_has(tmp_path) -> None:
    """Keys are taken as they are named, so a misspelt one would leave nothing."""
    with pytest.raises(InputError, match="no record has a value for usr and query; check the names in columns"):
        read(tmp_path / "log.jsonl", CLICKS, user="usr", query="query")


@pytest.mark.parametrize("written", ["20060301", "060301100000", "+1141207810", "-1141207810", "20061399"])
def test_the_times_of_one_user_do_not_change_the_times_of_others(tmp_path, written) -> None:
    """Digits that fit two patterns were read by the pattern of most of the first thousand rows."""
    others = [f"u{i}\tflu\t{written}\n" for i in range(60)]
    mine = [f"zed\town {i}\t{1141207810 + i}\n" for i in range(600)]
    seen = []
    for lines in (others, [*mine, *others]):
        (tmp_path / "log.tsv").write_text("user\tquery\ttime\n" + "".join(lines))
        log = qc.read_log(tmp_path / "log.tsv", yes=True)
        seen.append(np.unique(log.time[np.array([u != "zed" for u in log.users.to_list()])[log.user]]).tolist())
    assert seen[0] == seen[1]
