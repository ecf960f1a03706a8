"""Faults of the gate itself: the last check before a release can be written."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["GATE"]

CHECKS = "releases/checks.py"
TEXTS = "releases/text_checks.py"
BUDGET = "releases/budget.py"
TESTS = "releases/test_publish.py"
BREAKS = f"{TESTS}::test_what_breaks_its_promise_does_not_pass"
PRIVATE = f"{TESTS}::TestDifferentialPrivacy"
ODD = f"{TESTS}::TestOddStatementsAndTables"
ODD_DP = f"{TESTS}::TestOddDifferentialPrivacy"
STREAM = f"{TESTS}::test_a_stream_that_breaks_its_rule"
SEAL = f"{TESTS}::test_what_was_changed_after_the_gate_cannot_be_written"
SHARES = f"{TESTS}::test_a_share_is_used_once_and_the_account_is_exact"

GATE: list[Fault] = [
    fault("gate: classes of k - 1 pass", CHECKS, "(size < k)", "(size < k - 1)", BREAKS),
    fault("gate: texts of one person too few pass", TEXTS, ") < statement", ") + 1 < statement", BREAKS),
    fault(
        "gate: askings are counted, not people",
        TEXTS,
        'pl.col("user").n_unique()',
        'pl.col("user").len()',
        f"{TESTS}::test_people_per_text_equal_the_reference",
    ),
    fault("gate: texts that nobody asked pass", TEXTS, "== NO_CODE, 0, count", "== NO_CODE, 1 << 40, count", BREAKS),
    fault("gate: ids of the log pass", CHECKS, "if known:", "if known < 0:", BREAKS),
    fault(
        "gate: two ids of one person pass",
        CHECKS,
        "len(np.unique(truth.user)) != len(truth.user)",
        "len(np.unique(truth.user)) > len(truth.user)",
        f"{TESTS}::test_two_ids_of_one_person_do_not_pass",
    ),
    fault(
        "gate: identifiers pass", TEXTS, "flatnonzero(find_identifiers(", "flatnonzero(0 & find_identifiers(", BREAKS
    ),
    fault("gate: weaker texts are promised", CHECKS, "statement.text_users < asked", "asked < 0", BREAKS),
    fault("gate: a weaker k is promised", CHECKS, "promised < settings[name] if", "False if", BREAKS),
    fault("gate: epsilon is not compared", CHECKS, "epsilon > promised[0] or delta", "delta", PRIVATE),
    fault("gate: an empty account passes", CHECKS, "if not budget.account:", "if budget.account is None:", PRIVATE),
    fault("gate: exact counts pass", CHECKS, "statement.counts_in or ", "", PRIVATE),
    fault("gate: kept columns pass", CHECKS, "    if kept:", "    if kept is None:", PRIVATE),
    fault("gate: learned knowledge passes", CHECKS, "    if learned:", "    if learned is None:", PRIVATE),
    fault("gate: rows in another order pass", CHECKS, "class_sizes(table, ordered=True)", "class_sizes(table)", ODD),
    fault("gate: one id twice passes", CHECKS, "table.users.n_unique() != len", "table.users.n_unique() > len", ODD),
    fault("gate: NaN is promised", CHECKS, "not math.isfinite(value) or value < 0", "value < 0", ODD_DP),
    fault("gate: wrong counts are stated", CHECKS, "if stated != seen", "if stated < 0 != seen", ODD),
    fault("gate: a category of the log passes", CHECKS, 'else ("category",)', "else ()", ODD_DP),
    fault("budget: a negative delta refills it", BUDGET, "if not 0 <= delta <= 1:", "if delta > 1:", ODD_DP),
    fault("gate: a record leaves under its asker", CHECKS, "(asker == user)", "(asker == user - 1)", STREAM),
    fault("gate: k - 1 candidates are enough", CHECKS, "(candidates < k)", "(candidates < k - 1)", STREAM),
    fault(
        "gate: a release without a seal is written",
        "releases/files.py",
        "if not release.passed:",
        "if release is None:",
        SEAL,
    ),
    fault(
        "gate: a stronger statement keeps the seal",
        "releases/release.py",
        " and self.promises == now.promises",
        "",
        SEAL,
    ),
    fault("gate: another table keeps the seal", "releases/release.py", "self.table == now.table and ", "", SEAL),
    fault(
        "gate: another log is checked against",
        "evaluation/workbench.py",
        "release.seal.original is not self.log",
        "release.seal.original is None",
        f"{TESTS}::TestMethodsMadeWrong::test_a_release_checked_against_another_log",
    ),
    fault("budget: a share is used twice", BUDGET, "if self.used:", "if self.used is None:", SHARES),
    fault(
        "budget: the cheapest user counts",
        BUDGET,
        "max(costs,",
        "min(costs,",
        f"{TESTS}::test_draws_cost_what_the_most_expensive_user_costs",
    ),
]
