"""Ids of differentially private releases: their form is no news about any one user of the log."""

from __future__ import annotations

import pytest

import querycloak as qc
from querycloak.logs.query_log import QueryLog

OPTIONS = {
    "semantic-dp": {"domain": "sport", "rows_per_user": 2},
    "histogram-dp": {"domain": "sport", "per_user_queries": 2},
}


def forms(users, method):
    release = qc.anonymize(QueryLog.of(users, ["tennis"] * len(users)), method, seed=1, **OPTIONS[method])
    return {(len(name), name.isdigit()) for name in release.log.users.to_list()}


@pytest.mark.parametrize("method", OPTIONS)
def test_one_user_does_not_change_the_ids_of_all_others(method) -> None:
    numbers = forms([str(i) for i in range(9)], method)
    names = forms([*(str(i) for i in range(8)), "zed"], method)
    assert numbers == names == {(16, False)}
