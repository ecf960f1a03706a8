"""Seeded faults of the audit itself: bounds that promise too much, and parts of a release that nobody looks at."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["AUDIT"]

EVENTS = "evaluation/test_audit_events.py"
AUDITS = "evaluation/test_audit.py"
FIGURES = f"{AUDITS}::test_every_figure_of_a_table_and_of_its_statement_is_looked_at"
RATES = f"{EVENTS}::test_bounds_of_a_rate_are_those_of_the_binomial_distribution"

AUDIT: list[Fault] = [
    fault(
        "audit: delta is not subtracted",
        "evaluation/audit_events.py",
        "low = at_least(hits, runs, error / 2) - delta",
        "low = at_least(hits, runs, error / 2)",
        f"{EVENTS}::test_delta_is_subtracted",
    ),
    fault(
        "audit: the rate itself for its bound",
        "evaluation/audit_events.py",
        "low = at_least(hits, runs, error / 2) - delta",
        "low = hits / runs - delta",
        f"{EVENTS}::test_both_rates_are_bounded_exactly",
    ),
    fault(
        "audit: the other rate itself for its bound",
        "evaluation/audit_events.py",
        "high = at_most(other_hits, other_runs, error / 2)",
        "high = other_hits / other_runs + 1e-9",
        f"{EVENTS}::test_false_alarms_are_as_rare_as_promised",
    ),
    fault(
        "audit: bounds of a rate one success off",
        "statistics.py",
        "beta_quantile(error, float(successes), float(trials - successes + 1))",
        "beta_quantile(error, float(successes + 1), float(trials - successes + 1))",
        RATES,
    ),
    fault(
        "audit: the parameters of a statement are not looked at",
        "evaluation/audit_features.py",
        'for part in ("parameters", "settings",',
        'for part in ("settings",',
        FIGURES,
    ),
    fault(
        "audit: the account is not looked at",
        "evaluation/audit_features.py",
        "for line in statement.account:",
        "for line in statement.account[:0]:",
        FIGURES,
    ),
    fault(
        "audit: times are not looked at",
        "evaluation/audit_features.py",
        "if table.time is not None and len(table):",
        "if table.time is None:",
        f"{AUDITS}::test_every_column_of_a_table_is_looked_at",
    ),
    fault(
        "audit: events are counted on the runs that they were chosen on",
        "evaluation/audit_runs.py",
        'part = f"measuring {self.pair.name}, delta {self.delta:g}, side {i}"',
        'part = f"choosing {self.pair.name}, delta {self.delta:g}, from 0, side {i}"',
        f"{AUDITS}::test_no_run_is_used_twice",
    ),
    fault(
        "audit: each bound has all of the error",
        "evaluation/audit.py",
        "ERROR / len(measured)",
        "ERROR",
        f"{AUDITS}::test_the_error_is_divided_among_the_bounds",
    ),
    fault(
        "audit: a broken promise passes",
        "evaluation/audit_result.py",
        "return all(pair.passed for pair in self.pairs)",
        "return any(pair.passed for pair in self.pairs)",
        f"{AUDITS}::test_one_bound_above_its_claim_is_enough",
    ),
    fault(
        "gate: counts may have digits after the point",
        "releases/checks.py",
        'not table.extra["count"].dtype.is_integer()',
        'table.extra["count"].dtype is None',
        "releases/test_publish.py::TestDifferentialPrivacy::test_counts_with_digits_after_the_point",
    ),
]
