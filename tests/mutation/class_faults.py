"""Seeded faults of the attack on classes of generalized logs: an attacker who is weaker than he could be."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["CLASSES"]

KERNELS = "attacks/_consistency_kernels.py"
FIND = "attacks/published_classes.py"
TESTS = "attacks/test_consistent_classes.py"
REFERENCE = f"{TESTS}::test_named_classes_equal_the_reference"

CLASSES: list[Fault] = [
    fault("classes: one concept explains many items", KERNELS, "top -= 1", "top -= 0", REFERENCE),
    fault("classes: the next subtree counts as covered", KERNELS, ">= reach:", "> reach:", REFERENCE),
    fault("classes: a less specific class is named", KERNELS, "score > best", "score < best", REFERENCE),
    fault("classes: ties are not shared", KERNELS, "candidates[t] += ids[c]", "candidates[t] += 0", REFERENCE),
    fault(
        "classes: bags are taken for sets",
        FIND,
        'get("transactions", "sets") == "sets"',
        'get("transactions", "sets") != ""',
        f"{TESTS}::test_bags_count_a_concept_as_often_as_asked",
    ),
    fault(
        "classes: clump is taken to suppress nothing",
        FIND,
        'method == "partition"',
        'method != ""',
        f"{TESTS}::test_clump_suppresses_so_what_is_not_covered_is_no_fault",
    ),
    fault(
        "classes: a path is taken for its first concept",
        "attacks/path_nodes.py",
        "first[here] = here[index[of]]",
        "first[here] = here",
        "attacks/test_path_nodes.py::test_nodes_are_the_distinct_paths",
        f"{TESTS}::test_the_right_class_has_no_fault",
    ),
    fault(
        "classes: items of several concepts are exact",
        FIND,
        " & ~nodes.several[node]",
        "",
        f"{TESTS}::test_partition_an_item_of_several_concepts_is_not_exact",
    ),
    fault(
        "classes: what is below an exact item is covered",
        FIND,
        "node + 1, end)",
        "end, end)",
        f"{TESTS}::test_partition_an_item_with_items_below_it_is_the_concept_itself",
    ),
]
