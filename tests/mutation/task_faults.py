"""Seeded faults in the tasks: a release would seem better than it is, or surer."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["TASKS"]

SUGGESTIONS = "tasks/test_task_suggestions.py"

TASKS: list[Fault] = [
    fault(
        "suggestions: test people teach their own answers",
        "tasks/suggestions.py",
        "teaches = unknown | ~cases.tested[np.where(unknown, 0, release.asker)]",
        "teaches = np.ones(len(unknown), dtype=np.bool_)",
        f"{SUGGESTIONS}::test_rows_of_test_people_are_left_out",
    ),
    fault(
        "suggestions: a text of the test person alone is a hit",
        "tasks/suggestions.py",
        "popular | (follows & cases.learnable)",
        "popular | follows",
        f"{SUGGESTIONS}::test_a_pair_that_only_the_test_person_asked_is_no_hit_under_another_id",
    ),
    fault(
        "suggestions: a row of a stream is its id's",
        "tasks/reading.py",
        "asker = person if truth is None or truth.asker is None else truth.asker[rows]",
        "asker = person",
        f"{SUGGESTIONS}::test_a_row_of_a_stream_is_its_askers",
    ),
    fault(
        "profiles: people who are not published are forgotten",
        "tasks/profiles.py",
        "return np.where(has[0], similar, np.nan)",
        "return np.where(has[0] & has[1], similar, np.nan)",
        "tasks/test_task_shares.py::test_people_who_are_not_published_count_zero",
    ),
    fault(
        "blind log: frequent queries are drawn more often",
        "tasks/original.py",
        "donor = rows[by_query[start[drawn] + nth]]",
        "donor = rows[random.integers(len(rows), len(rows))]\n    drawn = np.searchsorted(asked, log.query[donor])",
        "tasks/test_task_original.py::test_every_query_is_drawn_alike_however_frequent",
    ),
    fault(
        "intervals: cases of one person count as people",
        "tasks/resampling.py",
        "low, high = min(low, least), max(high, most)",
        "low, high = least, most",
        "tasks/test_task_resampling.py::test_cases_of_one_person_do_not_count_as_many_people",
    ),
    fault(
        "popularity: equal texts by first appearance",
        "tasks/popularity.py",
        "np.lexsort((scrambled, -people))",
        'np.argsort(-people, kind="stable")',
        "tasks/test_task_shares.py::test_equal_texts_are_not_ordered_by_first_appearance",
    ),
    fault(
        "topics: what has none is of the first topic",
        "knowledge/concept_topics.py",
        "np.full(len(tree.taxonomy) + 1, len(top), dtype=np.int32)",
        "np.zeros(len(tree.taxonomy) + 1, dtype=np.int32)",
        "evaluation/test_topics_shown.py::test_what_is_in_no_topic_is_counted_and_said",
    ),
]
