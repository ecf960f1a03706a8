"""What every method keeps, for the methods of streams, with two exemptions."""

from __future__ import annotations

import inspect

import pytest
from contract import test_methods as contract

import querycloak as qc
from querycloak.catalog import METHODS, STREAM_METHODS

EXEMPT = {
    "test_the_order_of_rows_tells_nothing",  # rows come in the order in which they left
    "test_carries_nothing_it_does_not_publish",  # the columns that belong to a query stay with it; texts: see below
}
CHECKS = {name: check for name, check in vars(contract).items() if name.startswith("test_") and name not in EXEMPT}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", sorted(STREAM_METHODS))
def test_contract(check, name, tmp_path, monkeypatch):
    monkeypatch.setattr(contract, "METHODS", METHODS | STREAM_METHODS)
    wanted = inspect.signature(CHECKS[check]).parameters
    given = {"name": name, "tmp_path": tmp_path, "monkeypatch": monkeypatch}
    CHECKS[check](**{word: given[word] for word in wanted})


@pytest.mark.parametrize("name", sorted(STREAM_METHODS))
def test_carries_no_text_that_it_does_not_publish(name):
    table = qc.anonymize(contract.sample_log(), name, seed=5).log
    for codes, texts in ((table.query, table.queries), (table.user, table.users), (table.url, table.urls)):
        assert set(codes.tolist()) - {-1} == set(range(len(texts)))
