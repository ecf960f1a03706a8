"""Seeded faults of linking attacks: lines that would make an attacker look weaker, or stronger, than he is."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["LINKING"]

STREAM_TIMING = "attacks/test_stream_timing.py"

LINKING = [
    fault(
        "stream timing: the published id may be named",
        "attacks/_stream_timing_kernels.py",
        " or u == user[row[i]]",
        "",
        STREAM_TIMING,
    ),
    fault(
        "stream timing: one sitting counts as often as it asks",
        "attacks/_stream_timing_kernels.py",
        "at - before < apart",
        "at < before",
        f"{STREAM_TIMING}::test_against_the_reference",
    ),
    fault(
        "stream timing: the other times of a text are not seen",
        "attacks/_stream_timing_kernels.py",
        "(weight[u] if text_stamp[u] == text else 0.0)",
        "0.0",
        f"{STREAM_TIMING}::test_against_the_reference",
    ),
    fault(
        "linking: ties are not shared",
        "attacks/similarity.py",
        "owner.hits(is_best) / is_best.sum(axis=1)",
        "np.minimum(owner.hits(is_best), 1.0)",
        "attacks/test_relink.py::test_groups_of_k_give_exactly_one_in_k_and_the_group_is_found",
    ),
    fault(
        "record linkage: who was emptied is no user",
        "attacks/record_linkage.py",
        "np.append(found, np.zeros(removed))",
        "found",
        "attacks/test_record_linkage.py::test_who_is_left_without_queries_counts_among_all_users",
    ),
    fault(
        "linking: people who are not published are targets",
        "attacks/targets.py",
        "enough & owner.is_published",
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
        "return trial.release.log, longest_logs(known, trial.release), True",
        "return known, np.arange(len(known.users), dtype=np.int32), True",
        "attacks/test_shape.py::test_the_method_is_run_on_what_is_known",
    ),
    fault(
        "learned linkage: those attacked are learned from",
        "attacks/learned_linkage.py",
        "attacked = _some(everybody, order[half:]",
        "attacked = _some(everybody, order[:half]",
        "attacks/test_learned_linkage.py::test_the_attacked_are_not_learned_from",
    ),
    fault(
        "similarity: a block of logs is left out",
        "attacks/similarity.py",
        "add_cosines(out, rows, holders, first,",
        "add_cosines(out, rows, holders, 0,",
        "attacks/test_similarity.py::test_scores_equal_the_reference",
    ),
    fault(
        "targets: a sample does not say so",
        "attacks/targets.py",
        "if people < there else {}",
        "if people > there else {}",
        "attacks/test_targets.py::test_a_sample_says_of_how_many",
    ),
    fault(
        "uniqueness: the asker counts as another person",
        "attacks/_uniqueness_kernels.py",
        "            if v == u:",
        "            if v < 0:",
        "attacks/test_uniqueness.py::test_all_unique_and_none",
    ),
]
