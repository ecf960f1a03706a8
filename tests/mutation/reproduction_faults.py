"""Faults of repeated papers: controls that know too much, readings that are mixed up."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["REPRODUCTIONS"]

EROLA_TESTS = "evaluation/test_reproduce_erola_castella.py"

REPRODUCTIONS: list[Fault] = [
    fault(
        "reproduce: the control of groups sees categories",
        "evaluation/reproduce/cell_result.py",
        "maker = _blind(bench) if cell.blind else bench",
        "maker = bench",
        f"{EROLA_TESTS}::test_a_blind_method_groups_in_the_order_of_the_log",
    ),
    fault(
        "erola-castella: our reading is tested on what is printed",
        "evaluation/reproduce/erola_castella_findings.py",
        "OURS: Final = Reading(STRICT, NEW_BAGS, OLD_BAGS, LENGTH)",
        "OURS: Final = PRINTED",
        f"{EROLA_TESTS}::test_our_reading_looks_at_its_own_series",
    ),
]
