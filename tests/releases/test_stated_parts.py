"""Where nothing is promised of texts, those of one person are own texts, also where others hold them in a query."""

from __future__ import annotations

import pytest

from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog

TREE = Taxonomy.from_parents([-1], [["thing"]])
ROWS = [("ann", "tea"), ("bob", "green tea"), ("cat", "black tea")]


def bench_of(rows):
    return Workbench(QueryLog.of([user for user, _ in rows], [text for _, text in rows]), TREE)


@pytest.mark.parametrize("given", [{"min_query_users": 1}, {"rare": "keep"}, {"as_in_paper": True}])
def test_whole_queries_of_one_person_are_own_texts_where_nothing_is_promised(given):
    bench = bench_of(ROWS)
    release = bench.anonymize("sweep", **given)
    assert bench.exposure_of(release).own_texts == 3


def test_labels_and_phrases_of_a_promise_are_still_parts():
    assert bench_of(ROWS).anonymize("sweep", min_query_users=2).statement.parts
