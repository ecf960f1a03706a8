"""Seeded faults of streams on a cluster."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["SPARK_STREAMS"]

BRANCH = "spark/streams/branch.py"
BRANCH_TESTS = "spark/test_stream_branch.py"

SPARK_STREAMS = [
    fault(
        "spark streams: the gate does not look at what leaves",
        BRANCH,
        "check_departures(self.plan.settings.k, asker, out.user, out.candidates)",
        "check_departures(0, asker, asker - 1, out.candidates)",
        f"{BRANCH_TESTS}::test_the_gate_lets_nothing_out_that_breaks_the_rule",
    ),
    fault(
        "spark streams: an id of the log is published",
        BRANCH,
        "if len(set(ids)) != len(ids) or any(c >= 0 for c in self._known(ids)):",
        "if len(set(ids)) != len(ids):",
        f"{BRANCH_TESTS}::test_ids_are_of_the_run_or_of_the_day_and_none_of_the_log",
    ),
    fault(
        "spark streams: a state of other settings goes on",
        "spark/streams/branch_state.py",
        "if said.run != run_of(plan):",
        "if False:",
        f"{BRANCH_TESTS}::test_a_state_that_is_not_one_is_refused",
    ),
    fault(
        "spark streams: all categories draw the same words",
        BRANCH,
        "plan.words.of(top)",
        'plan.words.of("")',
        f"{BRANCH_TESTS}::test_another_category_draws_other_words",
    ),
]
