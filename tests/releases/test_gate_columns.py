"""A wrong method publishes no raw text in a further column, and none behind a reading that is another text."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from test_publish import statement, table, truth

from querycloak.errors import GateError
from querycloak.logs.query_log import QueryLog
from querycloak.releases.publish import Evidence, publish_log

LOG = QueryLog.of(["ann", "bob", "cem", "ann"], ["tea", "tea", "tea", "my secret"])
NOTHING = {"keep": "none", "time_grain": "day", "kinds": "none"}
KINDS = {**NOTHING, "kinds": "column"}


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        (NOTHING, {"raw": ["my secret", "tea", "tea"]}),
        (NOTHING, {"kind": ["query", "query", "query"]}),
        (KINDS, {"kind": ["my secret", "query", "query"]}),
        (KINDS, {"kind": ["query", "query", "query"], "raw": ["my secret", "tea", "tea"]}),
    ],
)
def test_a_further_column_does_not_pass(settings, columns):
    shown = replace(table(["tea"], ["tea"], ["tea"]), extra=pl.DataFrame(columns))
    with pytest.raises(GateError, match=r"further columns|kind holds"):
        publish_log(shown, statement(text_users=3, settings=settings), truth(3), Evidence(LOG))


def test_a_category_that_was_not_asked_for_does_not_pass():
    shown = table(["tea"], ["tea"], ["tea"])
    shown = replace(shown, category=shown.query, categories=pl.Series(["my secret"]))
    with pytest.raises(GateError, match="further columns"):
        publish_log(shown, statement(text_users=3, settings=NOTHING), truth(3), Evidence(LOG))


def test_the_column_kind_passes_where_it_was_asked_for():
    shown = replace(table(["tea"], ["tea"], ["tea"]), extra=pl.DataFrame({"kind": ["query"] * 3}))
    assert publish_log(shown, statement(text_users=3, settings=KINDS), truth(3), Evidence(LOG)).passed


def test_a_rare_query_does_not_pass_behind_the_reading_of_another_text():
    with pytest.raises(GateError, match="1 published texts were asked by fewer"):
        publish_log(
            table(["my secret"], ["my secret"], ["my secret"]),
            statement(text_users=3),
            truth(3),
            Evidence(LOG, readings=pl.Series(["tea"])),
        )
