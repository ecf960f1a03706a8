"""Faults of the last step of microaggregation: which rows a group publishes, and which texts."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["LAST_STEP"]

MICRO = "methods/microaggregation"
STEP = f"{MICRO}/_last_step.py"
LABELS = "texts/_shared_labels.py"
TESTS = f"{MICRO}/test_last_step.py"
EQUAL = f"{TESTS}::test_entries_equal_the_reference"
ROWS = f"{TESTS}::test_rows_are_the_mean_of_the_group_and_no_event_is_taken_twice"
LABEL_TESTS = "texts/test_shared_labels.py"
NEAREST = f"{LABEL_TESTS}::test_it_is_the_nearest_that_enough_people_mean"
PARTS = f"{MICRO}/test_microaggregation.py::test_queries_without_a_concept_take_part"

LAST_STEP: list[Fault] = [
    fault(
        "last step: texts that may not be published",
        STEP,
        "index = np.flatnonzero(may)",
        "index = np.arange(len(may))",
        ROWS,
    ),
    fault(
        "last step: an event is taken twice",
        STEP,
        " + size) // (2 * size), available)",
        " + size) // (2 * size), 2 * available)",
        ROWS,
    ),
    fault("last step: rows are those of all members", STEP, "(2 * asked + size) // (2 * size)", "asked", ROWS),
    fault(
        "last step: always the first event",
        STEP,
        'shift = (random.child("first").uniform(len(size)) * available)',
        'shift = (0 * random.child("first").uniform(len(size)) * available)',
        f"{TESTS}::test_every_event_is_taken_with_the_same_chance",
    ),
    fault("last step: a phrase always fits", STEP, "2 * events[", "9 * events[", EQUAL),
    fault(
        "last step: rare queries are offered",
        STEP,
        "[asked.unit_event] == QUERY)",
        "[asked.unit_event] != LABEL)",
        EQUAL,
    ),
    fault(
        "last step: a phrase means something else alone",
        STEP,
        "(meant < 0) | (topic[meant] ==",
        "(meant >= -1) | (topic[meant] ==",
        f"{TESTS}::test_a_phrase_that_means_something_else_alone_is_not_about_the_concept",
    ),
    fault("last step: near up to the root", STEP, "[out] > LEAST_DEPTH", "[out] > 0", EQUAL),
    fault(
        "last step: what has no text about it is published",
        STEP,
        "may[asked.unit_event] = False",
        "may[:0] = False",
        EQUAL,
    ),
    fault("last step: the row of another event", STEP, "asked.row[source], words", "asked.row[taken], words", EQUAL),
    fault(
        "last step: a label that means something else",
        STEP,
        "clear_name(taxonomy, c) or ",
        "",
        f"{TESTS}::test_a_label_is_published_by_the_name_that_means_it_first",
    ),
    fault("labels of concepts: one person too few", LABELS, "reached >= least", "reached + 1 >= least", NEAREST),
    fault("labels of concepts: near the root", LABELS, "range(LEAST_DEPTH + 1,", "range(1,", NEAREST),
    fault(
        "labels of concepts: no clear name",
        LABELS,
        "np.where(best >= 0, best,",
        "np.where(best < -1, best,",
        f"{LABEL_TESTS}::test_a_concept_without_a_clear_name_takes_the_label_above_it",
    ),
    fault(
        "last step: queries without a concept play no part in groups",
        f"{MICRO}/semantic_microaggregation.py",
        "alone = np.flatnonzero(~mapped[events])",
        "alone = np.flatnonzero(~mapped[events])[:1]",
        PARTS,
    ),
    fault(
        "groups: fewer people are promised than asked for",
        f"{MICRO}/_group_settings.py",
        "        return self.k\n",
        "        return 1\n",
        f"{MICRO}/test_group_texts.py",
    ),
]
