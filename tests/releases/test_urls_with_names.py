"""A page of somebody who is not famous is no click that may be published, however many people share it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from test_publish import statement, table, truth

from querycloak.errors import GateError
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.releases.publish import Evidence, publish_log

TREE = Taxonomy.from_parents([-1], [["thing"]])
NAMED = [
    "http://a.example/karen.hartwell",
    "http://a.example/in/karen-hartwell-123",
    "http://a.example/karen_hartwell",
    "a.example/%6Baren%20hartwell",
    "http://a.example/profile?name=Karen+Hartwell",
]
GOOD = "http://a.example/green-tea"


def log_of(url):
    users = [f"u{i}" for i in range(6)]
    return QueryLog.of(users * 2, ["tea"] * 12, urls=[url] * 6 + [GOOD] * 6)


@pytest.mark.parametrize("url", NAMED)
def test_a_url_with_a_name_is_left_out(url):
    release = Workbench(log_of(url), TREE).anonymize("sweep", keep="clicks")
    assert release.log.urls.to_list() == [GOOD]
    kept = Workbench(log_of(url), TREE).anonymize("sweep", keep="clicks", identifiers="keep")
    assert set(kept.log.urls.to_list()) == {url, GOOD}


@pytest.mark.parametrize("url", NAMED)
def test_the_gate_refuses_a_url_with_a_name(url):
    shown = replace(table(*[["tea"]] * 6), url=np.zeros(6, dtype=np.int32), urls=pl.Series([url]))
    promised = {"text_users": 5, "click_users": 5, "identifiers_dropped": True}
    with pytest.raises(GateError, match="a session id or a name"):
        publish_log(shown, statement(**promised), truth(6), Evidence(log_of(url)))
