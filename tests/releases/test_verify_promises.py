"""`verify` counts again what a statement promises of texts, times and clicks: an edited one is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.releases.verify import verify_release

TREE = Taxonomy.from_parents([-1], [["thing"]])
ROWS = [(f"u{i}", text) for i in range(6) for text in ("green tea", f"x{i} tea cup", f"call 555-010-123{i}")]
LOG = QueryLog.of(
    [user for user, _ in ROWS],
    [text for _, text in ROWS],
    times=[1_141_171_200 + 3_601 * i for i in range(len(ROWS))],
    urls=[f"http://site{i % 3 and i}.example/" for i in range(len(ROWS))],
)
BENCH = Workbench(LOG, TREE)
KEPT = {"keep": "time,clicks"}


def states(release, **changes):
    edited = replace(release, statement=replace(release.statement, **changes))
    return {f.check: f.holds for f in verify_release(edited, LOG) if f.holds is False}


def test_no_hash_looks_like_an_identifier():
    """Digits would: of a few hundred hashes, some are phone numbers."""
    rows = [(f"u{i}", f"word{j}") for i in range(5) for j in range(500)]
    log = QueryLog.of([user for user, _ in rows], [text for _, text in rows])
    release = Workbench(log, TREE).anonymize("sweep", hash_tokens=True, seed=1)
    assert release.log.queries.len() == 500
    assert not [f for f in verify_release(release, log) if f.holds is False]


@pytest.mark.parametrize(
    "given", [{}, KEPT, {"rare": "drop"}, {"rare": "label"}, {"hash_tokens": True}, {"min_query_users": 6}]
)
def test_what_was_published_holds(given):
    release = BENCH.anonymize("sweep", **given)
    assert release.log.queries.len()
    assert states(release) == {}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"text_users": 5, "parts": True}, "every published text is of at least 5 people"),
        ({"text_users": 2}, "every published text is of at least 2 people"),
        ({"identifiers_dropped": True}, "no published text holds an identifier"),
        ({"time_grain": "week"}, "times are rounded to the week"),
        ({"click_users": 5}, "every published click is of at least 5 people"),
    ],
)
def test_a_statement_that_promises_more_than_the_table_keeps(changes, broken):
    release = BENCH.anonymize("sweep", **KEPT, as_in_paper=True)
    assert states(release) == {}
    assert states(release, **changes) == {broken: False}


def test_without_the_log_people_are_not_counted():
    release = BENCH.anonymize("sweep", **KEPT)
    open_points = [f.check for f in verify_release(release) if f.holds is None]
    assert "every published text is of at least 5 people" in open_points
    assert "every published click is of at least 5 people" in open_points


@pytest.mark.parametrize("method", ["frequent-queries", "semantic-dp", "histogram-dp"])
def test_the_account_is_added_up_again(method):
    release = BENCH.anonymize(method, epsilon=2.0, seed=1, **({"domain": "all"} if method == "histogram-dp" else {}))
    statement = release.statement
    assert states(release) == {}
    checks = [f.check for f in verify_release(release, LOG) if f.check.startswith("the account")]
    assert len(checks) == 1
    less = {**statement.parameters, "epsilon": 1.9}
    assert [c[:11] for c in states(release, parameters=less)] == ["the account"]
    line = statement.account[0]
    more = replace(line, epsilon=2 * line.epsilon, rho=2 * line.rho)
    assert [c[:11] for c in states(release, account=(more, *statement.account[1:]))] == ["the account"]
