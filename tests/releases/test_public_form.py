"""How a log is written in its file is learned from its records: a differentially private release shows none of it."""

from __future__ import annotations

import json

import pytest

import querycloak as qc

OPTIONS = {
    "frequent-queries": {"epsilon": 50.0, "delta": 0.1},
    "semantic-dp": {"domain": "sport", "rows_per_user": 2},
    "histogram-dp": {"domain": "sport", "per_user_queries": 2},
}
OF_ONE_USER = {
    "a letter outside ASCII": '{"user": "zed", "query": "caf\\u00e9"}\n',
    "a key of its own": '{"count": 3, "query": "tennis", "user": "zed"}\n',
    "a missing value": '{"user": "zed", "query": "tennis", "time": null}\n',
    "no spaces": '{"user":"zed","query":"tennis"}\n',
    "a number as id": '{"user": 7, "query": "tennis"}\n',
    "no line end": '{"user": "zed", "query": "tennis"}',
}


def form_of(path, method, lines):
    path.write_text("".join(lines))
    log = qc.read_log(path, columns={"user": "user", "query": "query"}, yes=True)
    release = qc.anonymize(log, method, seed=1, **OPTIONS[method])
    qc.write_release(release, path.with_name("release.jsonl"))
    return json.loads(path.with_name("release.jsonl.statement.json").read_text())["form"]


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("line", OF_ONE_USER.values(), ids=list(OF_ONE_USER))
def test_one_user_does_not_change_the_form_of_the_release(tmp_path, method, line) -> None:
    others = [json.dumps({"user": f"u{i}", "query": "tennis"}) + "\n" for i in range(9)]
    without = form_of(tmp_path / "log.jsonl", method, others)
    for lines in ([line, *others], [*others, line]) if line.endswith("\n") else ([*others, line],):
        assert form_of(tmp_path / "log.jsonl", method, lines) == without


def test_a_release_without_differential_privacy_keeps_the_form_of_the_log(tmp_path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f'{{"user":{i},"query":"caf\\u00e9"}}\n' for i in range(9)))
    form = qc.anonymize(qc.read_log(path, yes=True), "sweep", seed=1).log.form
    assert (form.json_ascii, form.columns[0].kind) == (True, "number")
