"""Faults of shared texts: what may be published instead of a query, and the gate that counts it again."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["PHRASES"]

RULE = "texts/phrases.py"
RUNS = "texts/_longest_runs.py"
KERNELS = "texts/_phrases_kernels.py"
LABELS = "texts/_shared_labels.py"
GATE = "releases/text_checks.py"
ASKERS = "releases/askers.py"
TESTS = "texts/test_shared_phrases.py"
EDGE = f"{TESTS}::test_the_number_of_people_at_its_edge"
EQUAL = f"{TESTS}::test_equals_the_rule"
CHECKS = "releases/test_text_checks.py"
PARTS = f"{CHECKS}::test_a_phrase_of_enough_people_passes_and_one_of_a_person_too_few_does_not"
LABEL = f"{CHECKS}::test_a_label_in_brackets_counts_those_who_mean_it_or_something_below"
SWEEP = "methods/suppression/test_sweep.py"
CLICKS = "methods/suppression/test_click_graph_removal.py"

PHRASES: list[Fault] = [
    fault("texts: a query of one person too few", RULE, "[form] >= rule.people", "[form] >= rule.people - 1", EDGE),
    fault("texts: a phrase of one person too few", RUNS, "count >= least", "count >= least - 1", EQUAL),
    fault("texts: a label of one person too few", KERNELS, "reached[c] >= least:", "reached[c] >= least - 1:", EQUAL),
    fault(
        "texts: a spelling of one person",
        RULE,
        "of_query[which] >= rule.people",
        "of_query[which] >= 1",
        f"{TESTS}::test_a_spelling_of_too_few_people_is_not_published",
    ),
    fault(
        "texts: a person counts once per query of a phrase",
        KERNELS,
        "                if stamp[u] != g:\n",
        "                if stamp[u] != g or i > start[g]:\n",
        EQUAL,
    ),
    fault(
        "texts: machines count as people",
        RULE,
        "<= rule.most_rows)",
        "<= rule.most_rows + len(log))",
        f"{TESTS}::test_a_machine_counts_as_nobody_and_its_rows_are_treated_like_others",
    ),
    fault("texts: identifiers stay", RULE, "find_identifiers(texts) == 0", "find_identifiers(texts) >= 0", EQUAL),
    fault(
        "texts: names are famous one person too early", RULE, "famous=rule.famous\n", "famous=rule.famous - 1\n", EQUAL
    ),
    fault("texts: forbidden phrases stay", RUNS, "turn = turn[~good[run]]", "turn = turn[:0]", EQUAL),
    fault(
        "texts: labels learned from clicks",
        LABELS,
        "if concepts.learned:",
        "if concepts.learned is None:",
        f"{TESTS}::test_labels_learned_from_the_log_are_not_published",
    ),
    fault("texts: labels near the root", KERNELS, "depth[c] >= least_depth", "depth[c] >= least_depth - 1", EQUAL),
    fault(
        "words: a joined run is taken for one with spaces",
        RUNS,
        "2 * code + joined.to_numpy()",
        "2 * code + 0 * joined.to_numpy()",
        f"{TESTS}::test_a_run_of_letters_is_another_than_the_same_with_a_space",
    ),
    fault(
        "sweep: what may not be published is",
        "methods/suppression/sweep.py",
        "event & (shared.kind != NOTHING)[log.query]",
        "event",
        SWEEP,
    ),
    fault(
        "sweep: kinds go with other rows",
        "releases/kinds.py",
        "kind[table.entry]",
        "kind",
        f"{SWEEP}::test_the_column_of_kinds_goes_with_its_rows",
    ),
    fault(
        "click graph: what may not be published stays",
        "methods/suppression/click_graph_removal.py",
        "few_sites | nothing",
        "few_sites",
        f"{CLICKS}::test_rare_queries_are_left_out_from_their_number_of_users_on",
    ),
    fault("gate: parts pass where none are stated", GATE, "    if not parts:\n", "    if parts is None:\n", PARTS),
    fault(
        "gate: any spelling passes",
        GATE,
        "np.flatnonzero((plain == texts).to_numpy())",
        "np.arange(len(texts))",
        f"{CHECKS}::test_a_phrase_is_published_as_texts_are_compared",
    ),
    fault(
        "gate: labels pass where no parts are stated",
        GATE,
        "evidence) if statement.parts else None",
        "evidence)",
        LABEL,
    ),
    fault(
        "gate: labels learned from the log pass",
        GATE,
        " or concepts.learned:",
        ":",
        f"{CHECKS}::test_a_label_needs_a_mapping_that_was_not_learned_from_the_log",
    ),
    fault(
        "gate: machines count as people",
        GATE,
        "<= most)",
        "<= most + len(original))",
        f"{CHECKS}::test_ids_that_are_taken_for_machines_count_as_nobody",
    ),
    fault(
        "gate: names of few people pass",
        GATE,
        "< famous))",
        "< famous - 1))",
        f"{CHECKS}::test_an_identifier_and_a_name_of_few_people_do_not_pass",
    ),
    fault(
        "gate: concepts of another log pass",
        GATE,
        "(query[concepts.row] != concepts.query).any()",
        "len(query) < 0",
        f"{CHECKS}::test_concepts_of_another_log_are_refused",
    ),
    fault(
        "askers: who holds a text is not behind it",
        ASKERS,
        "open_texts if parts else ",
        "",
        "releases/test_askers.py::test_where_parts_are_published_all_who_hold_a_text_are_behind_it",
    ),
    fault(
        "statement: as in the paper exposes nothing",
        "texts/text_promises.py",
        "if settings.as_in_paper:",
        "if settings.as_in_paper is None:",
        "contract/test_shared_texts.py::test_as_in_the_paper_every_text_is_published_and_that_is_said",
    ),
]
