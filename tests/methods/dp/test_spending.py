"""A release under a ledger: everybody in the log pays the whole account, and nothing of who cannot is in it."""

from __future__ import annotations

import numpy as np
import pytest
from samples import Notes

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.methods.dp import _korolova as korolova_module
from querycloak.methods.dp import histogram_dp as histogram_module
from querycloak.methods.dp.frequent_queries import FrequentQueries, frequent_queries
from querycloak.methods.dp.histogram_dp import HistogramDp, histogram_dp
from querycloak.progress import QUIET
from querycloak.randomness import Randomness
from querycloak.releases.account import ADD_REMOVE, AccountLine
from querycloak.releases.ledger import make_ledger, read_ledger

TREE = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["thing"], ["fruit"], ["meat"], ["apple"], ["pear"]])
PEOPLE = [f"p{i}" for i in range(6)]


@pytest.fixture
def ledger(tmp_path):
    """p0 and p1 have nothing left."""
    made = make_ledger(tmp_path / "l.db", log="food", epsilon=4.0, delta=0.5)
    made.reserve(PEOPLE[:2], [AccountLine(purpose="x", relation=ADD_REMOVE, epsilon=3.5)], method="m")
    return {"ledger": str(tmp_path / "l.db"), "ledger_log": "food"}


@pytest.fixture(autouse=True)
def _no_noise(monkeypatch):
    for module in (korolova_module, histogram_module):
        monkeypatch.setattr(module, "add_noise", lambda counts, **_: counts)


def test_counts_without_those_who_cannot_pay(ledger):
    log, told = QueryLog.of(PEOPLE, ["tea"] * 6), Notes()
    chosen = FrequentQueries(choose="korolova", epsilon=3.0, delta=0.4, **ledger)
    release = frequent_queries(log, chosen, Randomness(1), told)
    assert release.log.extra["count"].to_list() == [4]
    free = frequent_queries(log, FrequentQueries(choose="korolova", epsilon=3.0, delta=0.4), Randomness(1), QUIET)
    assert free.log.extra["count"].to_list() == [6]
    row = read_ledger(ledger["ledger"]).rows[-1]
    assert row.account == release.statement.account == free.statement.account
    assert [line.purpose for line in row.account] == ["choosing queries", "counts of the chosen"]
    assert len(row.hashes) == 4
    assert any("4 of 6 people take part" in note for note in told.notes)
    assert release.statement.settings["ledger"] == "l.db"


def test_who_cannot_pay_has_a_histogram_of_noise_alone(ledger):
    log = QueryLog.of(PEOPLE, list("uvwxyz"))
    concepts = ConceptLog(np.arange(6), log.user, log.query, np.array([2, 2, 3, 3, 4, -1], dtype=np.int32))
    chosen = HistogramDp(epsilon=3.0, domain="all", **ledger)
    seen = []

    def spy(users, user, *rest):
        seen.append((users.tolist(), user.tolist()))
        return iter(())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram_module, "noisy_histograms", spy)
        histogram_dp(log, chosen, Randomness(1), concepts=concepts, taxonomy=TREE)
    assert seen == [([0, 1, 2, 3, 4, 5], [2, 3, 4])], "p5 has no concept, and has noise and pays all the same"
    assert len(read_ledger(ledger["ledger"]).rows[-1].hashes) == 4


@pytest.mark.parametrize(("sensitivity", "relation"), [("replace", "replace"), ("paper", "empty")])
def test_the_relation_of_histograms_is_that_of_their_noise(sensitivity, relation):
    log = QueryLog.of(PEOPLE, list("uvwxyz"))
    concepts = ConceptLog(np.arange(6), log.user, log.query, np.array([2, 2, 3, 3, 4, 1], dtype=np.int32))
    chosen = HistogramDp(epsilon=3.0, domain="all", sensitivity=sensitivity)
    release = histogram_dp(log, chosen, Randomness(1), concepts=concepts, taxonomy=TREE)
    assert [line.relation for line in release.statement.account] == [relation]
