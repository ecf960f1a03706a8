"""Faults of what is told by categories: ODPsim, and the semantics that remain."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["CATEGORIES"]

SRP = "measures/srp.py"
SRP_TESTS = "measures/test_srp.py"

CATEGORIES: list[Fault] = [
    fault(
        "srp: a published query answers for several",
        SRP,
        "both = np.minimum(np.append(remaining[1], 0)[at], original[1])[there]",
        "both = original[1][there]",
        f"{SRP_TESTS}::test_a_published_query_answers_for_one_original_query_of_its_user",
    ),
    fault(
        "srp: levels that the directory does not have are a loss",
        SRP,
        "        if total == 0:\n            continue\n",
        "        total = max(total, 1)\n",
        f"{SRP_TESTS}::test_an_unchanged_log_keeps_everything_with_a_directory_of_one_level",
    ),
]
