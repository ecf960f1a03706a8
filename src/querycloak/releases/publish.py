"""The gate: the only way to a release that may be written.

A method hands over its finished table and the statement it would make. The gate recomputes what the statement promises
(`releases/checks.py`) and raises GateError where that does not hold: a method that is wrong cannot publish.

| promise | check |
|---|---|
| all | the statement promises no less than the settings ask for; no original id; one id per person; right counts |
| k-anonymity | the smallest class of equal rows, in all columns and in their order, has at least k users |
| texts of m people | each text was asked by m people of the log, or is public knowledge; where parts of queries are |
| | published, is in queries of m people, or a label in brackets that queries of m people mean |
| identifiers dropped | no text holds one, or the name of somebody too few people asked for |
| times of a grain, clicks of m people | each time begins a grain; each text and URL was of m people; no column more |
| differential privacy | the account of the budget is at most what is promised, and is printed in the statement; there |
| | no exact count of the log, in the table no column of it, in the method no knowledge learned from it; the form of |
| | its file is that of the schema, since how values are written was learned from records |
| a stream's rule | no record leaves under its asker, or with fewer than k candidates |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from querycloak.releases import checks, text_checks
from querycloak.releases.column_checks import check_columns
from querycloak.releases.period_checks import check_periods
from querycloak.releases.release import CountRelease, ItemRelease, LogRelease, Release, Seal, StreamRelease

if TYPE_CHECKING:
    from collections.abc import Container

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.releases.budget import Budget
    from querycloak.releases.release import Truth
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Evidence", "publish_counts", "publish_items", "publish_log", "publish_stream"]

R = TypeVar("R", bound=Release)


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """What the gate needs, next to table and statement, to recompute what is promised."""

    original: QueryLog
    public: Container[str] = frozenset()
    """texts of public knowledge, such as the labels of a taxonomy"""
    readings: pl.Series | None = None
    """text of the log behind each word of the published vocabulary; None = texts are published as they are"""
    budget: Budget | None = None
    """what was spent, for differential privacy"""
    learned: bool = False
    """knowledge that was learned from this log was used"""
    candidates: npt.NDArray[np.integer[Any]] | None = None
    """int[rows] of a stream: users among whom the published one was drawn"""
    concepts: ConceptLog | None = None
    """what the queries of the log mean, for labels; None = no label in brackets may be published"""
    taxonomy: Taxonomy | None = None
    """the taxonomy of `concepts`; whoever is in it is famous. None = WordNet"""


def publish_log(table: QueryLog, statement: PrivacyStatement, truth: Truth | None, evidence: Evidence) -> LogRelease:
    """Let a table of queries through, one row per query of a published user."""
    return _publish(LogRelease, table, statement, truth, evidence)


def publish_items(table: QueryLog, statement: PrivacyStatement, truth: Truth | None, evidence: Evidence) -> ItemRelease:
    """Let a table of concepts through, one row per concept of a published user."""
    return _publish(ItemRelease, table, statement, truth, evidence)


def publish_counts(table: QueryLog, statement: PrivacyStatement, evidence: Evidence) -> CountRelease:
    """Let a table of queries with counts through, which has no users."""
    return _publish(CountRelease, table, statement, None, evidence)


def publish_stream(table: QueryLog, statement: PrivacyStatement, truth: Truth, evidence: Evidence) -> StreamRelease:
    """Let the records of a stream through that left in one run."""
    if truth.asker is None or evidence.candidates is None:
        raise ValueError("a stream needs its askers and its candidates to be checked")
    checks.check_promises(statement)
    k = int(statement.parameters["candidates"])
    checks.check_departures(k, truth.asker, truth.user[table.user], evidence.candidates)
    check_periods(table, statement)
    return _publish(StreamRelease, table, statement, truth, evidence)


def _publish(kind: type[R], table: QueryLog, statement: PrivacyStatement, truth: Truth | None, evidence: Evidence) -> R:
    """Check everything that the statement promises, then make the release."""
    checks.check_promises(statement)
    if kind.has_users:
        checks.check_ids(table, statement, evidence.original, truth)
    checks.check_counts(table, statement)
    checks.check_classes(table, statement)
    private = "epsilon" in statement.parameters
    account = evidence.budget.lines if private and evidence.budget is not None else ()
    statement = replace(statement, account=account)  # what was spent, whatever the method says
    if private:
        table = replace(table, form=None if table.form is None else table.form.of_schema())
        checks.check_budget(statement, evidence.budget)
        found = evidence.original.form is not None and bool(evidence.original.form.found)
        checks.check_public(table, statement, kind, learned=evidence.learned, found=found)
    text_checks.check_texts(table, statement, evidence)
    text_checks.check_identifiers(table, statement, evidence)
    check_columns(table, statement, evidence.original, evidence.readings)
    return kind(table, statement, truth, Seal.of(kind.kind, table, statement, evidence.original))
