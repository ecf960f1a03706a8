"""The settings of a private statement are those that were asked for: an exact count is none of them."""

from __future__ import annotations

import pytest
from samples import sample_log

import querycloak as qc
from querycloak.errors import GateError
from querycloak.methods.dp._dp_settings import DpSettings


@pytest.mark.parametrize("method", ["frequent-queries", "semantic-dp", "histogram-dp"])
def test_a_count_among_the_settings_does_not_pass(monkeypatch, method) -> None:
    options = {} if method == "frequent-queries" else {"domain": "sport"}
    log = sample_log()
    assert qc.anonymize(log, method, seed=1, **options).passed
    settings_of, calls = DpSettings.public, []

    def with_count(self):
        calls.append(1)
        return settings_of(self) | ({"users": 24} if len(calls) == 1 else {})  # the method asks first

    monkeypatch.setattr(DpSettings, "public", with_count)
    with pytest.raises(GateError, match="not asked for"):
        qc.anonymize(log, method, seed=1, **options)
