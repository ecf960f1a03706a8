"""Seeded faults of times and clicks: lines that would publish more of them, or see less of what they expose."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["COLUMNS"]

KEPT = "releases/test_columns_kept.py"
LIKE_REFERENCE = f"{KEPT}::test_times_and_clicks_like_the_reference"
CHECKED = f"{KEPT}::test_the_gate_recomputes_times_and_clicks"
ASKED = f"{KEPT}::test_the_gate_publishes_what_was_asked_for"
TIMING = "attacks/test_timing.py"
GROUPS = "methods/microaggregation/test_group_columns.py"

COLUMNS = [
    fault(
        "columns: a click of one person too few",
        "releases/columns.py",
        'pl.col("people") >= people)',
        'pl.col("people") >= people - 1)',
        f"{KEPT}::test_a_click_needs_m_people_with_the_published_text",
    ),
    fault(
        "columns: rows are counted, not people",
        "releases/columns.py",
        'people=pl.col("user").n_unique()',
        'people=pl.col("user").len()',
        f"{KEPT}::test_a_click_needs_m_people_with_the_published_text",
    ),
    fault(
        "columns: ranks are kept with every click",
        "releases/columns.py",
        "ranked = click & (log.rank != NO_CODE) & _shared(log.user, counted, rule.people, *pair, log.rank)",
        "ranked = click & (log.rank != NO_CODE)",
        f"{KEPT}::test_a_click_needs_m_people_with_the_published_text",
    ),
    fault(
        "columns: machines count as people",
        "releases/columns.py",
        "counted = may if rule.most_rows is None else",
        "counted = may if rule.most_rows is not None else",
        f"{KEPT}::test_ids_taken_for_machines_count_as_nobody",
    ),
    fault(
        "columns: labels have clicks",
        "releases/columns.py",
        "(text >= 0) & ~np.append(is_label, True)[text]",
        "(text >= 0)",
        f"{KEPT}::test_labels_have_no_clicks",
    ),
    fault(
        "columns: URLs with identifiers are kept",
        "releases/columns.py",
        "safe[:-1] = ~urls_that_identify(log.urls)",
        "safe[:-1] = True",
        f"{KEPT}::test_urls_with_a_session_or_an_identifier_are_not_published",
    ),
    fault(
        "columns: a click of another text",
        "releases/columns.py",
        "self.text[log.query[source]] == text[entry]",
        "self.text[log.query[source]] >= 0",
        f"{KEPT}::test_an_entry_with_another_text_has_no_click",
    ),
    fault(
        "columns: times are not rounded",
        "releases/columns.py",
        "rounded(self.log.time[rows[known]], self.time_grain)",
        "self.log.time[rows[known]]",
        LIKE_REFERENCE,
    ),
    fault(
        "columns: the order within a grain is kept",
        "releases/table.py",
        "if kept is not None and kept.sorts:",
        "if False and kept is not None and kept.sorts:",
        f"{KEPT}::test_the_order_within_a_grain_is_gone",
    ),
    fault(
        "columns: members of a group in the order of their bag",
        "releases/columns.py",
        "return self.by_text or bool(self.time_grain)",
        "return bool(self.time_grain)",
        f"{GROUPS}::test_the_order_of_rows_tells_nothing",
    ),
    fault(
        "gate: finer times",
        "releases/column_checks.py",
        "table.time is None or not is_of_grain(table.time, statement.time_grain)",
        "table.time is None",
        CHECKED,
    ),
    fault(
        "gate: clicks of one person too few",
        "releases/column_checks.py",
        "(people < statement.click_users)",
        "(people < statement.click_users - 1)",
        CHECKED,
    ),
    fault(
        "gate: any row with the URL shares the click",
        "releases/column_checks.py",
        'asked.join(held, on="query")',
        'asked.join(held.drop("query"), how="cross")',
        f"{KEPT}::test_people_who_hold_a_text_with_a_url_are_counted",
    ),
    fault(
        "gate: columns that were not asked for",
        "releases/column_checks.py",
        "if not asked and any(",
        "if False and any(",
        ASKED,
    ),
    fault(
        "timing: what is known of the person is not used",
        "attacks/timing.py",
        "activity.blocks(release.statement.bound or OWN_SHARE)",
        "activity.blocks(0.0)",
        f"{TIMING}::test_people_with_days_of_their_own_are_all_found",
        f"{TIMING}::test_groups_of_k_give_at_most_one_in_k",
    ),
    fault(
        "timing: habits are not seen",
        "attacks/timing.py",
        "TRUST * self._habits(known)",
        "0.0 * self._habits(known)",
        f"{TIMING}::test_habits_tell_where_the_known_days_are_not_published",
    ),
    fault(
        "timing: an id of more rows is likelier",
        "attacks/timing.py",
        "rows - rows * np.log(np.maximum(rows, 1.0)) - sharp",
        "rows - sharp",
        f"{TIMING}::test_row_counts_of_a_day_tell_people_apart",
        f"{TIMING}::test_scores_like_the_reference",
    ),
    fault(
        "exposure: clicks are not counted",
        "evaluation/_exposed_columns.py",
        "(people == 1).sum() / len(release.log)",
        "(people == 0).sum() / len(release.log)",
        "evaluation/test_exposure.py::test_clicks_and_times_of_one_person_are_counted",
    ),
    fault(
        "shape: columns are not compared",
        "attacks/shape.py",
        "columns=bool(columns))",
        "columns=False)",
        "attacks/test_shape.py::test_rows_per_day_count_where_days_are_published",
    ),
]
