"""Seeded faults of linking attacks: lines that would make an attacker look weaker, or stronger, than he is."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["LINKING"]

LINKING = [
    fault(
        "linking: ties are not shared",
        "attacks/similarity.py",
        "np.asarray(right / ties",
        "np.asarray(right * 1.0",
        "attacks/test_relink.py::test_groups_of_k_give_exactly_one_in_k_and_the_group_is_found",
    ),
    fault(
        "linking: people who are not published are targets",
        "attacks/targets.py",
        "enough & (owner >= 0)",
        "enough",
        "attacks/test_targets.py::test_targets_are_the_published_people_with_known_queries",
    ),
    fault(
        "linking: grams are left out",
        "attacks/vectors.py",
        'out.append(_space("grams", asked, shown, size, published))',
        "pass",
        "attacks/test_relink.py::test_typing_errors_do_not_hide_a_person",
    ),
    fault(
        "shape: the known rows are compared, not their simulation",
        "attacks/shape.py",
        "return trial.release.log, published_users(known, trial.release), True",
        "return known, np.arange(len(known.users), dtype=np.int32), True",
        "attacks/test_shape.py::test_the_method_is_run_on_what_is_known",
    ),
    fault(
        "learned linkage: those attacked are learned from",
        "attacks/learned_linkage.py",
        "attacked = _some(everybody, order[half:])",
        "attacked = _some(everybody, order[:half])",
        "attacks/test_learned_linkage.py::test_the_attacked_are_not_learned_from",
    ),
]
