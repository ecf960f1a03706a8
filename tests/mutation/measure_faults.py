"""Seeded faults in what repeats the papers: which mapping is used, information loss, and figures of a stream."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["MEASURES"]

MAPPING = "evaluation/test_mapping_choice.py"

MEASURES: list[Fault] = [
    fault(
        "mapping: worker processes use the default",
        "evaluation/plans.py",
        "resolver, mapping=mapping)",
        "resolver)",
        f"{MAPPING}::test_worker_processes_use_the_same_mapping",
    ),
    fault(
        "mapping: parts of the log are read by the default",
        "evaluation/workbench.py",
        "self.resolver, mapping=self.mapping)",
        "self.resolver)",
        f"{MAPPING}::test_the_mapping_changes_the_concepts_and_is_passed_to_parts",
    ),
    fault(
        "mapping: a run with another one is taken for done",
        "evaluation/compare.py",
        "len(bench.taxonomy), check_mapping(bench.mapping)]",
        "len(bench.taxonomy)]",
        f"{MAPPING}::test_another_mapping_is_another_run",
    ),
]
