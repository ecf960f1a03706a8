"""Which columns a private table may have: those that its budget paid for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import querycloak as qc
from querycloak.errors import GateError
from querycloak.logs.query_log import QueryLog
from querycloak.releases.budget import Budget
from querycloak.releases.publish import Evidence, publish_counts


@pytest.fixture(scope="module")
def parts():
    rows = [(f"u{i}", "tea", "tea.example") for i in range(300)]
    log = QueryLog.of([r[0] for r in rows], [r[1] for r in rows], urls=[r[2] for r in rows])
    release = qc.anonymize(log, "frequent-queries", seed=1, epsilon=5.0, clicks=True)
    assert sorted(release.log.extra["kind"].to_list()) == ["click", "query"]
    budget = Budget(5.0, 1e-5, reserved_delta=5e-6)
    return log, release, budget


def test_urls_that_no_threshold_chose_are_refused(parts):
    log, release, budget = parts
    budget.take_rho("choosing clicks", fraction=0.5).use()
    with pytest.raises(GateError, match=r"as they were: url\."):
        publish_counts(release.log, release.statement, Evidence(log, budget=budget))
    budget.take_delta("threshold of clicks", delta=1e-6).use()
    assert len(publish_counts(release.log, release.statement, Evidence(log, budget=budget)).log) == 2


def test_kinds_that_no_method_makes_are_refused(parts):
    log, release, budget = parts
    table = replace(release.log, extra=pl.DataFrame({"count": np.ones(2, np.int64), "kind": ["query", "of ann"]}))
    with pytest.raises(GateError, match="kind"):
        publish_counts(table, release.statement, Evidence(log, budget=budget))
    other = replace(release.log, extra=pl.DataFrame({"count": np.ones(2, np.int64), "city": ["a", "b"]}))
    with pytest.raises(GateError, match="city"):
        publish_counts(other, release.statement, Evidence(log, budget=budget))
