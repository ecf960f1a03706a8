"""Ids that are taken for machines, in a stream: their first records count, and the gate counts the same way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querycloak.errors import GateError
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.releases.publish import Evidence, publish_stream

TREE = Taxonomy.from_parents([-1], [["thing"]])


def rows_with(machine_first):
    """A machine and one person ask for tea; the machine before or after the records that count of it."""
    tea, many = [("machine", "tea")], [("machine", f"z{i}") for i in range(10)]
    rows = [*tea, *many] if machine_first else [*many, *tea]
    others = [(who, "x y") for _ in range(8) for who in ("ann", "bob", "cat")]
    return [*rows, ("ann", "tea"), ("ann", "tea"), *others, ("ann", "tea"), ("ann", "tea"), *others]


@pytest.mark.parametrize("method", ["flat", "fixed-depth", "self-adjusting"])
@pytest.mark.parametrize("machine_first", [True, False])
def test_the_gate_lets_through_what_the_first_records_of_a_machine_allow(method, machine_first):
    rows = rows_with(machine_first)
    log = QueryLog.of([user for user, _ in rows], [text for _, text in rows])
    release = Workbench(log, TREE).anonymize(method, k=2, min_query_users=2, max_rows_per_user=9, seed=1)
    assert ("tea" in release.log.queries.to_list()) == machine_first
    assert any("the first 9 records count" in text for text in release.statement.covers)


def test_later_records_of_a_machine_count_as_nobody_in_the_gate():
    rows = rows_with(machine_first=False)
    log = QueryLog.of([user for user, _ in rows], [text for _, text in rows])
    bench = Workbench(log, TREE)
    loose = bench.anonymize("flat", k=2, min_query_users=2, max_rows_per_user=100, seed=1)
    assert "tea" in loose.log.queries.to_list()
    strict = replace(loose.statement, settings={**loose.statement.settings, "max_rows_per_user": 9})
    candidates = np.full(len(loose.log), 2)
    with pytest.raises(GateError, match="fewer than 2 people"):
        publish_stream(loose.log, strict, loose.truth, Evidence(log, candidates=candidates))
    assert publish_stream(loose.log, loose.statement, loose.truth, Evidence(log, candidates=candidates))
