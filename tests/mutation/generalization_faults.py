"""Seeded faults of generalized releases on disk: keys of concepts, classes, and the tree that costs are counted in."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["GENERALIZATION"]

TABLE = "releases/class_table.py"
TESTS = "releases/test_class_table.py"

GENERALIZATION: list[Fault] = [
    fault(
        "classes of a file: a class has one user less than it says",
        TABLE,
        "range(1, n + 1)",
        "range(1, n)",
        f"{TESTS}::test_classes_can_be_read_by_people_and_by_us",
    ),
    fault(
        "classes of a file: sizes are not held against the statement",
        TABLE,
        'int(sizes.sum()) > stated.get("users", 0) or int((size * count).sum()) > stated.get("rows", 0)',
        "False",
        f"{TESTS}::test_tables_of_classes_that_make_no_sense_are_refused",
    ),
    fault(
        "classes of a file: rows that it does not tell are written",
        TABLE,
        "if not _tells(out, log):",
        "if False:",
        f"{TESTS}::test_a_release_whose_classes_do_not_tell_it_is_not_written",
    ),
    fault(
        "items are read by their paths",
        "releases/release.py",
        "CONCEPT_ID in self.log.extra.columns",
        "CONCEPT_ID not in self.log.extra.columns",
        f"{TESTS}::test_a_file_read_back_names_the_same_concepts",
    ),
    fault(
        "pruning leaves out what is above a concept",
        "knowledge/pruning.py",
        "range(taxonomy.height, 0, -1)",
        "range(taxonomy.height, 2, -1)",
        "knowledge/test_pruning.py",
    ),
    fault(
        "advice: the most distorted release is taken",
        "evaluation/advice.py",
        "return min(rivals, key=",
        "return max(rivals, key=",
        "evaluation/test_advice.py::test_of_generalized_releases_the_least_distorted_is_taken",
    ),
    fault(
        "advice: distortions over two trees are compared",
        "evaluation/advice.py",
        'bool(settings.get("prune"))',
        "False",
        "evaluation/test_advice.py::test_distortion_is_compared_where_it_is_the_same_figure",
    ),
]
