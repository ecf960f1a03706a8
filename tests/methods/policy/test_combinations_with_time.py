"""A time that too few people share with a query is emptied like other columns."""

from __future__ import annotations

import pytest
from sample_policies import SPRING, applied, log_of

from querycloak.logs.query_log import MISSING_TIME

ROWS = [("ann", "tea", SPRING, "http://a.example/"), ("bob", "tea", SPRING, "http://a.example/")]
ALONE = ("cat", "tea", SPRING + 7, "http://a.example/")


@pytest.mark.parametrize("columns", ['["time"]', '["url", "time"]'])
def test_a_time_of_one_person_is_not_published(columns):
    rules = f'[combination_users]\npeople = 2\ncolumns = {columns}\n[columns]\nkeep = ["time", "url"]\n'
    table = applied(log_of([*ROWS, ALONE]), rules).table
    assert table.time.tolist() == [SPRING, SPRING, MISSING_TIME]
