"""Faults of what papers count: categories in ODPsim and SRP, documents of a query in the click graph."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["CATEGORIES"]

SRP = "measures/srp.py"
SRP_TESTS = "measures/test_srp.py"
MICRO = "methods/microaggregation"
GROUP_TESTS = f"{MICRO}/test_category_groups.py"

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
    fault(
        "odp sim: all who have a category share it alike",
        f"{MICRO}/_category_kernels.py",
        "min(own, post_count[i])",
        "1",
        f"{GROUP_TESTS}::test_users_who_have_all_categories_are_told_apart_by_how_often",
    ),
    fault(
        "odp sim: a joined record does not add up",
        f"{MICRO}/_category_groups.py",
        "record[categories] += counts",
        "record[categories] = np.maximum(before, counts)",
        f"{GROUP_TESTS}::test_many_users_equal_algorithm_2",
    ),
    fault(
        "odp sim: a query counts for each of its words",
        f"{MICRO}/_category_groups.py",
        "np.unique(np.concatenate([empty, *found]))",
        "np.concatenate([empty, *found])",
        f"{GROUP_TESTS}::test_a_category_counts_once_for_a_query_with_several_words_in_it",
    ),
    fault(
        "odp sim: sets are the default",
        f"{MICRO}/_category_release.py",
        '"sets" if self.as_in_paper else "bags"',
        '"sets"',
        f"{GROUP_TESTS}::test_users_are_compared_by_bags_and_by_sets_as_in_the_paper",
    ),
    fault(
        "word microaggregation: one category of each word",
        f"{MICRO}/word_microaggregation.py",
        'of.all if settings.categories == "all" else of.one',
        "of.one",
        f"{MICRO}/test_word_microaggregation.py::test_a_word_counts_with_all_its_categories_as_in_the_paper",
    ),
    fault(
        "click graph: result lists are not looked at",
        "methods/suppression/_documents.py",
        "self.returned.or_else(self.clicked)",
        "self.clicked",
        "methods/suppression/test_click_graph_removal.py::test_documents_are_results_where_the_log_has_them",
    ),
]
