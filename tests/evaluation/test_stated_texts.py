"""An edited statement, with right digests, is held against the texts by `check`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from samples import sample_log

from querycloak.evaluation._stated_texts import verify_texts
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog

TREE = Taxonomy.from_parents([-1], [["thing"]])
ROWS = [("ann", "tea"), ("bob", "green tea"), ("cat", "black tea")]
SAFE = {"rare": "phrase", "min_query_users": 3, "identifiers": "drop", "as_in_paper": False}


def broken(release, bench):
    return [finding.check for finding in verify_texts(release, bench.askers_of(release)) if finding.holds is False]


def edited(release, **changes):
    settings = {**release.statement.settings, **changes.pop("settings", {})}
    return replace(release, statement=replace(release.statement, settings=settings, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": True},
        {"text_users": 3},
        {"text_users": 3, "parts": True},
        {"text_users": 3, "parts": True, "settings": SAFE},
        {"text_users": 2, "settings": SAFE},
    ],
)
def test_a_statement_that_claims_more_than_the_texts_keep_is_noticed(changes):
    bench = Workbench(QueryLog.of([user for user, _ in ROWS], [text for _, text in ROWS]), TREE)
    release = bench.anonymize("sweep", as_in_paper=True)
    assert broken(release, bench) == []
    assert broken(edited(release, **changes), bench)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("sweep", {}),
        ("sweep", {"rare": "drop"}),
        ("sweep", {"rare": "label"}),
        ("sweep", {"hash_tokens": True}),
        ("plain-microaggregation", {}),
        ("semantic-microaggregation", {}),
        ("self-adjusting", {"k": 3}),
    ],
)
def test_releases_keep_what_they_state(method, given):
    bench = Workbench(sample_log())
    release = bench.anonymize(method, **given)
    assert release.statement.text_users > 1
    assert broken(release, bench) == []
